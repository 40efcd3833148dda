"""ROUGE-L."""
