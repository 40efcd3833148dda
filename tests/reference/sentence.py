"""Sentence by its definition: BERT's word pieces, sums of vectors, cosines; slow."""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


class Table:
    """The file of the vectors, without the rules for characters that it also has."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        lengths = struct.unpack("<7Q", content[16:72])
        ends = np.cumsum([72, *lengths])
        text, bounds, vectors, scales = (content[ends[i] : ends[i + 1]] for i in range(4))
        at = np.frombuffer(bounds, "<u4")
        pieces = [text[at[i] : at[i + 1]].decode() for i in range(len(at) - 1)]
        integers = np.frombuffer(vectors, np.int8).reshape(len(pieces), -1)
        rows = integers * np.frombuffer(scales, "<f4")[:, None].astype(np.float64)
        self.vectors: dict[str, Vector] = dict(zip(pieces, rows, strict=True))

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text; none of a word that has an unknown one."""
        return [piece for word in words(text) for piece in self._cut(word)]

    def _cut(self, word: str) -> list[str]:
        pieces: list[str] = []
        rest = word if len(word) <= 100 else ""
        while rest:
            tries = [("##" if pieces else "") + rest[:end] for end in range(len(rest), 0, -1)]
            piece = next((one for one in tries if one in self.vectors), None)
            if piece is None:
                return []
            rest = rest[len(piece.removeprefix("##")) if pieces else len(piece) :]
            pieces.append(piece)
        return pieces

    def vector(self, text: str) -> Vector:
        """The unit vector of a caption, or zeros."""
        rows = [self.vectors[piece] for piece in self.pieces(text)]
        nothing = np.zeros_like(next(iter(self.vectors.values())))
        products = [np.roll(a, 7) * b for a, b in pairwise(rows)]
        return unit(np.concatenate([unit(sum(rows, nothing)), 0.3 * unit(sum(products, nothing))]))

    def score(self, candidate: str, references: Sequence[str], compared: str) -> float:
        """The score of a caption; texts are words joined by blanks."""
        own = self.vector(candidate)
        others = [vector for vector in map(self.vector, references) if vector.any()]
        if not others:
            return 0.0
        if compared == "centroid":
            return float(own @ unit(np.sum(others, axis=0)))
        return float({"mean": np.mean, "best": np.max}[compared]([own @ other for other in others]))


def unit(vector: Vector) -> Vector:
    """The vector at length 1; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def words(text: str) -> list[str]:
    """The words of BERT's basic tokenizer, uncased."""
    apart = []
    for character in text:
        kind = unicodedata.category(character)
        if character.isspace() and not "\x1c" <= character <= "\x1f":
            apart.append(" ")
        elif is_chinese(character):
            apart.append(f" {unicodedata.normalize('NFD', character)} ")
        elif kind not in ("Cc", "Cf"):
            bare = [one for one in unicodedata.normalize("NFD", character) if unicodedata.category(one) != "Mn"]
            apart += [f" {one} " if is_mark(one) else one.lower() for one in bare]
    return "".join(apart).split()


def is_chinese(character: str) -> bool:
    """Whether BERT takes the character for a word."""
    ranges = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF)]
    return any(low <= ord(character) <= high for low, high in [*ranges, (0x2F800, 0x2FA1F)])


def is_mark(character: str) -> bool:
    """Whether BERT takes the character for punctuation."""
    return unicodedata.category(character)[0] == "P" or (character.isascii() and character in "$+<=>^`|~")
