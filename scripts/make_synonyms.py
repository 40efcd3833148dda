"""Makes the synonym table inside the package from WordNet's texts: `make_synonyms.py [FOLDER]`.

FOLDER has `english.synsets` and `english.exceptions` of a METEOR 1.5 release (its `synonym/`); by default the jar of
an installed pycocoevalcap is read. The two files are WordNet 3.0 under WordNet's licence, as the file COPYING.WORDNET
beside them says; nothing else of METEOR (LGPL) goes into the table.
"""

from __future__ import annotations

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

from sacrecap import _core

FILES = ("english.synsets", "english.exceptions")
TABLE = Path(__file__).parent.parent / "src/sacrecap/resources/english/synonyms.table"


def main(folder: str | None = None) -> None:
    """Writes the table."""
    texts = [Path(folder, name).read_text("utf-8") for name in FILES] if folder else _installed()
    table = _core.Synonyms.build(*texts)
    TABLE.write_bytes(table.to_bytes())
    print(f"{TABLE}: {TABLE.stat().st_size:,} bytes, checksum {table.checksum:08x}")


def _installed() -> list[str]:
    package = find_spec("pycocoevalcap")
    if package is None or not package.submodule_search_locations:
        sys.exit("WordNet's texts are in pycocoevalcap: pip install 'sacrecap[meteor]', or name a folder that has them")
    with zipfile.ZipFile(Path(next(iter(package.submodule_search_locations)), "meteor", "meteor-1.5.jar")) as jar:
        return [jar.read(f"synonym/{name}").decode() for name in FILES]


if __name__ == "__main__":
    main(*sys.argv[1:2])
