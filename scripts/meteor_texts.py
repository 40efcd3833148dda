"""Lays out METEOR's texts, from an installed pycocoevalcap, as the Rust tests read them: `meteor_texts.py FOLDER`."""

from __future__ import annotations

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

LISTS = ("function/", "nonbreaking/", "synonym/")
PARAPHRASES = "paraphrase-en.gz"


def main(folder: Path) -> None:
    """Writes the program's lists into the folder, and a link to its paraphrases."""
    package = find_spec("pycocoevalcap")
    if package is None or not package.submodule_search_locations:
        sys.exit("METEOR's texts are in pycocoevalcap: pip install 'capeval[meteor]'")
    meteor = Path(next(iter(package.submodule_search_locations)), "meteor")
    with zipfile.ZipFile(meteor / "meteor-1.5.jar") as jar:
        jar.extractall(folder, [name for name in jar.namelist() if name.startswith(LISTS)])
    paraphrases = folder / PARAPHRASES
    paraphrases.unlink(missing_ok=True)
    paraphrases.symlink_to(meteor / "data" / PARAPHRASES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
