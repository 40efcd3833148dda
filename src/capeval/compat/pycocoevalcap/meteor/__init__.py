"""METEOR."""
