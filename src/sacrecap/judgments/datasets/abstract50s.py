"""ABSTRACT-50S: 400 pairs of sentences about drawn scenes, 48 references each (Vedantam et al., CVPR 2015).

Each reference has one vote: which sentence of the pair is closer to it? The majority wins. The release names
no categories. An image has two pairs that share one sentence: the pair whose other sentence fits the references less
(lower CIDEr-D) is human incorrect (HI), the other human correct (HC).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.judgment_forms import JudgedPair, JudgmentForm, WhatToRead
from sacrecap.judgments.datasets.records import READER
from sacrecap.judgments.datasets.triplets import COLUMNS, Triplet, read_triplets
from sacrecap.judgments.judged_rows import majority


def _pairs(path: PathLike, _: WhatToRead) -> list[JudgedPair]:
    """The pairs of `consensus_abstract.mat`, or of the same triplets as CSV."""
    triplets = read_triplets(path)
    grouped = [list(pair) for _, pair in groupby(triplets, key=lambda triplet: (triplet.b, triplet.c))]
    votes = [[triplet.vote for triplet in pair] for pair in grouped]
    pairs = [
        JudgedPair(
            image,
            [triplet.reference for triplet in pair],
            pair[0].b,
            pair[0].c,
            majority(of_pair),
            votes=of_pair,
            reference_votes=of_pair,
        )
        for image, pair, of_pair in zip(_images(display_name(path), grouped), grouped, votes, strict=True)
    ]
    return [pair._replace(categories=category) for pair, category in zip(pairs, _categories(pairs), strict=True)]


ABSTRACT50S = tuple(
    JudgmentForm(
        "abstract-50s",
        fields,
        lambda pair, _: iter([pair]),
        _pairs,
        remarks=lambda _: ["categories derived by CIDEr-D, because the release names none"],
        is_matlab=is_matlab,
    )
    for fields, is_matlab in ((COLUMNS, False), (("triplets",), True))
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


def _categories(pairs: Sequence[JudgedPair]) -> list[str]:
    """HC or HI: depends on how well the sentence that the image's two pairs do not share fits the references."""
    members: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        members.setdefault(pair.image, []).append(number)
    second_captions: list[str] = [""] * len(pairs)
    for first, second in members.values():
        [shared] = {pairs[first].b, pairs[first].c} & {pairs[second].b, pairs[second].c}
        for number in (first, second):
            [second_captions[number]] = {pairs[number].b, pairs[number].c} - {shared}
    fit = _cider_d(pairs, second_captions)
    return [
        "HI" if fit[number] == min(fit[m] for m in members[pair.image]) else "HC" for number, pair in enumerate(pairs)
    ]


def _cider_d(pairs: Sequence[JudgedPair], sentences: list[str]) -> list[float]:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import CiderD
    from sacrecap.scoring.score import score_corpus

    references = {str(number): pair.references for number, pair in enumerate(pairs)}
    corpus = Corpus(references, {str(number): sentence for number, sentence in enumerate(sentences)})
    return list(score_corpus(corpus, [CiderD()])[CiderD.family].per_image_values())
