"""The network's input for a word: its number in the vocabulary, and the hashes of its parts.

The Rust parser computes the same; rust/core/src/parse/model.rs mirrors this file.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

BUCKETS = 4096


def shape(word: str) -> str:
    """Kinds of characters in their order, without repetition: `a-0` for `abc-12`."""
    out = ""
    for character in word:
        kind = character
        if "a" <= character <= "z":
            kind = "a"
        elif "0" <= character <= "9":
            kind = "0"
        elif character > "\x7f":
            kind = "x"
        if not out.endswith(kind):
            out += kind
    return out


def parts(word: str) -> list[bytes]:
    """The parts of a word that are hashed: endings, beginnings, what follows the last hyphen, the shape."""
    text = word.encode()
    return [
        b"1" + text[-1:],
        b"2" + text[-2:],
        b"3" + text[-3:],
        b"4" + text[-4:],
        b"b" + text[:2],
        b"c" + text[:4],
        b"h" + text[text.rfind(b"-") + 1 :],
        b"s" + shape(word).encode(),
    ]


def buckets(word: str) -> list[int]:
    """Numbers of the rows of the table of parts."""
    return [zlib.crc32(part) % BUCKETS for part in parts(word)]


def vocabulary(words: Sequence[Sequence[str]], least: int) -> list[str]:
    """Words that occur at least that often, commonest first, then by the alphabet."""
    count: dict[str, int] = {}
    for sentence in words:
        for word in sentence:
            count[word] = count.get(word, 0) + 1
    return sorted((word for word, number in count.items() if number >= least), key=lambda word: (-count[word], word))
