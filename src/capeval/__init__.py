"""How good image descriptions are."""
