"""CIDEr-D."""
