"""Where files are kept for a user between two calls."""

from __future__ import annotations

import os


def in_cache(*names: str) -> str:
    """The path of a file or folder in the user's cache folder."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("sacrecap"), *names)
