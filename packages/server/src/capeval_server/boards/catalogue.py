"""What a benchmark allows: making one, submitting, seeing the board and the scores."""

from __future__ import annotations

import datetime as dt
import json
import re
import tempfile
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from capeval._core import Captions
from capeval.corpus.corpus import TOKENIZERS
from capeval.data import read_objects
from capeval.errors import CapevalError, DataError
from capeval.metrics.registry import parse_metrics
from capeval.resources.needs import Needs
from capeval_server.accounts.access import Caller, Role
from capeval_server.boards import scoring
from capeval_server.boards.check import problems_of
from capeval_server.jobs import jobs
from capeval_server.store import blobs
from capeval_server.store.models import Benchmark, Job, Submission, Team, now
from capeval_server.web.errors import Refused, not_found

if TYPE_CHECKING:
    from capeval.metrics import Metric
    from capeval_server.web.context import RequestContext

BOARDS = {
    "public": "everybody",
    "teams": "signed-in teams",
    "closed": "nobody else before the closing date, everybody afterwards",
}
"""Who sees the board."""
_SUPPLIED = {"references", "meteor_resources", "embeddings"}
"""What metrics may need here; objects too, where the benchmark has them."""
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


@dataclass(kw_only=True)
class Rules:
    """What can be changed while teams submit."""

    title: str
    description: str
    quota_day: int
    quota_total: int
    opens: dt.datetime | None
    closes: dt.datetime | None
    board: str
    own_scores: bool


@dataclass(kw_only=True)
class Form(Rules):
    """What an organiser fills in."""

    slug: str
    metrics: str
    tokenizer: str
    has_objects: bool = False

    def problems(self) -> list[str]:
        """What has to change; also writes the metrics out, each by its key."""
        found = []
        if not _SLUG.fullmatch(self.slug) or self.slug == "new":
            found.append("The short name may have lower-case letters, digits and hyphens, up to 60.")
        if not 3 <= len(self.title.strip()) <= 120:
            found.append("The title needs 3 to 120 characters.")
        if self.tokenizer not in TOKENIZERS:
            found.append(f"The tokenizer must be one of {', '.join(TOKENIZERS)}.")
        if self.board not in BOARDS:
            found.append(f"The board must be one of {', '.join(BOARDS)}.")
        if self.quota_day < 1 or self.quota_total < 1:
            found.append("Quotas must be 1 or more.")
        if self.opens and self.closes and self.opens >= self.closes:
            found.append("The closing date must be after the opening date.")
        if self.board == "closed" and self.closes is None:
            found.append("A board that is closed until the end needs a closing date.")
        if not self.own_scores and self.closes is None:
            found.append("Scores that are hidden until the end need a closing date.")
        return [*found, *self._metric_problems()]

    def _can_rank(self, metric: Metric) -> bool:
        """Distances would put the worst first; vectors of a name or path would be fetched or read by this server."""
        supplied = _SUPPLIED | ({"objects"} if self.has_objects else set())
        foreign = any(
            declared.names_a_place and getattr(part, declared.name) != declared.default
            for part in metric.parts
            for declared in part.parameters()
        )
        return not (set(metric.needs) - supplied or foreign or metric.lower_is_better or metric.unavailable(self._needs))

    @property
    def _needs(self) -> Needs:
        """What this benchmark gives metrics, as far as choosing them goes."""
        return Needs({"objects": {} if self.has_objects else None})

    def _metric_problems(self) -> list[str]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                metrics = parse_metrics(self.metrics, self._needs)
        except CapevalError as error:
            return [f"Metrics: {error}."]
        unfit = [metric.label for metric in metrics if not self._can_rank(metric)]
        if unfit:
            return [f"Metrics: a board cannot use {', '.join(unfit)} with what this benchmark has."]
        self.metrics = ", ".join(metric.key for metric in metrics)
        return []


