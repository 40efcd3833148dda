"""Makes the files of `packages/meteor` from METEOR 1.5: `make_meteor_data.py [FOLDER]`.

FOLDER is that of a METEOR 1.5 release, or the one of that program in an installed pycocoevalcap, the default: it has
`meteor-1.5.jar` and `data/paraphrase-en.gz`.

The paraphrase table is most of it: 272 MB of text, 62 MB as it is published. Its weights are dropped, since METEOR does
not read them. Each phrase is written once, before its paraphrases, and each word as a number of two bytes, the most
frequent words first: LZMA finds more in such numbers than in letters. All that is written is read back and compared.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import sys
import zipfile
from array import array
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "packages/meteor/src"
PARAPHRASES = "data/paraphrase-en"
SEPARATORS = ("\n", "\n\n")
"""The numbers 0, between lines, and 1, before a phrase that has paraphrases."""


def main(folder: Path) -> None:
    """Writes the package's files."""
    data = ROOT / "capeval_meteor/data"
    data.mkdir(parents=True, exist_ok=True)
    texts = dict(_texts(folder / "meteor-1.5.jar"))
    pairs = list(_pairs(folder / f"{PARAPHRASES}.gz"))
    if pairs != sorted(set(pairs)):
        sys.exit("the paraphrases are not sorted, or some are there twice: this is not the table of METEOR 1.5")
    words, numbers = _numbered(pairs)
    _write(data / "texts.xz", json.dumps(texts, ensure_ascii=False).encode())
    _write(data / "words.xz", "\n".join(words).encode())
    _write(data / "paraphrases.xz", numbers.tobytes(), lc=0, lp=1, pb=1)
    plain = "".join(f"0\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in pairs).encode()
    contents = {**{name: text.encode() for name, text in texts.items()}, PARAPHRASES: plain}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}
    (data / "checksums.json").write_text(json.dumps(sums, indent=1) + "\n")

    sys.path.insert(0, str(ROOT))
    import capeval_meteor

    for name, content in contents.items():
        if capeval_meteor.read(name) != content:
            sys.exit(f"{name} does not read back as it was")
    for file in sorted(data.iterdir()):
        print(f"{file.stat().st_size:>12,} {file.name}")


def _texts(jar: Path) -> Iterator[tuple[str, str]]:
    """Function words, abbreviations, synonyms; not the function words of other languages, which METEOR never reads."""
    wanted = ("function/english.words", "nonbreaking/", "synonym/english.synsets", "synonym/english.exceptions")
    with zipfile.ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith(wanted) and not name.endswith("/"):
                yield name, archive.read(name).decode()


def _pairs(table: Path) -> Iterator[tuple[str, str]]:
    """Phrase and paraphrase."""
    with gzip.open(table, "rt", encoding="utf-8", newline="\n") as file:
        for _ in file:
            yield next(file).removesuffix("\n"), next(file).removesuffix("\n")


def _numbered(pairs: list[tuple[str, str]]) -> tuple[list[str], array[int]]:
    """The words, and the table as their numbers, of two bytes, little-endian."""
    lines = [
        (phrase, [paraphrase for _, paraphrase in same]) for phrase, same in groupby(pairs, key=lambda pair: pair[0])
    ]
    counts: Counter[str] = Counter()
    for phrase, paraphrases in lines:
        counts.update(phrase.split(" "))
        for paraphrase in paraphrases:
            counts.update(paraphrase.split(" "))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    number_of = {word: number for number, word in enumerate(words, len(SEPARATORS))}
    numbers = array("H")
    for phrase, paraphrases in lines:
        numbers.append(1)
        numbers.extend(map(number_of.__getitem__, phrase.split(" ")))
        for paraphrase in paraphrases:
            numbers.append(0)
            numbers.extend(map(number_of.__getitem__, paraphrase.split(" ")))
    if sys.byteorder == "big":
        numbers.byteswap()
    return words, numbers


def _write(path: Path, content: bytes, **positions: int) -> None:
    strongest = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, **positions}
    path.write_bytes(lzma.compress(content, check=lzma.CHECK_CRC64, filters=[strongest]))


def _installed() -> Path:
    package = find_spec("pycocoevalcap")
    if package is None or not package.submodule_search_locations:
        sys.exit("name the folder of a METEOR 1.5 release, or install pycocoevalcap 1.2, which has its files")
    return Path(next(iter(package.submodule_search_locations)), "meteor")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _installed())
