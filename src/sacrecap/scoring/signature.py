"""Signatures: one line that holds what a number depends on, so that whoever has the files can check it.

    METRIC|images:593/5000|refs:5@1a2b3c4d|caps:9f8e7d6c|…|tok:ptb|missing:skip|interval:…|sacrecap:0.1.0

What was read stands there as digests: sums over rows, which are the same for any order, format, engine and container.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sacrecap import _core
from sacrecap.choices import TAKEN
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.tokenizers import signed as signed_tokenizer
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

    from sacrecap.metrics.base import Metric, Ready

Digests = Mapping[str, int]
"""Digests of what was read, by the names of their parts; those of parts of a corpus add up, modulo 2^32."""
OF_CAPTIONS = ("caps", "scores", "images", "missing")
"""Parts that differ between systems that are compared on the same references."""
_FIRST = ("refs", "caps")


def digests(metric: Metric, ready: Ready, corpus: Corpus) -> dict[str, int]:
    """Of what the metric read of the corpus."""
    by_references = metric.needs_references or any(part.startswith("df:corpus(") for part in ready.signature)
    read = ready.digests()
    parts = _FIRST if by_references else _FIRST[1:]
    return {**{part: read[part] if part in read else corpus.digest(part) for part in parts}, **read}


def added_digests(first: Digests, other: Digests) -> dict[str, int]:
    """The digests of two parts of a corpus together."""
    return {name: (first.get(name, 0) + other.get(name, 0)) % 2**32 for name in {**first, **other}}


def signature_of(metric: Metric, ready: Ready, corpus: Corpus, rows: int) -> str:
    """That of a score of the corpus, whose statistics have so many rows."""
    read = digests(metric, ready, corpus)
    parts = [f"{name}:{value}" for name, value in _of_captions(corpus, read, rows).items()]
    parts += (part.replace("|", "/") for part in ready.signature)
    parts += (f"{name}:{digest:08x}" for name, digest in read.items() if name not in _FIRST)
    if metric.reads_tokens:
        parts.append(f"tok:{signed_tokenizer(corpus.tokenizer)}")
    if corpus.missing:
        parts.append(f"missing:{corpus.missing}")
    return "|".join([metric.head, *parts, f"sacrecap:{_core.__version__}"])


def _of_captions(corpus: Corpus, read: Digests, rows: int) -> dict[str, str]:
    """The parts that tell of images, references and captions."""
    counts = {"refs": corpus.reference_counts} if "refs" in read else {}
    if corpus.holds_sets:
        counts["caps"] = corpus.candidate_counts
    images = len(corpus) or rows
    parts = {"images": f"{images}/{images + corpus.images_left_out}"}
    for name in _FIRST:
        if name in read:
            span = "-".join(map(str, dict.fromkeys(counts.get(name, ()))))
            parts[name] = f"{span}@{read[name]:08x}" if span else f"{read[name]:08x}"
    return parts


def without(signature: str, *names: str) -> str:
    """The signature without these parts. The metric stays, whatever it is called."""
    metric, *parts = signature.split("|")
    return "|".join([metric, *(part for part in parts if part.partition(":")[0] not in names)])


def with_part(signature: str, name: str, value: str) -> str:
    """The signature with this part before the version."""
    before, _, version = without(signature, name).rpartition("|")
    return f"{before}|{name}:{value.replace('|', '/')}|{version}"


class Signature(NamedTuple):
    """A signature, part by part."""

    metric: str
    """As `--metrics` takes it."""
    parts: tuple[tuple[str, str], ...]
    """Names and values; a combination may have several of a name."""

    @classmethod
    def read(cls, text: str) -> Self:
        """The signature that the text is. Raises `DataError` that says what is wrong with it."""
        head, *parts = text.strip().split("|")
        cut = [(name, value) for name, _, value in (part.partition(":") for part in parts)]
        wrong = next((part for part, (name, value) in zip(parts, cut, strict=True) if not (name and value)), None)
        names = [name for name, _ in cut]
        why = ""
        if not head or ":" in head.partition("(")[0].removeprefix(TAKEN):
            why = f"it begins with {head[:40]!r}, and a signature begins with a metric, as cider-d"
        elif wrong is not None:
            why = f"its part {wrong[:40]!r} is not of the form name:value"
        elif "sacrecap" not in names:
            why = "it is broken off: it does not end with |sacrecap:VERSION"
        elif names[-1] != "sacrecap":
            why = f"something follows sacrecap:VERSION: {parts[-1][:40]!r}"
        elif lacking := [name for name in ("images", "caps") if name not in names]:
            why = f"it has no part {lacking[0]}:"
        if why:
            raise DataError(f"no signature: {why}; copy the whole line")
        return cls(head, tuple(cut))

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{value}" for name, value in self.parts)])

    def get(self, name: str) -> str | None:
        """The value of that part; None if there is none."""
        return next((value for part, value in self.parts if part == name), None)

    def on(self, corpus: Corpus) -> Self:
        """The same of other captions, as far as their digests tell."""
        read = {name: corpus.digest(name) for name in _FIRST if self.get(name) is not None}
        here = {**_of_captions(corpus, read, len(corpus)), "sacrecap": _core.__version__}
        parts = [(name, here.get(name, value)) for name, value in self.parts if name != "missing"]
        missing = [("missing", corpus.missing)] if corpus.missing else []
        return self._replace(parts=(*parts[:-1], *missing, parts[-1]))

    def differences(self, other: Signature) -> dict[str, tuple[str, str]]:
        """The parts in which two signatures of a metric differ, with both values; "" where there is none."""
        differing = {}
        for name in dict.fromkeys(name for name, _ in (*self.parts, *other.parts)):
            every = ([value for part, value in signature.parts if part == name] for signature in (self, other))
            mine, theirs = (" ".join(sorted(values)) for values in every)
            if theirs not in (mine, *mine.split(",")):
                differing[name] = mine, theirs
        return differing


def together(signatures: Iterable[str]) -> str:
    """The signature of a number of the captions of several signatures, which differ in what was read alone."""
    first, *rest = map(Signature.read, dict.fromkeys(signatures))
    for other in rest:
        for name in ("caps", "scores"):
            digest = [signature.get(name) for signature in (first, other)]
            if None not in digest:
                total = sum(int(str(summand), 16) for summand in digest) % 2**32
                first = first._replace(
                    parts=tuple((part, f"{total:08x}" if part == name else value) for part, value in first.parts)
                )
    return str(first)


def in_one_line(signatures: Mapping[str, str]) -> list[str]:
    """Those of several systems in one line that has each digest of theirs, in their order; or else a line of each."""
    every = [Signature.read(line) for line in dict.fromkeys(signatures.values())]
    names = {(signature.metric, *(name for name, _ in signature.parts)) for signature in every}
    if len(names) != 1:
        return list(signatures.values())
    columns = zip(*(signature.parts for signature in every), strict=True)
    parts = ((column[0][0], ",".join(dict.fromkeys(value for _, value in column))) for column in columns)
    return [str(every[0]._replace(parts=tuple(parts)))]
