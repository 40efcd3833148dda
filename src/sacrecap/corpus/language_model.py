"""Language models: how captions go on, learnt once from captions of other images than those to score."""

from __future__ import annotations

import os
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.corpus.document_frequency import check_order, checksum, file_name
from sacrecap.data.source import read_bytes
from sacrecap.data.writers import atomic_write
from sacrecap.errors import UsageError, naming

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import CaptionSource


class LanguageModel:
    """An n-gram model of captions, for `fluency(references=no)`: of a training split, for example.

    Files are versioned and checksummed.

    Examples:
        >>> model = sacrecap.LanguageModel.build({"1": ["a dog runs", "one dog"], "2": ["a red bus"]})
        >>> model.images, model.n, model.words
        (2, 3, 6)
        >>> scorer = sacrecap.Scorer("fluency(references=no)", language_model=model)
        >>> scores = scorer({"caption": ["a dog runs", "runs dog a"]})["fluency(references=no)"]
        >>> [round(score, 3) for score in scores]
        [0.437, 0.064]
    """

    def __init__(self, core: _core.LanguageModel, source: str) -> None:
        self._core = core
        self.source = source
        """The origin of the model, for messages: a file's name, or `built`."""

    @classmethod
    def build(
        cls, references: CaptionSource, *, tokenizer: Tokenizer = "ptb", n: int = 3, threads: int = 0
    ) -> LanguageModel:
        """Learns from all captions, by n-grams of up to `n` words.

        `references`: `{image id: [caption, …]}`, a file's path, or `Captions`. Raises `DataError` for unusable
        references and `UsageError` for `n` outside 1..4.
        """
        from sacrecap.corpus.corpus import encode_references

        check_order(n)
        encoded = encode_references(references, tokenizer=tokenizer, threads=threads)
        return cls(_core.LanguageModel.build(encoded, n, threads), "built")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LanguageModel:
        """Reads a saved file. Raises `DataError` for a missing, foreign or damaged one."""
        data = read_bytes(path)
        with naming(f"{os.fspath(path)}: "):
            core = _core.LanguageModel.from_bytes(data)
        model = cls(core, file_name(path))
        vars(model)["checksum"] = checksum(data)
        return model

    @classmethod
    def of(cls, source: object) -> LanguageModel:
        """The model that `language_model=` and `--lm` take: itself, or that of a file.

        Raises what `load` raises, and `UsageError` for a value of another type.
        """
        if isinstance(source, cls):
            return source
        if not isinstance(source, (str, PathLike)):
            kind = type(source).__name__
            raise UsageError(f"language_model must be the path of a file or a sacrecap.LanguageModel, got a {kind}")
        return cls.load(source)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the file, whole or not at all. Raises `DataError` if it cannot be written."""
        with atomic_write(path, "wb") as file:
            file.write(self._core.to_bytes())

    @cached_property
    def checksum(self) -> str:
        """CRC-32 of the model, eight hexadecimal digits: equal models have equal checksums, on any machine."""
        return checksum(self._core.to_bytes())

    @property
    def images(self) -> int:
        """Number of images whose captions it learnt from."""
        return self._core.images

    @property
    def n(self) -> int:
        """The longest n-gram: words are predicted from the n − 1 before."""
        return self._core.n

    @property
    def words(self) -> int:
        """Number of distinct words."""
        return self._core.words

    @property
    def tokenizer(self) -> str:
        """What cut the captions into words."""
        return self._core.tokenizer or "unknown"

    def __repr__(self) -> str:
        return f"<LanguageModel {self.source}: order {self.n}, {self.images:,} images, tokenizer {self.tokenizer}>"
