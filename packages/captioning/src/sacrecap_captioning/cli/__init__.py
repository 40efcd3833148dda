"""`sacrecap caption`."""
