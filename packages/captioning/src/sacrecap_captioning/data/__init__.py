"""Input and output of captioners: images, generated scenes, features, vocabularies."""