def _objects(data: bytes) -> bytes:
    """Objects of any format as JSON by image and label. Raises `DataError`."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            return json.dumps(read_objects(file.name)).encode()
        except DataError as error:
            raise DataError(str(error).replace(file.name, "the file")) from None


def make(session: Session, caller: Caller, form: Form, references: bytes, objects: bytes | None = None) -> Benchmark:
    """A new benchmark. Raises `Refused` with every problem of the form and the references."""
    problems = form.problems()
    images = 0
    try:
        images = _check_references(references)
    except CapevalError as error:
        problems.append(f"References: {error}.")
    try:
        objects = _objects(objects) if objects else None
    except CapevalError as error:
        problems.append(f"Objects: {error}.")
    if session.execute(select(Benchmark.id).where(Benchmark.slug == form.slug)).first():
        problems.append("A benchmark of that short name exists.")
    if problems:
        raise Refused(422, "The benchmark cannot be made like this.", problems)
    assert caller.account_id is not None
    benchmark = Benchmark(owner_id=caller.account_id, references_sha=blobs.keep(session, references), images=images)
    benchmark.objects_sha = blobs.keep(session, objects) if objects else None
    change(benchmark, form)
    session.add(benchmark)
    session.flush()
    return benchmark


def change(benchmark: Benchmark, form: Form) -> None:
    """Writes the form's fields into the row."""
    for name, value in vars(form).items():
        if name != "has_objects":
            setattr(benchmark, name, value)


def _check_references(data: bytes) -> int:
    captions = Captions.parse(data, None, None)
    bare = [image for image, count in zip(captions.image_ids, captions.caption_counts(), strict=True) if count == 0]
    if bare:
        raise CapevalError(f"{len(bare)} images have no caption, such as {bare[0]!r}")
    if captions.image_count < 2:
        raise CapevalError("a benchmark needs two images or more")
    return captions.image_count


def find(session: Session, slug: str) -> Benchmark:
    """The benchmark of a short name; raises `Refused` (404)."""
    benchmark = session.execute(select(Benchmark).where(Benchmark.slug == slug)).scalar_one_or_none()
    if benchmark is None:
        raise not_found("benchmark")
    return benchmark


