"""Captioners trained with the metrics as rewards, and the caption sets they make.

The replication of Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5, and of
the captioners that it compares. Models and loop are frozen: faults are fixed, nothing is added. What stands
higher may import what stands lower, never the other way round. Everything but this page needs the extra `train`
(torch):

    cli                   `sacrecap caption`
    sweep                 jobs, which train, generate and score; what the figures say; tables and pictures
    sweep_plan            curves, mixtures as axes; the captioners to train
    generation            caption sets by a captioner, a checkpoint, an endpoint, or without any
    set_methods           the ways to make caption sets, and what they ask for words
    training              one captioner
    retrieval_model       finds a caption's image
    training_run          batches; an encoder from scratch; the folder that is left
    objective             losses and rewards
    encoders              pixels to features, and features on disk
    models, captioner     image features -> words: greedy, sampled, beam
    captioned_images      images, folders people have; features that were computed elsewhere
    scenes                images, made up
    settings              of a run, as options of commands; mixtures; names

Comments give the shapes of tensors: B images or rows, T words, V words of the vocabulary, R regions of the grid, D size
of a feature, H hidden units, N = k·B samples; the k samples of an image are in consecutive rows.
"""
