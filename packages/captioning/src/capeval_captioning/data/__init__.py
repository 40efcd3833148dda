"""What captioners see and say: images, made-up scenes, features, vocabularies."""
