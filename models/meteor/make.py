"""Makes the file of `packages/meteor`, and the table of synonyms, from METEOR 1.5: `make.py [FOLDER]`.

FOLDER is that of a METEOR 1.5 release, or the one of that program in an installed pycocoevalcap, the default: it has
`meteor-1.5.jar` and `data/paraphrase-en.gz`. The same texts give the same tables, byte for byte; only another zlib may
compress them in another way.

`make.py --small FOLDER` makes the small tables of the tests, in `tests/goldens`, from the texts of FOLDER.

The table of synonyms, inside sacrecap itself, is made from two texts of that release that are WordNet 3.0 under
WordNet's licence, as the file COPYING.WORDNET beside them says; nothing else of METEOR (LGPL) goes into it.
"""

from __future__ import annotations

import gzip
import sys
import zipfile
import zlib
from importlib.metadata import distribution
from pathlib import Path

from tables import meteor_tables, synonym_table

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "packages/meteor/src/sacrecap_meteor/data/english.tables.gz"
SYNONYMS = ROOT / "src/sacrecap/resources/english/synonyms.table"
TEXTS = (
    "function/english.words",
    "nonbreaking/english.prefixes",
    "synonym/english.synsets",
    "synonym/english.exceptions",
)


def main(folder: str | None = None) -> None:
    """Writes the files of both packages."""
    release = Path(folder or str(distribution("pycocoevalcap").locate_file("pycocoevalcap/meteor")))
    with zipfile.ZipFile(release / "meteor-1.5.jar") as jar:
        texts = [jar.read(name).decode("utf-8") for name in TEXTS]
    built = meteor_tables(*texts, gzip.decompress((release / "data/paraphrase-en.gz").read_bytes()))
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)  # without a time or a name
    write(TABLES, packer.compress(built) + packer.flush())
    write(SYNONYMS, synonym_table(*texts[2:]))


def small(folder: str) -> None:
    """Writes the small tables of the tests."""
    texts = [(Path(folder) / Path(name).name).read_text(encoding="utf-8") for name in TEXTS]
    paraphrases = (Path(folder) / "english.paraphrases").read_bytes()
    write(ROOT / "tests/goldens/meteor-small.tables", meteor_tables(*texts, paraphrases))
    write(ROOT / "tests/goldens/synonyms-small.table", synonym_table(*texts[2:]))


def write(path: Path, content: bytes) -> None:
    """Writes a file, and says whether it changed."""
    before = path.read_bytes() if path.exists() else None
    path.write_bytes(content)
    print(f"{path.relative_to(ROOT)}: {len(content):,} bytes, {'as before' if before == content else 'changed'}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--small"]:
        small(sys.argv[2])
    else:
        main(*sys.argv[1:2])
