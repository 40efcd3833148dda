"""Making a benchmark, and changing its rules."""

from __future__ import annotations

import datetime as dt
import json
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap._core import Captions
from sacrecap.boards.scored import default_ranking
from sacrecap.choices import OWN_TOKENIZERS
from sacrecap.data import read_objects
from sacrecap.errors import DataError, SacrecapError
from sacrecap.metrics.not_scored import computable
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap_server.accounts.access import Caller
from sacrecap_server.boards import parts
from sacrecap_server.boards.catalogue import BOARDS, VISIBILITIES, is_over
from sacrecap_server.errors import Refused
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, BenchmarkSplit, SecondReferences, now
from sacrecap_studies.messages import Message

if TYPE_CHECKING:
    from sacrecap.metrics import Metric

_SUPPLIED = {"references", "embeddings", "vocabulary"}
"""Needs that metrics may have here; objects too, where the benchmark has them."""
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Fields that can be changed while teams submit."""

    title: str
    description: str
    quota_day: int
    quota_total: int
    opens: dt.datetime | None
    closes: dt.datetime | None
    board: str
    own_scores: bool
    visibility: str = "public"
    host: str = ""
    prize: str = ""
    challenge: str = ""
    phase: str = ""
    rules: str = ""
    most_degenerate: int = 5
    most_same: int = 30
    longest_words: int = 100
    rank_by: str = ""
    """The metric that ranks the board; empty: as before, and at first CIDEr-D, or else the first."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkForm(Rules):
    """Fields that an organiser fills in."""

    slug: str
    metrics: str
    tokenizer: str
    has_objects: bool = False
    private_share: int = 0
    """Per cent of the images to draw for the private part; 0 if there are no parts, or the images are given."""

    def problems(self) -> list[str]:
        """Problems to correct."""
        return [text for wrong, text in self._checks() if wrong] + self._metric_problems()

    def _checks(self) -> Iterator[tuple[bool, str]]:
        """Whether something is wrong, and what."""
        yield (
            not _SLUG.fullmatch(self.slug) or self.slug == "new",
            Message("The short name may have lower-case letters, digits and hyphens, up to 60."),
        )
        yield not 3 <= len(self.title.strip()) <= 120, Message("The title needs 3 to 120 characters.")
        for what, given, names in (
            ("tokenizer", self.tokenizer, OWN_TOKENIZERS),
            ("board", self.board, BOARDS),
            ("visibility", self.visibility, VISIBILITIES),
        ):
            yield given not in names, Message("%(name)s is one of %(names)s.", name=what, names=", ".join(names))
        yield self.quota_day < 1 or self.quota_total < 1, Message("Quotas must be 1 or more.")
        yield (
            self.opens is not None and self.closes is not None and self.opens >= self.closes,
            Message("The closing date must be after the opening date."),
        )
        endless = self.closes is None
        yield endless and self.board == "closed", Message("A board that is closed until the end needs a closing date.")
        yield endless and not self.own_scores, Message("Scores that are hidden until the end need a closing date.")
        yield (
            bool(self.challenge) != bool(self.phase),
            Message("A challenge has phases, so give both the challenge and this phase's name, or neither."),
        )
        yield (
            len(self.challenge) > 120 or len(self.phase) > 60,
            Message("The name of the challenge may have 120 characters, and that of the phase 60."),
        )

        yield (
            len(self.host) > 120 or len(self.prize) > 200,
            Message("The host may have 120 characters, and the prize 200."),
        )

    def _can_rank(self, metric: Metric) -> bool:
        """Distances would put the worst first; vectors of a name or path would be fetched or read by this server."""
        supplied = _SUPPLIED | ({"objects"} if self.has_objects else set())
        foreign = any(
            declared.names_a_place and getattr(part, declared.name) != declared.default
            for part in metric.parts
            for declared in part.parameters()
        )
        return not (
            set(metric.needs) - supplied or foreign or metric.lower_is_better or metric.status(self._needs).hindrance
        )

    @property
    def _needs(self) -> Needs:
        """Needs of metrics that this benchmark fulfils, as far as choosing them goes."""
        return Needs({"objects": {} if self.has_objects else None})

    def parsed_metrics(self) -> tuple[Metric, ...]:
        """The metrics, without those of groups that need what is not here. Raises `SacrecapError`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return computable(parse_metrics(self.metrics, self._needs))

    def _metric_problems(self) -> list[str]:
        try:
            metrics = self.parsed_metrics()
        except SacrecapError as error:
            return [Message("Metrics: %(error)s.", error=error)]
        unfit = [metric.label for metric in metrics if not self._can_rank(metric)]
        keys = [metric.key for metric in metrics]
        if self.rank_by and self.rank_by not in keys:
            return [
                Message(
                    "The board can be ranked by %(names)s, not by %(name)s.",
                    names=", ".join(keys),
                    name=repr(self.rank_by),
                )
            ]
        if not unfit:
            return []
        names = ", ".join(unfit)
        return [Message("Metrics: a board cannot use %(names)s with what this benchmark has.", names=names)]


def _objects(data: bytes) -> bytes:
    """Objects of any format as JSON by image and label. Raises `DataError`."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            return json.dumps(read_objects(file.name)).encode()
        except DataError as error:
            raise DataError(str(error).replace(file.name, "the file")) from None


@dataclass(frozen=True)
class HiddenFiles:
    """What an organiser uploads, as bytes; empty where there is nothing."""

    references: bytes
    objects: bytes = b""
    private: bytes = b""
    """The ids of the private images."""
    second: bytes = b""
    """A second set of references."""


