"""Single images in pictures: the choice of images, their captions' positions in a plane, and their topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sacrecap import _core
from sacrecap.errors import UsageError, option, some
from sacrecap.metrics import Lsa
from sacrecap.report.pictures.charts import LeftOutError, diversities

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.scoring.diversity_result import Diversity, SetSpectrum, Topic

    Matrix = npt.NDArray[np.float64]

CHOSEN = 6
"""Number of images in the pictures by default: half of them the most diverse, half the least."""
TOPICS = 5
"""Leading latent topics that the radar charts show, as in the paper."""
_WORDS = 3
_EQUAL = 1e-9
_DECIMALS = 9


@dataclass(frozen=True)
class PlacedCaptions:
    """Equal captions of one system at one point."""

    system: int
    """The system's index among all systems and people."""
    x: float
    y: float
    captions: tuple[int, ...]
    """Their indices in the set, from 0."""
    text: str
    """The first of them, as written."""


@dataclass(frozen=True)
class Scaling:
    """The captions of one image by all systems in one plane: similar captions are near each other."""

    image_id: str
    marks: list[PlacedCaptions]
    share: float
    """Share of the captions' squared distances from their centre that lies in the plane, 0 to 1."""


@dataclass(frozen=True)
class SetTopics:
    """The leading latent topics of one system's captions of an image."""

    image_id: str
    system: int
    """The system's index among all systems and people."""
    captions: list[str]
    topics: list[Topic]


def check_images(asked: Sequence[str], known: Sequence[str]) -> None:
    """Raises `UsageError` if one of the requested images is unknown."""
    unknown = sorted(set(asked) - set(known), key=asked.index)
    if unknown:
        raise UsageError(
            f"{option('images', flag='--draw')} names {some(unknown)} without caption sets; the first image that has "
            f"them is {known[0]!r}"
        )


def chosen_images(result: Diversity, asked: Iterable[str] = (), most: int = CHOSEN) -> list[str]:
    """The requested images, or the most and the least diverse by the mean over systems, the most diverse first.

    Raises `UsageError` for an image without caption sets.
    """
    chosen = list(dict.fromkeys(asked))
    check_images(chosen, next(iter(result.values())).image_ids)
    return chosen or ends_of(ranked(result), most)


def ranked(result: Diversity) -> list[str]:
    """All images, the most diverse first; ties, and all images if no diversity was scored, in the result's order."""
    try:
        means = diversities(result)
    except LeftOutError:
        return next(iter(result.values())).image_ids
    return sorted(means, key=lambda image: -means[image])


def ends_of(order: list[str], most: int) -> list[str]:
    """That many from both ends of an order, in that order."""
    if len(order) <= most:
        return order
    return [*order[: (most + 1) // 2], *order[len(order) - most // 2 :]]


def spectra(result: Diversity, image_id: str, metric: Lsa | None = None) -> dict[int, SetSpectrum]:
    """The image's caption sets, by the system's index; people may lack the image."""
    everybody = enumerate(result.everybody())
    return {number: system.image(image_id, metric) for number, system in everybody if image_id in system.image_ids}


def scale(image_id: str, sets: dict[int, SetSpectrum]) -> Scaling:
    """Classical multi-dimensional scaling of all captions of an image, by the kernel of Self-CIDEr.

    The squared distance of two captions is K_ii + K_jj − 2 K_ij, so that their vectors, centred, have the same scalar
    products as the doubly centred kernel; its two leading eigenvectors are the plane (Torgerson, 1952).
    """
    vectors = joined(list(sets.values()))
    centred = vectors - vectors.mean(axis=0)
    # Without BLAS: its threads cost more than this small product, and its last bits depend on them.
    places, share = _plane(np.einsum("ik,jk->ij", centred, centred))
    marks, start = [], 0
    for system, spectrum in sets.items():
        for captions in _repeats(spectrum.tokens):
            # Rounded, so that equal captions of two systems are at the same point, with the same digits on every
            # machine.
            x, y = (places[start + captions[0]].round(_DECIMALS) + 0.0).tolist()
            marks.append(PlacedCaptions(system, x, y, tuple(captions), spectrum.captions[captions[0]]))
        start += len(spectrum.tokens)
    return Scaling(image_id, marks, share)


def joined(sets: list[SetSpectrum]) -> Matrix:
    """The captions' vectors over the n-grams of all sets, one set below the other, shape (captions, n-grams)."""
    features: dict[str, int] = {}
    for spectrum in sets:
        for name in spectrum.features:
            features.setdefault(name, len(features))
    rows = np.zeros((sum(len(spectrum.tokens) for spectrum in sets), max(len(features), 1)))
    start = 0
    for spectrum in sets:
        end = start + len(spectrum.tokens)
        rows[start:end, [features[name] for name in spectrum.features]] = spectrum.vectors
        start = end
    return rows


def set_topics(image_id: str, sets: dict[int, SetSpectrum]) -> list[SetTopics]:
    """The leading topics of each set, each with the sign that makes the sum of its captions' loads positive."""
    return [
        SetTopics(
            image_id,
            system,
            spectrum.captions,
            [_turned(topic) for topic in spectrum.topics(most=TOPICS, words=_WORDS)],
        )
        for system, spectrum in sets.items()
    ]


def _turned(topic: Topic) -> Topic:
    sign = -1.0 if sum(topic.captions) < 0 else 1.0
    words = [(word, sign * load) for word, load in topic.words if abs(load) > _EQUAL]
    return type(topic)(topic.strength, topic.share, tuple(sign * load for load in topic.captions), tuple(words))


def _plane(products: Matrix) -> tuple[Matrix, float]:
    """Points in the plane of the two leading eigenvectors, shape (captions, 2), and the share that lies in it."""
    size = len(products)
    eigenvalues, eigenvectors = _core.eigensystem(((products + products.T) / 2).tobytes(), size)
    values = np.clip(np.frombuffer(eigenvalues), 0, None)
    vectors = np.frombuffer(eigenvectors).reshape(size, size)
    places = np.zeros((size, 2))
    for axis in range(min(2, size)):
        if values[axis] > _EQUAL:
            # The sign of an eigenvector is arbitrary: its largest entry is made positive.
            sign = np.sign(vectors[axis][np.argmax(np.abs(vectors[axis]).round(9))])
            places[:, axis] = sign * np.sqrt(values[axis]) * vectors[axis]
    total = float(values.sum())
    return places, float(values[:2].sum()) / total if total > _EQUAL else 1.0


def _repeats(tokens: list[str]) -> list[list[int]]:
    """Indices of the captions, grouped by equal tokens."""
    places: dict[str, list[int]] = {}
    for number, text in enumerate(tokens):
        places.setdefault(text, []).append(number)
    return list(places.values())
