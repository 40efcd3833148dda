"""What metrics need beside captions: word vectors, objects, lists of words."""
