"""The result of scoring caption sets: figures with intervals, and their details image by image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.errors import words_of_command_line
from sacrecap.metrics.base import Metric, SetMetric
from sacrecap.metrics.caption_sets import Accuracy, SelfCider
from sacrecap.scoring.findings import Finding, findings, of_systems
from sacrecap.scoring.intervals import Resampling, intervals, notes
from sacrecap.scoring.result import Keyed, Score, counted, scored, values_of, within

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.choices import Test
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.corpus.sets import SetCorpus
    from sacrecap.scoring.comparison import Pair

    Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Topic:
    """A latent topic of a caption set: an eigenvector of its similarity matrix."""

    strength: float
    """Singular value √λ."""
    share: float
    """Its share of the sum of all singular values."""
    captions: tuple[float, ...]
    """Weight of the topic in each caption: entries of √λ times the unit eigenvector."""
    words: tuple[tuple[str, float], ...]
    """Words with their loads, the heaviest first; empty if the similarity is not an inner product."""


@dataclass(frozen=True, eq=False)
class SetSpectrum:
    """One image's caption set: its similarity matrix and the decomposition that its diversity comes from."""

    image_id: str
    captions: list[str]
    """The m captions, as given."""
    tokens: list[str]
    """Tokens of each caption, joined by blanks."""
    matrix: Matrix
    """Similarities, shape (m, m), symmetric; NumPy float64."""
    eigenvalues: Matrix
    """Shape (m,), largest first."""
    eigenvectors: Matrix
    """Unit eigenvectors as rows, shape (m, m), in the order of the eigenvalues."""
    features: list[str] = field(repr=False)
    """Names of the n-grams that the captions' vectors are over; empty if the similarity is not an inner product."""
    vectors: Matrix = field(repr=False)
    """The captions' vectors, shape (m, features): `vectors @ vectors.T` is the matrix."""

    @property
    def diversity(self) -> float:
        """−log_m(√λ_1 / Σ√λ_i)."""
        return _core.spectral_diversity(self.eigenvalues.tolist())

    def topics(self, most: int = 5, words: int = 5) -> list[Topic]:
        """The leading latent topics (fewer where the matrix has lower rank), each with so many words of largest load.

        A word's load is its entry in the topic's direction in the space of words: Σ_i v_i Φ(c_i) / √λ. Only single
        words are named, whatever the n of the similarity.
        """
        import numpy as np

        strengths = np.sqrt(np.abs(self.eigenvalues))
        rank = int((strengths > strengths.max(initial=0.0) * 1e-6).sum())
        topics = []
        for number in range(min(most, rank)):
            strength, vector = float(strengths[number]), self.eigenvectors[number]
            loads = (vector @ self.vectors / strength).tolist() if self.features else []
            named = [(name, load) for name, load in zip(self.features, loads, strict=True) if " " not in name]
            heaviest = tuple(sorted(named, key=lambda item: -abs(item[1]))[:words])
            share = strength / float(strengths.sum())
            topics.append(Topic(strength, share, tuple((strength * vector).tolist()), heaviest))
        return topics


