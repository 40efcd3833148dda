"""The tables of METEOR 1.5: function words, abbreviations, synonyms and English paraphrases. Data, with one function.

They are those of the program by Michael Denkowski and Alon Lavie, under the GNU LGPL 2.1; the synonyms are of WordNet,
under its own licence. Both licences are in the package's folder. `capeval` reads the installed tables.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
from array import array
from functools import cache
from importlib.resources import files

__version__ = "1.5.0"
"""METEOR's version, and the number of the edition of these files."""

__all__ = ["__version__", "names", "read"]

_PARAPHRASES = "data/paraphrase-en"
_PIECE = 1 << 20
"""How many numbers are turned into words at a time."""


def names() -> list[str]:
    """The names of the tables, which are those of METEOR's own files: `synonym/english.synsets`."""
    return list(_checksums())


def read(name: str) -> bytes:
    """The table of that name, as in METEOR, except that the weights of paraphrases, which METEOR does not use, are 0.

    The paraphrases, 198 MB, take some seconds. Raises `KeyError` for an unknown name and `ValueError` where a file
    is damaged.
    """
    wanted = _checksums()[name]
    try:
        content = _paraphrases() if name == _PARAPHRASES else _texts()[name].encode()
    except (lzma.LZMAError, UnicodeDecodeError, IndexError, EOFError) as error:
        raise ValueError(f"capeval-meteor is damaged ({name}: {error}); install it again") from error
    if hashlib.sha256(content).hexdigest() != wanted:
        raise ValueError(f"capeval-meteor is damaged ({name} has another checksum); install it again")
    return content


@cache
def _checksums() -> dict[str, str]:
    sums: dict[str, str] = json.loads((files(__package__) / "data/checksums.json").read_text("utf-8"))
    return sums


def _unpacked(file: str) -> bytes:
    return lzma.decompress((files(__package__) / "data" / file).read_bytes())


def _texts() -> dict[str, str]:
    texts: dict[str, str] = json.loads(_unpacked("texts.xz"))
    return texts


def _paraphrases() -> bytes:
    """Triples of lines: a weight, a phrase, its paraphrase. Packed, they are numbers of words; 0 stands between lines,
    and 1 before a phrase, whose paraphrases follow it.
    """
    words = ["\n", "\n\n", *_unpacked("words.xz").decode().split("\n")]
    numbers = array("H", _unpacked("paraphrases.xz"))
    if sys.byteorder == "big":
        numbers.byteswap()
    triples, text = [], " "
    for start in range(0, len(numbers), _PIECE):
        text += " ".join(map(words.__getitem__, numbers[start : start + _PIECE])) + " "
        groups, _, text = text.rpartition(" \n\n ")
        triples.append(_triples(groups))
    return b"".join([*triples, _triples(text[:-1])])


def _triples(groups: str) -> bytes:
    lines = []
    for group in filter(None, groups.split(" \n\n ")):
        phrase, *paraphrases = group.split(" \n ")
        lines += [f"0\n{phrase}\n{paraphrase}\n" for paraphrase in paraphrases]
    return "".join(lines).encode()
