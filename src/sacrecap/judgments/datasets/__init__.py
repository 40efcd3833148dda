"""Readers of human judgments, one release or format per file."""
