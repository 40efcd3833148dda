"""ABSTRACT-50S: 400 pairs of sentences about drawn scenes, 48 references each (Vedantam et al., CVPR 2015).

Each reference has one vote: which sentence of the pair is closer to it? The majority wins. The release names
no categories. An image has two pairs that share one sentence: the pair whose other sentence fits the references less
(lower CIDEr-D) is human incorrect (HI), the other human correct (HC).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.records import READER
from sacrecap.judgments.datasets.triplets import Triplet, read_triplets
from sacrecap.judgments.judged_rows import Pairs, Row, majority


def read_abstract50s(path: PathLike, *, matlab: bool) -> Pairs:
    """Reads `consensus_abstract.mat`, or the same triplets as CSV. Raises `DataError`."""
    triplets = read_triplets(path, matlab=matlab)
    pairs = [list(pair) for _, pair in groupby(triplets, key=lambda triplet: (triplet.b, triplet.c))]
    source = display_name(path)
    images = _images(source, pairs)
    votes = [[triplet.vote for triplet in pair] for pair in pairs]
    rows = [
        Row(image, [triplet.reference for triplet in pair], place)
        for place, (image, pair) in enumerate(zip(images, pairs, strict=True))
    ]
    b, c = [pair[0].b for pair in pairs], [pair[0].c for pair in pairs]
    return Pairs(
        "abstract-50s",
        source,
        rows=rows,
        b=b,
        c=c,
        preferred=list(map(majority, votes)),
        categories=_categories(rows, b, c),
        in_file=len(pairs),
        votes=votes,
        reference_votes=votes,
        notes=["categories derived by CIDEr-D, because the release names none"],
    )


def _images(source: str, pairs: list[list[Triplet]]) -> list[str]:
    """An id for each pair's image: pairs of the same references are of the same image."""
    numbers: dict[frozenset[str], int] = {}
    images = [str(numbers.setdefault(frozenset(triplet.reference for triplet in pair), len(numbers))) for pair in pairs]
    for image in numbers.values():
        sentences = [{pair[0].b, pair[0].c} for pair, name in zip(pairs, images, strict=True) if name == str(image)]
        if len(sentences) != 2 or len(sentences[0] & sentences[1]) != 1:
            raise DataError(
                f"{source}: image {image} has {len(sentences)} pairs; ABSTRACT-50S has two per image, which share one "
                f"sentence (give other pairs as JSON lines, with {option('dataset', 'pairs', of=READER)})"
            )
    return images


def _categories(rows: list[Row], b: list[str], c: list[str]) -> list[str]:
    """HC or HI: depends on how well the sentence that the image's two pairs do not share fits the references."""
    members: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        members.setdefault(row.image_id, []).append(number)
    others: list[str] = [""] * len(rows)
    for first, second in members.values():
        [shared] = {b[first], c[first]} & {b[second], c[second]}
        for number in (first, second):
            [others[number]] = {b[number], c[number]} - {shared}
    fit = _cider_d(rows, others)
    return [
        "HI" if fit[number] == min(fit[m] for m in members[row.image_id]) else "HC" for number, row in enumerate(rows)
    ]


def _cider_d(rows: Iterable[Row], sentences: list[str]) -> list[float]:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import CiderD
    from sacrecap.scoring.score import score_corpus

    references = {str(number): row.references for number, row in enumerate(rows)}
    corpus = Corpus(references, {str(number): sentence for number, sentence in enumerate(sentences)})
    return list(score_corpus(corpus, [CiderD()])[CiderD.family].per_image_values())
