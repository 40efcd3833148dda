"""Captioners trained with the metrics as rewards, and the caption sets they make.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5, and the papers it builds
on. One direction of knowledge; everything but this page needs the extra `train` (torch):

    sweep  sweep_jobs         the grid of captioners: train, generate, score; what the figures say (sweep_result)
    training  run_folder      one captioner: batches, steps, validation, checkpoints that resume to the same bits
    generation                caption sets of a data set, by a run folder's captioner or a checkpoint of transformers
    sets/                     ways to make them: RS, beam, diverse beam, RCI, GNC, SS, DRV
    losses  rewards/          cross-entropy, self-critical rewards, retrieval, and any weighted mixture of them
    models/                   image features -> words, one file an idea
    decoding                  words out of a captioner: greedy, sampled, beam
    encoders  features        pixels -> features by name, and the cache of frozen ones
    pretraining               an encoder from scratch, taught the words of the captions
    vocabulary                words <-> ids
    images  pixels            captioned images: folders people have, their files
    scenes                    a made-up data set drawn by code

Shapes stand beside tensors: B images or rows, T words, V words of the vocabulary, R regions of the grid, D size of a
feature, H hidden units, N = k·B samples whose k samples of an image stand in consecutive rows.
"""
