"""What a call puts aside while it runs: ids that were seen, joined rows, results of parts."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sacrecap.errors import DataError, EngineError, option

if TYPE_CHECKING:
    from sacrecap.data.partitioned import Duplicates, Part, SeenIds

OWN = "sacrecap-work"
"""All that a call writes is in a folder of this name in the given one, so that nothing of anybody else's is touched."""
_MARK = "mark"
IDS, JOINED = "ids", "joined"
FOLDERS = (IDS, JOINED)


@dataclass(frozen=True)
class Aside:
    """A folder, or its URL, that the driver and all workers reach.

    A worker that has another folder of that name would put its share where nobody looks for it: so the driver leaves a
    mark, and workers look for it.
    """

    url: str
    mark: str

    @classmethod
    def begin(cls, url: str, *, fresh: bool = True) -> Aside:
        """Makes the folder ready; a fresh one has nothing of an earlier call."""
        from sacrecap.data.partitioned.files import file_system, join_url

        if fresh:
            cls(url, "").remove()
        mark = secrets.token_hex(16)
        place = join_url(own_folder(url), _MARK)
        with file_system(place).writing(place) as file:
            file.write(mark.encode())
        return cls(url, mark)

    def folder(self, name: str) -> str:
        """A folder in it. Raises `EngineError` on a machine that does not reach it."""
        from sacrecap.data.partitioned.files import join_url

        if _found(self.url) != self.mark:
            _found.cache_clear()  # an earlier call had this folder
        if _found(self.url) != self.mark:
            raise EngineError(
                f"{self.url}: the machine {platform.node()} of the cluster does not reach this folder; name one that "
                f"all reach, or its URL, by {option('work', 'DIR')}"
            )
        return join_url(own_folder(self.url), name)

    def remove(self) -> None:
        """Removes what was put there; folders that are empty then go too."""
        from sacrecap.data.partitioned.files import file_system, join_url

        own = own_folder(self.url)
        folders = [join_url(own, name) for name in FOLDERS]
        files = file_system(own)
        for folder in folders:
            for name in files.names(folder):
                files.remove(join_url(folder, name))
        files.remove(join_url(own, _MARK))
        for folder in (*folders, own, self.url):
            with contextlib.suppress(OSError):
                os.rmdir(folder.removeprefix("file://"))


def own_folder(url: str) -> str:
    """The folder of ours in the given one."""
    from sacrecap.data.partitioned.files import join_url

    return join_url(url, OWN)


@lru_cache(maxsize=8)
def _found(url: str) -> str:
    """The mark in the folder; nothing where there is none."""
    from sacrecap.data.partitioned.files import file_system, join_url

    try:
        with file_system(url).open(join_url(own_folder(url), _MARK)) as file:
            return bytes(file.read()).decode()
    except DataError:
        return ""


class Ids:
    """The ids of images that were seen, in buckets, to find those that come several times."""

    def __init__(self, aside: Aside, buckets: int) -> None:
        self.aside, self.buckets = aside, buckets

    def of(self, part: int) -> SeenIds:
        """Those of a part."""
        from sacrecap.data.partitioned import SeenIds

        return SeenIds(self.aside.folder(IDS), part, self.buckets)

    def duplicates(self, bucket: Part) -> Duplicates:
        """Those of a bucket, which goes by its number, that came several times."""
        from sacrecap.data.partitioned import find_duplicates

        return find_duplicates(self.aside.folder(IDS), bucket.number)
