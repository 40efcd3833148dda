"""From a corpus and metrics to results: scores, comparisons of systems, the diversity of caption sets."""
