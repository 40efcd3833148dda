"""Files that are fetched once, and where they are kept for a user between two calls."""

from __future__ import annotations

import os
from dataclasses import dataclass

FOLDER = "SACRECAP_TEST_SETS"
"""The environment variable that names the folder of test sets, instead of one in the user's cache folder."""


def in_cache(*names: str) -> str:
    """The path of a file or folder in the user's cache folder."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("sacrecap"), *names)


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its URL, its size in bytes and its SHA-256, if they are published."""

    url: str
    size: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Its name, the same here as at the publisher."""
        return os.path.basename(self.url)
