"""An engine with its options, as calls and commands name it."""

from __future__ import annotations

from dataclasses import dataclass

from sacrecap.choices import ENGINES, IMAGE_IDS, ON_BAD_ROW, ON_DUPLICATE, ON_EXTRA, EngineName, OnBadRow
from sacrecap.data.cells import checked_separator
from sacrecap.engines import calls
from sacrecap.errors import UsageError, accepted_name, engine_option, option


@dataclass(frozen=True)
class EngineOptions:
    """An engine, and what a call says about it.

    Example:
        >>> options = sacrecap.engines.EngineOptions("ray", workers=4, per_image="scores/")
        >>> options.name, options.workers
        ('ray', 4)
    """

    name: EngineName = "local"
    address: str | None = None
    """Address of a Ray cluster; by default the one that runs, else one that is started on this machine."""
    workers: int | None = None
    """Parts that a cluster works on at once; by default as many as it has cores."""
    per_image: str | None = None
    """Folder, or its URL, for each image's scores: a Parquet data set, a file for each part of the input."""
    keep: str | None = None
    """Write only images for which this holds, as ``rouge-l > 0.3 and cider-d > 1``, with all columns of the input
    beside their scores: ``all`` for every image. For `per_image`. Of JSON lines, the column `line` has the whole line.
    """
    work: str | None = None
    """Folder, or its URL, that all machines reach, for what is put aside while the call runs; by default one in
    `per_image`, else a temporary folder of this machine.
    """
    resume: bool = False
    """Whether to go on where an earlier call with the same `per_image` or `work` was cut off."""
    on_bad_row: OnBadRow = "error"
    """What a row means that cannot be used: an error, or leave it out."""
    on_bad_file: OnBadRow = "error"
    """What a file means that cannot be read: an error, or leave it out, or the part of it that a worker reads."""
    skipped: str | None = None
    """File for the rows and files that were left out, with their reasons: JSON lines."""
    id_column: str = ""
    """Column of the image ids; by default the one that the format of the file has."""
    references_column: str | None = None
    """Column of the references: by default the one of the format, and none for `sacrecap.diversity`."""
    caption_columns: tuple[str, ...] = ()
    """Columns of the captions, a system each; by default the one of the format."""
    reference_format: str | None = None
    """Format of the references, one of `sacrecap.data.FORMATS`; by default recognised. Files whose format, split or
    encoding is named are read whole.
    """
    candidate_format: str | None = None
    """That of the candidates, or of caption sets."""
    split: str | None = None
    """The split of the references, of a file or folder that has splits."""
    encoding: str | None = None
    """Of text that is not UTF-8, such as ``"utf-16"``."""
    separator: str | None = None
    """What stands between several captions in one text: see [`read_references`][sacrecap.data.read_references]."""
    image_ids: str = "text"
    """Which part of image ids is compared between references and candidates, likewise."""
    on_extra: str = "error"
    """What a candidate of an image without references means: an error, or ``"skip"`` leaves it out."""
    on_duplicate: str = "error"
    """What several candidates of one image mean: see [`read_candidates`][sacrecap.data.read_candidates]."""
    by: str | None = None
    """Column of which each value is a group of images, whose scores are wanted, too."""
    memory: int = 512 << 20
    """Bytes that counts of n-grams may take in memory before they go to disk; a language model must fit into them."""

    def __post_init__(self) -> None:
        accepted_name("engine", self.name, ENGINES)
        accepted_name("on_bad_row", self.on_bad_row, ON_BAD_ROW)
        accepted_name("on_bad_file", self.on_bad_file, ON_BAD_ROW)
        accepted_name("image_ids", self.image_ids, IMAGE_IDS)
        accepted_name("on_extra", self.on_extra, ON_EXTRA)
        accepted_name("on_duplicate", self.on_duplicate, ON_DUPLICATE)
        if self.separator is not None:
            checked_separator(self.separator)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers must be at least 1, got {self.workers}")
        if self.memory < 1:
            raise UsageError(f"memory must be a number of bytes above 0, got {self.memory}")
        if self.keep is not None and self.per_image is None:
            raise UsageError(
                f"{engine_option('keep')} says what is written to {option('per_image')}; give a folder for it"
            )
        if self.resume and self.per_image is None and self.work is None:
            places = f"{option('per_image')}, or of {engine_option('work')}"
            raise UsageError(f"{engine_option('resume')} goes on in the folder of {places}; give one")

    score = calls.score
    compare = calls.compare
    diversity = calls.diversity
    document_frequency = calls.document_frequency
