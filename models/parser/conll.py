"""Parses as CoreNLP writes them: index, word, lemma, tag, _, head, relation; a blank line after each sentence."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True)
class Sentence:
    """A parsed caption: for each word its lemma, tag, head (0 the root, else 1 and up) and relation."""

    source: str = ""
    words: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)

    def plain_words(self) -> list[str]:
        """The words, with brackets as the caption has them."""
        return [BRACKETS.get(word, word) for word in self.words]

    def of_source(self, source: str) -> Sentence:
        """The same parse, said to come from there."""
        return replace(self, source=source)


def read(path: Path) -> Iterator[Sentence]:
    """The parses of a file, gzipped if its name says so. A comment line before a parse names its source."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        sentence = Sentence()
        for line in lines:
            text = line.rstrip("\n")
            if not text:
                if sentence.words:
                    yield sentence
                    sentence = Sentence()
            elif text.startswith("# "):
                sentence = Sentence(source=text[2:])
            else:
                _, word, lemma, tag, _, head, relation = text.split("\t")
                sentence.words.append(word)
                sentence.lemmas.append(lemma)
                sentence.tags.append(tag)
                sentence.heads.append(int(head))
                sentence.relations.append(relation)
        if sentence.words:
            yield sentence


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write parses as they are read."""
    with path.open("w", encoding="utf-8") as out:
        for sentence in sentences:
            if sentence.source:
                out.write(f"# {sentence.source}\n")
            rows = zip(sentence.words, sentence.lemmas, sentence.tags, sentence.heads, sentence.relations, strict=True)
            for number, (word, lemma, tag, head, relation) in enumerate(rows, start=1):
                out.write(f"{number}\t{word}\t{lemma}\t{tag}\t_\t{head}\t{relation}\n")
            out.write("\n")
