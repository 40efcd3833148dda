"""Checks of columns of Arrow."""