def visible(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same for its board; raises `Refused` (403) where the caller may not see it now."""
    benchmark = find(session, slug)
    if not sees_board(caller, benchmark):
        raise Refused(403, "The board of this benchmark is not shown to you now.")
    return benchmark


def owned(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same to manage; raises `Refused` (403) where it is somebody else's."""
    benchmark = find(session, slug)
    if not caller.owns(benchmark.owner_id):
        raise Refused(403, "This benchmark belongs to somebody else.")
    return benchmark


def every(session: Session) -> list[Benchmark]:
    """All benchmarks, the newest first."""
    return list(session.execute(select(Benchmark).order_by(Benchmark.created.desc(), Benchmark.id.desc())).scalars())


def with_counts(session: Session) -> list[tuple[Benchmark, int]]:
    """The same, each with the number of its submissions."""
    counts = select(Submission.benchmark_id, func.count()).group_by(Submission.benchmark_id)
    count = {row[0]: row[1] for row in session.execute(counts)}
    return [(benchmark, count.get(benchmark.id, 0)) for benchmark in every(session)]


def images_of(session: Session, benchmark: Benchmark) -> list[str]:
    """The images to caption. Their ids are public; teams need them."""
    return list(_Images.get(session, benchmark.references_sha))


class _Images:
    """Image ids by references; reading them from the file each time would make every upload slow."""

    _known: dict[str, tuple[str, ...]] = {}  # noqa: RUF012

    @classmethod
    def get(cls, session: Session, sha: str) -> tuple[str, ...]:
        if sha not in cls._known:
            if len(cls._known) > 100:
                cls._known.clear()
            cls._known[sha] = tuple(Captions.parse(blobs.fetch(session, sha), None, None).image_ids)
        return cls._known[sha]


def is_open(benchmark: Benchmark) -> bool:
    """Whether it takes submissions now."""
    return (benchmark.opens is None or benchmark.opens <= now()) and not is_over(benchmark)


def is_over(benchmark: Benchmark) -> bool:
    """Whether its closing date has passed."""
    return benchmark.closes is not None and benchmark.closes <= now()


def sees_board(caller: Caller, benchmark: Benchmark) -> bool:
    """Whether the caller may see all teams' scores."""
    if caller.owns(benchmark.owner_id):
        return True
    if benchmark.board == "closed":
        return is_over(benchmark)
    return benchmark.board == "public" or caller.role >= Role.MEMBER


def sees_scores(caller: Caller, benchmark: Benchmark) -> bool:
    """Whether the caller may see the scores of a submission of their own team."""
    return benchmark.own_scores or is_over(benchmark) or caller.owns(benchmark.owner_id)


def used(session: Session, benchmark: Benchmark, team_id: int) -> tuple[int, int]:
    """Submissions of the team that count, today (UTC) and in all; one that failed costs nothing."""
    mine = (
        select(func.count())
        .select_from(Submission)
        .join(Job, (Job.subject_id == Submission.id) & (Job.kind == scoring.KIND))
        .where(Submission.benchmark_id == benchmark.id, Submission.team_id == team_id, Job.state != "failed")
    )
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    return (
        session.execute(mine.where(Submission.created >= today)).scalar_one(),
        session.execute(mine).scalar_one(),
    )


@dataclass(frozen=True)
class Upload:
    """A file that a team sends."""

    data: bytes
    file_name: str
    system: str


def receive(context: RequestContext, slug: str, upload: Upload) -> tuple[Submission, bool]:
    """Checks a file completely, outside any transaction, and queues it: the submission, and whether it is new.

    Raises `Refused` with every problem of the file, or where the benchmark or the quota says no.
    """
    upload = replace(upload, system=" ".join(upload.system.split()))
    with context.database.read() as session:
        benchmark = find(session, slug)
        images = images_of(session, benchmark)
    check_upload(benchmark, images, upload)
    with context.database.write() as session:
        submission, new = submit(session, context.caller, benchmark, upload)
        if new:
            context.audit(session, "submitted", f"{slug} {submission.id}")
    context.state.jobs.wake()
    return submission, new


def check_upload(benchmark: Benchmark, images: list[str], upload: Upload) -> None:
    """Raises `Refused` with every problem of the file."""
    problems = problems_of(upload.data, images)
    if not 1 <= len(upload.system) <= 80:
        problems.insert(0, "The system needs a name of 1 to 80 characters.")
    if problems:
        raise Refused(422, f"The file cannot be scored on {benchmark.title}.", problems)


def submit(session: Session, caller: Caller, benchmark: Benchmark, upload: Upload) -> tuple[Submission, bool]:
    """Queues a checked file; gives the submission, and whether it is new: the same file twice is one submission.

    Raises `Refused` where the benchmark is not open or the quota is used up.
    """
    assert caller.account_id is not None
    if caller.team_id is None:
        raise Refused(403, "This account is in no team, and only teams submit.")
    # Two uploads of one team at once must not both be the last of the quota, nor both the first of the file.
    session.execute(select(Team.id).where(Team.id == caller.team_id).with_for_update())
    same = select(Submission).where(
        Submission.benchmark_id == benchmark.id,
        Submission.team_id == caller.team_id,
        Submission.file_sha == blobs.sha256(upload.data),
    )
    if known := session.execute(same).scalar_one_or_none():
        return known, False
    _check_open(session, benchmark, caller.team_id)
    submission = Submission(
        benchmark_id=benchmark.id, team_id=caller.team_id, account_id=caller.account_id,
        file_sha=blobs.keep(session, upload.data), file_name=upload.file_name[:200], system=upload.system,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    jobs.add(session, scoring.KIND, submission.id)
    return submission, True


def _check_open(session: Session, benchmark: Benchmark, team_id: int) -> None:
    if not is_open(benchmark):
        raise Refused(403, f"{benchmark.title} takes no submissions now.")
    today, total = used(session, benchmark, team_id)
    if total >= benchmark.quota_total:
        raise Refused(429, f"Your team has used all {benchmark.quota_total} submissions to {benchmark.title}.")
    if today >= benchmark.quota_day:
        raise Refused(429, f"Your team has used its {benchmark.quota_day} submissions of today (UTC).")
