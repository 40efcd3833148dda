"""Computes results from a corpus and metrics: scores, comparisons of systems, the diversity of caption sets."""
