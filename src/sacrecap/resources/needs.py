"""Values for the needs of metrics, in addition to captions: one value that every public function takes and passes on.

A metric names its needs (`Metric.needs`) and takes their values from here (`Metric.ready`). A new need is only a name:
no function between the caller and the metric has to know it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar
from weakref import WeakKeyDictionary

from sacrecap.choices import CORPUS
from sacrecap.errors import UnknownOptionError, UsageError, did_you_mean, option, whole_number

if TYPE_CHECKING:
    from os import PathLike

    from sacrecap.corpus.corpus import Corpus
    from sacrecap.corpus.document_frequency import FrequencySource
    from sacrecap.corpus.language_model import LanguageModel
    from sacrecap.data.images import ImageSource
    from sacrecap.data.objects import ObjectSource
    from sacrecap.resources.chair import VocabularySource
    from sacrecap.resources.embeddings import EmbeddingSource
    from sacrecap.resources.endpoint import Endpoint
    from sacrecap.resources.outside_scores import OutsideScores
    from sacrecap.resources.rubrics import RubricSource
    from sacrecap.resources.spending import Usage

T = TypeVar("T")

TITLES = {
    "references": "references",
    "caption_sets": "caption sets",
    "document_frequency": "document frequencies",
    "language_model": "a language model",
    "embeddings": "word vectors",
    "objects": "objects",
    "vocabulary": "words for objects",
    "images": "images",
    "device": "a network (extra learned)",
    "rubric": "a rubric",
    "judge": "a language model behind an endpoint (extra judge)",
    "scores": "scores that others computed",
    "standard": "mean and deviation",
}
"""Names of the needs in the documentation. A need of another package is called by its key."""


class Given(TypedDict, total=False):
    """The needs of the metrics here, as keywords of `sacrecap.score`, `compare`, `diversity` and the others.

    Needs of metrics from other packages are given by name: `needs={"name": value}`.
    """

    document_frequency: FrequencySource | Sequence[FrequencySource] | None
    """Document frequencies for CIDEr: `corpus`, those of the references of the call, the default; or counts, their
    name, or the path of their file. Of several, such as those of word forms and those of stems, each metric takes the
    ones that fit it.
    """
    language_model: LanguageModel | str | PathLike[str] | None
    """What `fluency(references=no)` judges by: a model that was built before, or the path of its file."""
    objects: ObjectSource | None
    """Objects in each image, for VIFIDEL and CHAIR: `{image id: {label: count}}`, `{image id: [label, …]}`, or the path
    of a file in any format `sacrecap score --objects` reads. Without them, they are found in `images` (extra `detect`);
    without both, a group leaves both metrics out.
    """
    threshold: float | None
    """Least confidence of a detected object, for files of objects with scores, and for those found in images."""
    embeddings: EmbeddingSource | None
    """Word vectors for WMD and VIFIDEL, by name or path; those inside the package by default."""
    vocabulary: VocabularySource | None
    """Words for objects, for CHAIR: `coco`, the default, `wordnet`, or the path of a file."""
    images: str | PathLike[str] | Mapping[Any, Any] | ImageSource | None
    """The images, for CLIPScore, and for VIFIDEL and CHAIR without objects: a folder, a tar file or a pattern such as
    `photos/{image_id}.jpg`, or each by its id: a path, the bytes of a file, or a Pillow image. Without them, a group
    leaves out the metrics that look at images.
    """
    device: str | None
    """Where networks run: `cpu`, `cuda`, `cuda:1`, `mps`; by default the GPU, if there is one. Scores do not depend on
    it, except for the last digits.
    """
    judge: Endpoint | None
    """The language model that [`judge`](metrics/judge.md) asks. Without it, nothing is ever asked."""
    rubric: RubricSource | None
    """What captions should say, for `rubric` and `judge(rubric)`: `{image id: [item, …]}`, or the path of a file."""
    judge_prompt: str | PathLike[str] | None
    """A file with the text that asks, in place of ours."""
    scores: str | PathLike[str] | Mapping[str, Any] | OutsideScores | None
    """Scores that others computed: the path of a file, a dictionary of columns, a DataFrame. Each column is a metric by
    its name; the columns `image_id`, and `system` or `caption`, say what a row is of.
    """
    standard: object
    """Mean and deviation of metrics, for `z(…)`: `{metric: {"mean": …, "deviation": …}}`, or the path of a file."""


class WorkShare(float):
    """A finished share, 0 to 1, with the name of the work, for progress displays."""

    what: str

    def __new__(cls, share: float, what: str) -> WorkShare:
        self = super().__new__(cls, share)
        self.what = what
        return self


class Step(WorkShare):
    """The beginning of a step of a call: 0, with the name of the step."""


class Needs:
    """Values given for metrics' needs: a frozen mapping from names to values, with threads and progress.

    It also keeps what was made from a value (files that were read, vectors that were opened), so one `Needs` for many
    calls reads each file once.

    Args:
        inputs: values by name; None means that one was not given.
        threads: number of threads; 0 means one per core.
        progress: called with the finished share, 0 to 1, of slow preparations.
        image_of: the image of each image id of a corpus, if the ids are not those of the images. Judgments score
            several captions of one image, each under its own id.

    Examples:
        >>> needs = sacrecap.Needs({"objects": {"1": ["dog"], "2": ["bus"]}})
        >>> references, candidates = {"1": ["a dog runs"], "2": ["a red bus"]}, {"1": "a dog", "2": "a bus"}
        >>> list(sacrecap.score(references, candidates, "vifidel", needs=needs, interval=None))
        ['vifidel']
    """

    __slots__ = ("_cache", "_image_of", "_inputs", "_made_of", "progress", "threads")

    def __init__(
        self,
        inputs: Mapping[str, object] | None = None,
        *,
        threads: int = 0,
        progress: Callable[[float], object] | None = None,
        image_of: Mapping[str, str] | None = None,
    ) -> None:
        values = {name: value for name, value in (inputs or {}).items() if value is not None}
        frequencies = values.pop("document_frequency", None)
        if frequencies and not (isinstance(frequencies, str) and frequencies == CORPUS):
            from sacrecap.corpus.document_frequency import open_all_frequencies

            tell = progress or (lambda _: None)
            values["document_frequency"] = open_all_frequencies(
                frequencies, lambda name, done, all_: tell(WorkShare(done / max(1, all_), f"fetching {name}"))
            )
        self._inputs = values
        self._image_of = image_of
        self.threads = whole_number("threads", threads)
        self.progress = progress
        self._cache: dict[Hashable, Any] = {}
        self._made_of: WeakKeyDictionary[Corpus, dict[Hashable, Any]] = WeakKeyDictionary()

    @classmethod
    def of(
        cls,
        needs: Needs | Mapping[str, object] | None,
        inputs: Mapping[str, object],
        *,
        threads: int = 0,
        progress: Callable[[float], object] | None = None,
    ) -> Needs:
        """The needs of a call: those that it names by keyword (`inputs`), added to those that it gives as one value.

        Raises `UnknownOptionError` for a keyword that is not a need of the metrics here.
        """
        for name in inputs:
            if name not in Given.__annotations__:
                raise _unknown(name)
        changed = {name: value for name, value in inputs.items() if value is not None}
        if not isinstance(needs, Needs):
            return cls({**(needs or {}), **changed}, threads=threads, progress=progress)
        return needs.with_(changed, threads=threads or needs.threads, progress=progress or needs.progress)

    def with_(self, inputs: Mapping[str, object], **changes: Any) -> Needs:
        """The same with other values for these names; `changes`: other `threads`, `progress`, `image_of`."""
        settings = {"threads": self.threads, "progress": self.progress, "image_of": self._image_of}
        new = Needs({**self._inputs, **inputs}, **{**settings, **changes})
        if inputs.keys() <= {"document_frequency", "scores", "standard"}:  # of which nothing is made without a corpus
            new._cache = self._cache
        if not inputs:
            new._made_of = self._made_of
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Pickles only the given values; results are made again, and progress is not reported in other processes."""
        return {"inputs": self._inputs, "threads": self.threads, "image_of": self._image_of}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def get(self, name: str) -> Any:
        """The value of that name, None if it was not given."""
        return self._inputs.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._inputs

    def __repr__(self) -> str:
        return f"<Needs: {', '.join(self._inputs) or 'nothing given'}>"

    def described(self) -> dict[str, str]:
        """Each value as text that changes when the value does; a file by its size and the time it was written."""
        return {name: _described(value) for name, value in sorted(self._inputs.items())}

    @property
    def usage(self) -> Usage | None:
        """What a judge was asked, and what it cost; None if there was nothing to ask."""
        endpoint: Endpoint | None = self.get("judge")
        return endpoint.usage if endpoint is not None and endpoint.usage else None

    def images(self, corpus: Corpus) -> list[str]:
        """The image of each image id of the corpus."""
        if self._image_of is None:
            return corpus.image_ids
        return [self._image_of[image] for image in corpus.image_ids]

    def begin(self, step: str) -> None:
        """Tells whoever hears the progress that a step of the call begins."""
        if self.progress is not None:
            self.progress(Step(0, step))

    def once(self, key: Hashable, make: Callable[[], T], *, of: Corpus | None = None) -> T:
        """Returns `make()`, called once for this key; with `of`, once for that corpus and kept as long as it."""
        results = self._cache if of is None else self._made_of.setdefault(of, {})
        if key not in results:
            results[key] = make()
        return results[key]  # type: ignore[no-any-return]

    def check_known(self, names: set[str]) -> None:
        """Raises `UsageError` for a value that no metric of the call needs, and that is not a need of metrics here."""
        foreign = [name for name in self._inputs if name not in names and name not in Given.__annotations__]
        if foreign:
            accepted = ", ".join(sorted(names)) or "nothing"
            raise UsageError(f"needs: no metric of this call needs {foreign[0]!r}; they need: {accepted}")


