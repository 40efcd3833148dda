"""Single images in pictures: their captions' positions in a plane, and their topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap import _core
from sacrecap.metrics.base import SetMetric
from sacrecap.scoring.diversity_result import Diversity, SetSpectrum

Matrix: TypeAlias = npt.NDArray[np.float64]
TOPICS = 5
"""Leading latent topics that the radar charts show, as in the paper."""
_EQUAL = 1e-9


class PlacedCaptions(NamedTuple):
    """Equal captions of one system and image at one point."""

    image_id: str
    system: int
    """The system's index among all systems and people."""
    x: float
    y: float
    captions: tuple[int, ...]
    """Their indices in the set, from 0."""
    text: str
    """The first of them, as written."""


def spectra(result: Diversity, image_id: str, metric: SetMetric | None = None) -> dict[int, SetSpectrum]:
    """The image's caption sets, by the system's index; people may lack the image."""
    everybody = enumerate(result.everybody())
    return {number: system.image(image_id, metric) for number, system in everybody if image_id in system.image_ids}


def scale(images: Mapping[str, dict[int, SetSpectrum]]) -> tuple[list[PlacedCaptions], float]:
    """Multi-dimensional scaling of all captions of some images, given by image and system: similar captions are near
    each other; and the share of the variance of their distances that the distances in the plane account for, 0 to 1.

    The distance of two captions is 1 − K, K their similarity by the kernel of Self-CIDEr. The places minimise the
    stress, the sum over pairs of captions of the squared difference of their distances in the plane and by the kernel:
    by majorisation (SMACOF: de Leeuw, 1977), from the leading two dimensions of the means of the images (of the
    captions, of one or two images).
    """
    members: dict[tuple[str, str], list[tuple[int, SetSpectrum, list[int]]]] = {}
    for image, sets in images.items():
        for system, spectrum in sets.items():
            repeats: dict[str, list[int]] = {}
            for number, text in enumerate(spectrum.tokens):
                repeats.setdefault(text, []).append(number)
            for text, captions in repeats.items():
                members.setdefault((image, text), []).append((system, spectrum, captions))
    counts = np.array([float(sum(len(captions) for *_, captions in sets)) for sets in members.values()])
    vectors = joined([(sets[0][1], sets[0][2][0]) for sets in members.values()])
    # Without BLAS, here and below: its threads cost more than these small products, and its last bits depend on them.
    apart = np.clip(1 - np.einsum("ik,jk->ij", vectors, vectors), 0, None)
    np.fill_diagonal(apart, 0)
    groups = list(range(len(vectors))) if len(images) < 3 else [list(images).index(image) for image, _ in members]
    places = _least_stress(apart, counts, _start(vectors, np.array(groups)), 1e-4 / len(images))
    # Rounded, so that the digits are the same on every machine.
    points = (places.round(6) + 0.0).tolist()
    marks = [
        PlacedCaptions(image, system, x, y, tuple(captions), spectrum.captions[captions[0]])
        for ((image, _), sets), (x, y) in zip(members.items(), points, strict=True)
        for system, spectrum, captions in sets
    ]
    return sorted(marks, key=lambda mark: mark.system), _accounted(apart, _distances(places), counts)


def joined(captions: Sequence[tuple[SetSpectrum, int]]) -> Matrix:
    """Vectors of captions, each given by its set and its index there, over the n-grams of all; a row per caption."""
    features: dict[str, int] = {}
    for spectrum, _ in captions:
        for name in spectrum.features:
            features.setdefault(name, len(features))
    rows = np.zeros((len(captions), max(len(features), 1)))
    for row, (spectrum, number) in zip(rows, captions, strict=True):
        row[[features[name] for name in spectrum.features]] = spectrum.vectors[number]
    return rows


def set_topics(spectrum: SetSpectrum) -> list[tuple[list[float], str]]:
    """The leading topics of a set: the entries of the unit eigenvector, one per caption, and the heaviest words.

    A topic has the sign that makes the sum of its entries positive (the first entry, if the sum is 0); a word that is
    heavy on the other side has a minus. Topics beyond the rank have entries of 0 and no words.
    """
    topics = []
    for topic in spectrum.topics(most=TOPICS, words=3):
        loads = topic.captions
        sign = -1.0 if (round(sum(loads), 9) or next(load for load in loads if abs(load) > _EQUAL)) < 0 else 1.0
        words = [("−" if sign * load < 0 else "") + word for word, load in topic.words if abs(load) > _EQUAL]
        topics.append(([sign * load / topic.strength + 0.0 for load in loads], ", ".join(words) or "–"))
    return topics + [([0.0] * len(spectrum.captions), "–")] * (TOPICS - len(topics))


def _start(vectors: Matrix, groups: npt.NDArray[np.int64]) -> Matrix:
    """The vectors in the plane of the two leading principal axes of the groups' means, shape (captions, 2)."""
    centred = vectors - vectors.mean(axis=0)
    means = np.array([centred[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    products = np.einsum("ik,jk->ij", means, means)
    eigenvalues, eigenvectors = _core.eigensystem(((products + products.T) / 2).tobytes(), len(means))
    places = np.zeros((len(vectors), 2))
    for axis, value in enumerate(np.frombuffer(eigenvalues)[:2]):
        if value > _EQUAL:
            vector = np.frombuffer(eigenvectors).reshape(len(means), -1)[axis]
            # The sign of an eigenvector is arbitrary: its largest entry is made positive.
            sign = np.sign(vector[np.argmax(np.abs(vector).round(9))])
            places[:, axis] = sign * np.einsum("ik,k->i", centred, vector @ means) / np.sqrt(value)
    return places


def _least_stress(apart: Matrix, counts: Matrix, places: Matrix, still: float) -> Matrix:
    """Places whose distances are near those given; `counts` captions are at a place.

    The search ends with a step that lowers the stress by no more than the share `still`.
    """
    stress = np.inf
    for _ in range(200):
        drawn = _distances(places)
        before, stress = stress, float(np.einsum("i,j,ij->", counts, counts, (drawn - apart) ** 2))
        if before - stress <= still * stress:
            break
        pull = counts * np.divide(apart, drawn, out=np.zeros_like(apart), where=drawn > _EQUAL)
        moved = pull.sum(axis=1)[:, None] * places - np.einsum("ij,jk->ik", pull, places)
        places = moved / counts.sum()
    return places


def _distances(places: Matrix) -> Matrix:
    x, y = (np.subtract.outer(axis, axis) for axis in places.T)
    distances: Matrix = np.hypot(x, y)
    return distances


def _accounted(apart: Matrix, drawn: Matrix, counts: Matrix) -> float:
    """The squared correlation of two kinds of distances, over all pairs of captions; 1 if both are equal."""
    number = np.outer(counts, counts)
    np.fill_diagonal(number, counts * (counts - 1) / 2)  # pairs of equal captions
    pairs = np.triu_indices(len(apart))
    weights, kernel, plane = number[pairs], apart[pairs], drawn[pairs]
    if np.allclose(kernel, plane, atol=1e-3):
        return 1.0
    kernel, plane = (values - (weights * values).sum() / weights.sum() for values in (kernel, plane))
    both = (weights * kernel**2).sum() * (weights * plane**2).sum()
    return float((weights * kernel * plane).sum() ** 2 / both) if both > _EQUAL else 0.0
