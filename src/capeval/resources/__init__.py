"""Needs of metrics beside captions: word vectors, objects, lists of words."""
