"""CHAIR: the objects that captions name, compared with the objects in the image."""
