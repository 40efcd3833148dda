"""SPICE."""
