"""Needs of metrics in addition to captions: word vectors, objects, lists of words."""
