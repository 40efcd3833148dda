"""Files of references, read by sacrecap against Python's `json.load`, which makes a tree and no captions of them."""

from __future__ import annotations

import json
import sys

from measure import machine, race
from sacrecap.data.captions import CaptionFile
from sacrecap.data.source import Reading


def main() -> None:
    print(machine())
    for path in sys.argv[1:]:

        def theirs(path: str = path) -> object:
            with open(path) as file:
                return json.load(file)

        def ours(path: str = path) -> object:
            return CaptionFile(path, Reading()).captions("references")

        race({f"{path}, json.load": theirs, "sacrecap": ours}, rounds=12)


if __name__ == "__main__":
    main()
