"""Captioners trained with the metrics as rewards, and the caption sets they make.

The replication of Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5, and of
the captioners that it compares. Models and loop are frozen: faults are fixed, nothing is added. What stands
higher may import what stands lower, never the other way round. Everything but this page needs the extra `train`
(torch):

    cli/              `sacrecap caption`
    sweep/            curves, mixtures as axes; plan, the captioners to train; jobs, which train, generate and score;
                      result, what the figures say; report, tables and pictures
    decoding/         methods, the ways to make caption sets; speaker, transformers_speaker, what they ask for words;
                      generation, captions of a whole data set
    training/         training, one captioner; data, its batches; losses and rewards; pretraining, an encoder from
                      scratch; retrieval, a model that finds a caption's image; run_folder, what is left
    data/             images, folders people have; features, by an encoder or from a feature_file; scenes, made up
    models/           image features -> words; search, greedy, sampled, beam
    settings          the settings of a run, options of commands
    mixture           what training minimises, as text
    checkpoints       tensors on disk
    folders           where commands write
    vocabulary        words <-> ids      names   what is told of encoders without torch

Comments give the shapes of tensors: B images or rows, T words, V words of the vocabulary, R regions of the grid, D size
of a feature, H hidden units, N = k·B samples; the k samples of an image are in consecutive rows.
"""