def _unknown(name: str) -> UnknownOptionError:
    """The error for a keyword that is not a need; it names the function that has the keyword."""
    question = ""
    # Keywords of the readers of files, which the command line has on every command.
    readers = dict.fromkeys(("id_column", "caption_column", "image_ids", "split", "format"), "read_references")
    readers |= {"references_column": "read_both", "on_duplicate": "read_candidates"}
    if reader := readers.get(name):
        column = option(name, "VALUE", of=f"sacrecap.data.{reader}")
        remedy = f"read the file first, with {column}, and give what it returns"
    elif name == "on_extra":
        remedy = "candidates of images without references are an error; leave them out of what is given"
    else:
        question = did_you_mean(name, Given.__annotations__)
        remedy = "what metrics of other packages need is given as needs={name: value}"
    return UnknownOptionError(f"unexpected keyword argument {name!r}{question}; {remedy}")


def _described(value: object) -> str:
    if isinstance(value, (str, os.PathLike)) and os.path.exists(value):
        info = os.stat(value)
        return f"{os.fspath(value)} ({info.st_size} bytes, {info.st_mtime_ns})"
    if isinstance(value, tuple):
        return " ".join(map(_described, value))
    text = f"{value!r} {getattr(value, 'checksum', '')}".rstrip()
    if len(text) <= 200:
        return text
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
