"""Networks that metrics use to compare captions: checkpoints of transformers, and their vectors of texts and images.

Nothing here loads torch before a model is needed.
"""
