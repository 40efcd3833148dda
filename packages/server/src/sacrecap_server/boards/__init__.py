"""Benchmarks, submissions, and the board that ranks them."""
