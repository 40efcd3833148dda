"""CIDEr-D, which the suite calls CIDEr."""
