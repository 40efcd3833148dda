"""From a captioner to captions: search, sampling, and methods that make caption sets."""