def make(
    session: Session, caller: Caller, form: BenchmarkForm, files: HiddenFiles, like: Benchmark | None = None
) -> Benchmark:
    """A new benchmark; without references, it takes both sets of `like`, another phase of the caller's.

    Raises `Refused` with every problem of the form and the files.
    """
    same_images = like if not files.references else None
    if same_images is not None:
        files = _like(session, files, same_images)
    image_ids, part, problems = _checked_files(form, files)
    twins = _of_the_same_images(session, caller, files)
    problems += _problems_beside(session, form, files, twins)
    objects = None
    try:
        objects = _objects(files.objects) if files.objects else None
    except SacrecapError as error:
        problems.append(Message("Objects: %(error)s.", error=error))
    if session.execute(select(Benchmark.id).where(Benchmark.slug == form.slug)).first():
        problems.append(Message("A benchmark of that short name exists."))
    problems = form.problems() + problems
    if problems:
        raise Refused(422, "The benchmark cannot be made like this.", problems)
    assert caller.account_id is not None
    sha = blobs.keep(session, files.references)
    benchmark = Benchmark(owner_id=caller.account_id, references_sha=sha, images=len(image_ids))
    benchmark.objects_sha = blobs.keep(session, objects) if objects else None
    if part is not None:
        benchmark.second = SecondReferences(references_sha=blobs.keep(session, files.second), part=part)
    change(benchmark, form)
    session.add(benchmark)
    session.flush()
    with_parts = next((one for one in twins if session.get(BenchmarkSplit, one.id) is not None), None)
    parts.split(session, benchmark, image_ids, form.private_share, files.private, like=with_parts)
    return benchmark


def _of_the_same_images(session: Session, caller: Caller, files: HiddenFiles) -> list[Benchmark]:
    """The caller's benchmarks with these references."""
    same = Benchmark.references_sha == blobs.sha256(files.references)
    return list(session.execute(select(Benchmark).where(same, Benchmark.owner_id == caller.account_id)).scalars())


def _problems_beside(
    session: Session, form: BenchmarkForm, files: HiddenFiles, others: list[Benchmark]
) -> Iterator[str]:
    """Of two benchmarks on the same images, neither may show scores of what is private in the other."""
    has_parts = bool(form.private_share or files.private)
    for other in others:
        others_parts = session.get(BenchmarkSplit, other.id)
        if has_parts and others_parts is None:
            yield Message(
                "Private part: %(title)s has the same references, and its board scores all images. Take others.",
                title=other.title,
            )
        elif files.private and others_parts is not None and not is_over(other):
            yield Message(
                "Private part: it is that of %(title)s, which has the same references. Leave the field empty.",
                title=other.title,
            )
        elif not has_parts and others_parts is not None and not is_over(other):
            yield Message(
                "Private part: it is needed, because this board would score images that are private in %(title)s, "
                "which is still open.",
                title=other.title,
            )


def _like(session: Session, files: HiddenFiles, other: Benchmark) -> HiddenFiles:
    """The files with the references of another benchmark, and its second ones if none are given."""
    second = files.second
    if other.second is not None and not second:
        second = blobs.fetch(session, other.second.references_sha)
    return replace(files, references=blobs.fetch(session, other.references_sha), second=second)


def _checked_files(form: BenchmarkForm, files: HiddenFiles) -> tuple[list[str], str | None, list[str]]:
    """The images, the part of the second references if there are any, and the problems of all references."""
    try:
        image_ids = _checked(files.references).image_ids
    except SacrecapError as error:
        return [], None, [Message("References: %(error)s.", error=error)]
    problems = parts.problems(image_ids, form.private_share, files.private)
    has_parts = bool(form.private_share or files.private)
    if has_parts and form.closes is None:
        problems.append(Message("Private part: it needs a closing date, after which its scores are shown."))
    if not files.second:
        return image_ids, None, problems
    if has_parts:
        problems.append(Message("Second references: they would show scores of the private images; leave one out."))
    try:
        second = _checked(files.second)
    except SacrecapError as error:
        return image_ids, None, [*problems, Message("Second references: %(error)s.", error=error)]
    return image_ids, parts.second_part(second), problems + parts.problems_of_second(second, image_ids)


def problems_of_change(session: Session, benchmark: Benchmark, form: BenchmarkForm) -> list[str]:
    """Opened again, a benchmark would let teams choose by the private scores that they have seen."""
    stays_over = form.closes is not None and form.closes <= now()
    if stays_over or not is_over(benchmark) or session.get(BenchmarkSplit, benchmark.id) is None:
        return []
    return [Message("Closes: the private scores are shown, so the benchmark stays closed. Add a phase instead.")]


def change(benchmark: Benchmark, form: BenchmarkForm) -> None:
    """Writes the form's fields into the row; the metrics by their keys, so that no group changes under a board."""
    if is_over(benchmark) and (form.closes is None or form.closes > now()):
        benchmark.reopened = now()
    if form.rules != (benchmark.rules or ""):
        benchmark.rules_version = (benchmark.rules_version or 0) + 1
    for name, value in vars(form).items():
        if name not in ("has_objects", "metrics", "rank_by", "private_share"):
            setattr(benchmark, name, value)
    metrics = [metric.key for metric in form.parsed_metrics()]
    benchmark.metrics = ", ".join(metrics)
    benchmark.rank_by = form.rank_by or benchmark.rank_by or default_ranking(metrics)


def _checked(data: bytes) -> Captions:
    """The references of each image. Raises `SacrecapError`."""
    captions = Captions.parse(data, None, None)
    bare = [image for image, count in zip(captions.image_ids, captions.caption_counts(), strict=True) if count == 0]
    if bare:
        raise SacrecapError(f"{len(bare)} images have no caption, such as {bare[0]!r}")
    if captions.image_count < 2:
        raise SacrecapError("a benchmark needs two images or more")
    return captions
