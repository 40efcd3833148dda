"""Captioners trained with the metrics as rewards, and the caption sets they make.

The replication of Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5, and of
the captioners that it compares. Models and loop are frozen: faults are fixed, nothing is added. What stands
higher may import what stands lower, never the other way round. Everything but this page needs the extra `train`
(torch):

    cli/                  `sacrecap caption`
    sweep/                curves, mixtures as axes; plan, the captioners to train; check, which of them can be trained;
                          jobs, train, generate, score; result, what the figures say
    decoding/             generation, captions of a whole data set
    decoding/sets/        ways to make caption sets: RS, beam, diverse beam, RCI, GNC, SS, DRV
    training/             one captioner: settings, loop, validation; losses, cross-entropy, self-critical rewards and
                          any weighted mixture of them; pretraining, an encoder from scratch, taught the words of the
                          captions; train_retrieval, a model that finds a caption's image
    rewards/              what a caption is rewarded with: a metric, or a model that finds its image
    data/                 images and pixels, folders people have; features, those of frozen encoders on disk;
                          feature_file, those computed elsewhere; scenes/, a made-up data set drawn by code
    encoders/             pixels -> features by name; checkpoint, those of transformers
    models/               image features -> words, one file per idea; search, greedy, sampled, beam
    mixture               what training minimises, as text
    checkpoints           tensors on disk, which resume to the same bits
    hub                   parts of checkpoints of transformers, from a folder or the hub
    vocabulary            words <-> ids      names   what is told of encoders without torch

Comments give the shapes of tensors: B images or rows, T words, V words of the vocabulary, R regions of the grid, D size
of a feature, H hidden units, N = k·B samples; the k samples of an image are in consecutive rows.
"""
