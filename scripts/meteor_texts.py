"""Lays out METEOR's texts, from the package capeval-meteor, as the Rust tests read them: `meteor_texts.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import capeval_meteor


def main(folder: Path) -> None:
    """Writes each table into a file of its name."""
    for name in capeval_meteor.names():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(capeval_meteor.read(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
