"""Makes captions with a captioner: search, sampling, and methods for caption sets."""
