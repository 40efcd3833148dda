"""Makes the files of `packages/meteor`, and the table of synonyms, from METEOR 1.5: `make.py [FOLDER]`.

FOLDER is that of a METEOR 1.5 release, or the one of that program in an installed pycocoevalcap, the default: it has
`meteor-1.5.jar` and `data/paraphrase-en.gz`.

The English tables are written as sacrecap maps them, compressed; the lists of the other languages as METEOR has them.
What was written is read back and compared. The same tables give the same file, byte for byte; only another zlib may
compress them in another way.

The table of synonyms, inside sacrecap itself, is made from two texts of that release that are WordNet 3.0 under
WordNet's licence, as the file COPYING.WORDNET beside them says; nothing else of METEOR (LGPL) goes into it.
"""

from __future__ import annotations

import shutil
import sys
import zlib
from pathlib import Path

from sacrecap import _core
from sacrecap.metrics.meteor import language_tables, sources

DATA = Path(__file__).resolve().parents[2] / "packages/meteor/src/sacrecap_meteor/data"
SYNONYMS = Path(__file__).resolve().parents[2] / "src/sacrecap/resources/english/synonyms.table"


def main(folder: str | None = None) -> None:
    """Writes the files of both packages."""
    release = sources.find(folder or sources.in_pycocoevalcap())
    built = language_tables.build(release, "en", lambda _: None).to_bytes()
    # All languages have the function words of English.
    lists = {prefixes for code, prefixes, *_ in _core.METEOR_LANGUAGES if prefixes and code != "en"}
    names = [language_tables.FUNCTION_WORDS, *(f"nonbreaking/{prefixes}.prefixes" for prefixes in sorted(lists))]
    contents = {sources.ENGLISH: _packed(built), **{name: release.text(name).encode() for name in names}}

    before = {path: path.read_bytes() for path in DATA.rglob("*") if path.is_file()}
    shutil.rmtree(DATA)
    for name, content in contents.items():
        path = DATA / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{len(content):>12,} {name}: {'as before' if before.get(path) == content else 'changed'}")
    package = sources.Package(str(DATA.parent))
    if package.english() != built or any(package.text(name) != release.text(name) for name in names):
        sys.exit("the files do not read back as they were")
    synonyms = _core.Synonyms.build(*map(release.text, language_tables.SYNONYMS))
    SYNONYMS.write_bytes(synonyms.to_bytes())
    print(f"{SYNONYMS}: {SYNONYMS.stat().st_size:,} bytes, checksum {synonyms.checksum:08x}")


def _packed(content: bytes) -> bytes:
    """A gzip file without a time or a name."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(content) + packer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:2])
