"""Captioners trained with the metrics as rewards, and the caption sets they make.

The replication of Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5, and of
the captioners that it compares. Models and loop are frozen: faults are fixed, nothing is added. One direction of
knowledge; everything but this page needs the extra `train` (torch):

    sweep/                curves, mixtures as axes; grid, the captioners to train; check, which of them can be trained;
    jobs,
                          train, generate, score; result, what the figures say
    training/             one captioner: settings, loop, validation, checkpoints that resume to the same bits;
                          losses, cross-entropy, self-critical rewards and any weighted mixture of them;
                          pretraining, an encoder from scratch, taught the words of the captions
    rewards/  retrieval/  what a caption is rewarded with: a metric, or a model that finds its image
    decoding/             search, words from a captioner: greedy, sampled, beam; generation, of a whole data set
    decoding/sets/        ways to make caption sets: RS, beam, diverse beam, RCI, GNC, SS, DRV
    models/               image features -> words, one file per idea
    encoders              pixels -> features by name; vision_checkpoint, those of transformers; names, what is told of
                          them without torch
    hub                   parts of checkpoints of transformers, from a folder or the hub
    data/                 images and pixels, folders people have; features, those of frozen encoders on disk;
                          feature_file, those computed elsewhere; vocabulary, words <-> ids; scenes/, a made-up data
                          set drawn by code
    cli/                  `sacrecap caption`

Comments give the shapes of tensors: B images or rows, T words, V words of the vocabulary, R regions of the grid, D size
of a feature, H hidden units, N = k·B samples; the k samples of an image are in consecutive rows.
"""
