"""METEOR: the metric, its tables, and the alignments that explain its scores."""
