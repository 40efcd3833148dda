"""The common base of metrics that use a network: checkpoint, precision, and captions that are cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import some
from sacrecap.metrics.base import PythonMetric, Ready, Status, Totals
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import Needs
from sacrecap.resources.networks import MAIN, PRECISIONS, Checkpoint, missing_extra, vectors_of_texts

if TYPE_CHECKING:
    from sacrecap.data.cache import Vector


@dataclass
class CutCaptions:
    """The captions of a corpus as they were given, and those that the network did not read to the end."""

    given: dict[str, tuple[list[str], list[str]]]
    """Candidates and references by image id."""
    limit: int
    """The most tokens that the network reads."""
    remedy: str = ""
    """What to do about captions that are cut, as the end of a message."""
    cut: list[str] = field(default_factory=list)
    """The image of each caption that was cut."""

    @classmethod
    def of(cls, corpus: Corpus, limit: int, *, references: bool, remedy: str = "") -> CutCaptions:
        """The captions of the corpus; with its references only if the metric reads them."""
        by_image = {image: corpus.given(image) for image in corpus.image_ids}
        if not references:
            by_image = {image: (candidates, []) for image, (candidates, _) in by_image.items()}
        return cls(by_image, limit, remedy)

    def note_cut(self, is_cut: Callable[[str], bool]) -> None:
        """Notes the images of the captions that were cut."""
        self.cut = [image for image, sides in self.given.items() for text in chain(*sides) if is_cut(text)]

    def vectors(
        self, network: Any, tokenizer: Any, needs: Needs, spell: Callable[[str], str] = str
    ) -> dict[str, Vector]:
        """A vector for each caption that is not empty; `spell` makes the text that the network reads for it."""
        every = dict.fromkeys(chain.from_iterable(chain(*sides) for sides in self.given.values()))
        texts = [text for text in every if text.strip()]
        vectors, cut = vectors_of_texts(network, tokenizer, needs, map(spell, texts))
        self.note_cut(lambda text: spell(text) in cut)
        return {text: vectors[spell(text)] for text in texts}

    def pairs(self) -> Iterable[tuple[str, str, list[str]]]:
        """Image id, candidate and references, candidate after candidate."""
        for image, (candidates, references) in self.given.items():
            for candidate in candidates:
                yield image, candidate, references


class LearnedMetric(PythonMetric):
    """A metric that uses a checkpoint of transformers; its corpus score is the mean over captions.

    Subclasses name the default checkpoint, load it in `ready`, and keep there a function that gives the score of each
    candidate, image after image, and the captions that the network reads.
    """

    model: str = parameter(
        "a checkpoint of transformers: a folder with its files, or a name on the hub", default=None, kind=str
    )
    revision: str = parameter("branch, tag or commit of a checkpoint on the hub", default=MAIN)
    precision: str = parameter("the number format of the network", default="float32", choices=PRECISIONS)

    resolved: ClassVar[tuple[str, ...]] = ("model", "revision")
    usual_model: ClassVar[str]

    @property
    def reads_tokens(self) -> bool:
        return False

    def complete(self) -> None:
        """Fills in the default checkpoint."""
        values: dict[str, Any] = vars(self)
        if values["model"] is None:
            values["model"] = self.usual_model

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that these parameters name."""
        return Checkpoint(self.model, self.revision, self.precision)

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        """A group downloads no gigabytes: the metric is also left out if its model is not on this machine."""
        lacking = missing_extra("it")
        return Status.left_out(lacking or self.checkpoint.missing(), costly=lacking is None)

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        scores, _ = ready.own
        return [(score, 1.0) for score in scores()]

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:  # noqa: ARG002
        """Says how many captions were cut at the network's length."""
        _, captions = ready.own
        if not captions.cut:
            return []
        have = "1 caption has" if len(captions.cut) == 1 else f"{len(captions.cut):,} captions have"
        rest = f"and the rest was cut off: {some(list(dict.fromkeys(captions.cut)))}{captions.remedy}"
        reads = f"the {captions.limit} tokens that the model reads (with special tokens)"
        return [f"{self.label}: {have} more than {reads}, {rest}"]