@dataclass(frozen=True, eq=False, repr=False)
class SystemDiversity(Keyed[Score]):
    """A system's figures by key: `system["self-cider"].value`."""

    name: str
    corpus: SetCorpus
    figures: dict[str, Score]
    curve: dict[int, dict[str, float]]
    """Figures of the K most accurate captions of each set, by K; empty without references."""
    document_frequency: Sequence[DocumentFrequency] | None

    _field: ClassVar[str] = "figures"

    def __getitem__(self, key: str | Metric) -> Score:
        return scored(self.figures, key)

    def __repr__(self) -> str:
        return f"<{self.name}, {counted(self.images, 'image')}: {values_of(self)}>"

    @property
    def image_ids(self) -> list[str]:
        """The images, in the order of every figure's `per_image`."""
        return self.corpus.image_ids

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.corpus)

    @property
    def captions_per_image(self) -> int | dict[str, float]:
        """Their number if it is the same for all images, otherwise `{"min", "mean", "max"}`."""
        least, most = self.corpus.candidate_counts
        return (
            least if least == most else {"min": least, "mean": self.corpus.candidate_count / self.images, "max": most}
        )

    def word_counts(self) -> list[tuple[str, int]]:
        """Every word of the captions with its count, the commonest first."""
        return _core.word_counts(self.corpus._core)

    @property
    def vocabulary(self) -> int:
        """Number of distinct words over all captions."""
        return len(self.word_counts())

    @cached_property
    def findings(self) -> list[Finding]:
        """What a look at the captions says about the figures, before anybody believes them."""
        return findings(self.corpus.seen, (figure.metric for figure in self.values()))

    @property
    def notes(self) -> list[str]:
        """Notes on the figures."""
        return [note for figure in self.values() for note in figure.metric.notes(figure.statistics)]

    def image(self, image_id: str, metric: SetMetric | None = None) -> SetSpectrum:
        """The spectrum of one image's caption set; of Self-CIDEr, or of the metric given (as `Lsa(stop=False)`).

        Raises `UsageError` for an unknown image, and for a metric that does not come from a similarity matrix.
        """
        import numpy as np

        tokens, _ = self.corpus.texts(image_id)
        number = self.corpus.number(image_id)
        metric = metric or SelfCider()
        parameters = metric.similarity()
        documents: list[object] = [*metric.vectors] if isinstance(metric, SelfCider) else []
        if self.document_frequency and isinstance(metric, SelfCider) and metric.uses_document_frequency:
            documents.append(metric.fitting(self.document_frequency, self.corpus.tokenizer)._core)
        captions = self.corpus.native(stems=metric.uses_stems)
        bytes_, names, dense = _core.similarities(captions, number, parameters, documents)
        size = len(tokens)
        matrix = np.frombuffer(bytes_).reshape(size, size)
        values, vectors = _core.eigensystem(bytes_, size)
        return SetSpectrum(
            image_id,
            self.corpus.set_of(image_id),
            tokens,
            matrix,
            np.frombuffer(values),
            np.frombuffer(vectors).reshape(size, size),
            names,
            np.frombuffer(dense).reshape(size, len(names)),
        )

    def with_intervals(self, how: Resampling, threads: int) -> SystemDiversity:
        """The same with an interval for each figure."""
        tables, metrics = zip(*((figure.rows, figure.metric) for figure in self.figures.values()), strict=True)
        figures = zip(self.figures.items(), intervals(tables, metrics, how, threads=threads), strict=True)
        return replace(self, figures={key: within(figure, bounds, how) for (key, figure), bounds in figures})

    @words_of_command_line()  # the document of the command, to the letter
    def to_dict(self) -> dict[str, Any]:
        """The system's part of the JSON of `sacrecap diversity`."""
        intervals = {key: list(figure.interval) for key, figure in self.figures.items() if figure.interval is not None}
        return {
            "images": self.images,
            **self.corpus.left_out_in_json(self.images),
            "captions_per_image": self.captions_per_image,
            **{key: figure.value for key, figure in self.figures.items()},
            "vocabulary": self.vocabulary,
            "intervals": intervals,
            "signatures": {key: figure.signature for key, figure in self.figures.items()},
            **({"top": {str(most): figures for most, figures in self.curve.items()}} if self.curve else {}),
            **({"notes": self.notes} if self.notes else {}),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Diversity(Printable, Keyed[SystemDiversity]):
    """Systems by name: `result["varied"]["self-cider"].value`."""

    version: str
    systems: dict[str, SystemDiversity]
    human: SystemDiversity | None
    """People, by leaving one reference out; None without references."""
    pairs: tuple[Pair, ...]
    """Paired tests of every two systems by each metric; empty without intervals."""
    resampling: Resampling
    """How the intervals were made, if there are any."""
    beta2: float
    test: Test = "exact"
    """How the pairs were tested."""

    _field: ClassVar[str] = "systems"

    def everybody(self) -> list[SystemDiversity]:
        """The systems, then people if there are references."""
        return [*self.systems.values(), *([self.human] if self.human else [])]

    @cached_property
    def findings(self) -> list[Finding]:
        """What a look at the captions says about the figures: of systems whose lengths differ, and of each system."""
        return of_systems(self.systems)

    @property
    def notes(self) -> list[str]:
        """Notes on the figures of all systems; each system also has its own notes."""
        first = next(iter(self.values()))
        return notes(
            [figure.metric.of for figure in first.values() if isinstance(figure.metric, Accuracy)],
            self.resampling,
            images=first.images,
            own_frequencies=first.document_frequency is None,
        )

    @words_of_command_line()  # the document of the command, to the letter
    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap diversity`."""
        pairs = [asdict(pair) for pair in self.pairs]
        return {
            "sacrecap": self.version,
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
            **({"human": self.human.to_dict()} if self.human else {}),
            **({"pairs": pairs, "test": self.resampling.of_test(self.test)} if pairs else {}),
            "findings": [finding.to_dict() for finding in self.findings],
            **({} if self.resampling.interval is None else self.resampling.to_dict()),
            **({"notes": self.notes} if self.notes else {}),
        }

    def __repr__(self) -> str:
        systems = "; ".join(f"{system.name}: {values_of(system)}" for system in self.everybody())
        return f"<Diversity of {counted(next(iter(self.values())).images, 'image')}: {systems}>"
