"""Networks that metrics compare captions with: checkpoints of transformers, and what they make of texts and images.

Nothing here loads torch before a model is asked for.
"""
