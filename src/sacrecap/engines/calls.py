"""`sacrecap.score` and its sisters on an engine: what they are asked for, and what they return."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.corpus.corpus import signed
from sacrecap.data.atomic import atomic_write
from sacrecap.data.partitioned.condition import Condition
from sacrecap.data.partitioned.files import join_url
from sacrecap.data.source import Reading, is_remote
from sacrecap.engines.driver import Run, compared, results
from sacrecap.engines.plan import Engine, Plan, Sets
from sacrecap.engines.stream import StreamEngine
from sacrecap.engines.work import WorkFolder
from sacrecap.errors import UsageError, option, spelled, warn
from sacrecap.scoring.compare import checked_attempts
from sacrecap.scoring.diversity import check_top

if TYPE_CHECKING:
    from sacrecap.choices import Test, Tokenizer
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.data.partitioned import BadRow, ChosenColumns, Part
    from sacrecap.engines.engine_options import EngineOptions
    from sacrecap.engines.passes import Partial
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity
    from sacrecap.scoring.intervals import Resampling
    from sacrecap.scoring.result import Result, Score

SYSTEM = "system"


class Input:
    """Where the rows are: joined rows, or references and each system's candidates, which are joined by image id."""

    def __init__(self, rows: object, systems: Mapping[str, object] | None = None, *, described: bool = True) -> None:
        self.rows = [*map(_file_of, _paths(rows, "references"))]
        """Joined rows, or references."""
        self.systems = None if systems is None else {name: _paths(own, name) for name, own in systems.items()}
        self.described = described
        """Whether there are references."""

    @classmethod
    def of_sets(cls, sets: object, references: object, options: EngineOptions) -> Input:
        """Caption sets: in rows, or, with references apart, files of each system by its name."""
        if options.on_duplicate != "error":
            raise UsageError(
                f"{option('on_duplicate')} is for one caption per image, and a caption set has several; leave it out"
            )
        if references is None:
            return cls(sets, described=options.references_column is not None)
        if isinstance(sets, Mapping):
            return cls(references, sets)
        from sacrecap.data.source import system_name

        paths = _paths(sets, "sets")
        return cls(references, {system_name(paths[0]): paths})


def score(
    options: EngineOptions,
    references: object,
    candidates: object,
    metrics: Sequence[Metric],
    *,
    resampling: Resampling,
    **how: Any,
) -> Result:
    """One system's scores: see [`sacrecap.score`][]. References without candidates are rows that have both.

    Here and below, `how` goes into the plan as it is: the needs, the tokenizer, what to do with images that lack one.
    """
    source = Input(references, None if candidates is None else {SYSTEM: candidates})
    resampling = _drawn(options.name, resampling)
    columns = options.caption_columns or ("",)
    needed = any(part.needs_references for whole in metrics for part in whole.parts)
    described = needed or source.systems is not None or options.references_column is not None
    if len(columns) > 1:
        raise UsageError(
            f"score takes one caption column, here are {len(columns)}; sacrecap compare scores several systems"
        )
    chosen = _columns(options, columns, described=described)
    plan = _plan(metrics, options, resampling, columns=chosen, systems=(SYSTEM,), **how)
    with _run(plan, source, options) as run:
        found, whole = results(run, resampling)
        _finish(run, whole, found[SYSTEM], options)
        return found[SYSTEM]


def compare(
    options: EngineOptions,
    references: object,
    systems: Mapping[str, object] | None,
    metrics: Sequence[Metric],
    *,
    test: Test | None,
    alpha: float,
    correction: str,
    attempts: int | Mapping[str, int],
    resampling: Resampling,
    **how: Any,
) -> Comparison:
    """Several systems' scores and paired tests: see [`sacrecap.compare`][]."""
    source = Input(references, systems)
    resampling = _drawn(options.name, resampling)
    _check_test(options.name, test)
    names = tuple(source.systems or options.caption_columns)
    several = checked_attempts(names, attempts, test="bootstrap", alpha=alpha, correction=correction)
    columns = _columns(options, options.caption_columns or names)
    how["samples"] = resampling.samples  # of the tests, whether or not there are intervals
    plan = _plan(metrics, options, resampling, columns=columns, systems=names, **how)
    with _run(plan, source, options) as run:
        found, whole = compared(run, resampling, alpha=alpha, correction=correction, attempts=several)
        _finish(run, whole, next(iter(found.values())), options)
        return found


def diversity(
    options: EngineOptions,
    sets: object,
    references: object,
    metrics: Sequence[Metric],
    *,
    accuracy: Metric,
    beta2: float,
    top: int | None,
    test: Test | None,
    training: object,
    resampling: Resampling,
    **how: Any,
) -> Diversity:
    """Figures of one or several systems' caption sets: see [`sacrecap.diversity`][]."""
    from sacrecap.engines import caption_sets

    _check_test(options.name, test)
    source = Input.of_sets(sets, references, options)
    if training is not None:
        raise UsageError(
            f"novel captions are found with all images in memory, which the engine {options.name} never has; take "
            f"{option('engine', 'local')}, or leave out {option('training')}"
        )
    resampling = _drawn(options.name, resampling)
    check_top(top, described=source.described)
    systems = tuple(source.systems or options.caption_columns or ("captions",))
    columns = _columns(options, options.caption_columns or ("",), described=source.described)
    about = Sets(accuracy, beta2, top, source.described)
    plan = _plan(metrics, options, resampling, columns=columns, systems=systems, sets=about, **how)
    with _run(plan, source, options) as run:
        found, whole = caption_sets.diversity(run, resampling)
        _finish(run, whole, next(iter(found.values())), options)
        return found


def document_frequency(
    options: EngineOptions, references: object, *, tokenizer: Tokenizer, n: int, stem: bool, threads: int = 0
) -> DocumentFrequency:
    """Document frequencies of references: those that [`sacrecap.DocumentFrequency.build`][] counts in memory."""
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.metrics.cider import CiderD, CiderPaper
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.intervals import Resampling

    source, metric = Input(references, {}), CiderPaper(n=n) if stem else CiderD(n=n)
    plan = _plan(
        (metric,),
        options,
        Resampling(interval=None),
        needs=Needs(threads=threads),
        columns=_columns(options, ()),
        systems=(),
        tokenizer=tokenizer,
    )
    with _run(plan, source, options) as run:
        counted = run.known(1).get()["references"].frequencies(stems=stem)
        _write_skipped(run.skipped, options)
    return DocumentFrequency(counted._core, "built")


def _plan(metrics: Sequence[Metric], options: EngineOptions, resampling: Resampling, **how: Any) -> Plan:
    drawn: dict[str, Any] = {"samples": resampling.draws, "seed": resampling.seed}
    drawn |= {"on_bad_row": options.on_bad_row, "on_bad_file": options.on_bad_file, "by": options.by}
    if options.keep is not None:
        drawn["keep"] = Condition.parse(options.keep)
        if how.get("sets") is None:
            drawn["keep"].check([metric.key for metric in metrics])
    return Plan(tuple(metrics), **{**drawn, **how})


def _drawn(engine: str, resampling: Resampling) -> Resampling:
    """The resampling, by the Poisson bootstrap. Raises `UsageError` for intervals that need all images in memory."""
    resampling = resampling.drawn("poisson")
    method, bootstrap = resampling.interval_method, resampling.bootstrap
    if resampling.interval is not None and (method != "percentile" or bootstrap != "poisson"):
        what = f"interval method {method}" if method != "percentile" else f"bootstrap {bootstrap}"
        remedy = spelled(python='bootstrap="poisson", interval=None', command="--interval 0.95, or none")
        raise UsageError(
            f"the {what} needs the statistics of all images in memory, which the engine {engine} never has; take "
            f"{remedy}, or {option('engine', 'local')}"
        )
    return resampling


def _check_test(engine: str, test: Test | None) -> None:
    if test not in (None, "bootstrap"):
        raise UsageError(
            f"the test {test} needs the scores of all images in memory, which the engine {engine} never has; take "
            f"{option('test', 'bootstrap')}, or {option('engine', 'local')}"
        )


def _columns(options: EngineOptions, captions: Iterable[str], *, described: bool = True) -> ChosenColumns:
    from sacrecap.data.partitioned import ChosenColumns

    references = options.references_column or "" if described else None
    return ChosenColumns(options.id_column, references, tuple(captions), group=options.by)


def _readings(options: EngineOptions) -> tuple[Reading, Reading]:
    """How files of references, or of rows that have both, are read; and those of candidates."""
    how = options.encoding, options.separator
    return Reading(options.reference_format, options.split, *how), Reading(options.candidate_format, None, *how)


def _reading_of_both(options: EngineOptions) -> Reading:
    """How the only input is read, whatever is in it."""
    described, captioned = _readings(options)
    return described._replace(format=described.format or captioned.format)


def _check_one_input(options: EngineOptions) -> None:
    """Raises `UsageError` for options about references and candidates that are in different files."""
    for name in ("image_ids", "on_extra", "on_duplicate"):
        if getattr(options, name) not in ("text", "error"):
            raise UsageError(
                f"{option(name)} is for references and candidates in different files, and not for rows that hold both; "
                f"leave it out, or take {option('engine', 'local')}"
            )


@contextmanager
def _run(plan: Plan, source: Input, options: EngineOptions) -> Iterator[Run]:
    """A run that is ready; where the block ends well, what was put aside goes, and each image's scores are whole."""
    from sacrecap.data.partitioned import ImageScores, find_parts

    plan.check(options.name)
    per_image, kept = _place(options.per_image), _place(options.work)
    if kept is None and per_image is not None:
        kept = join_url(per_image, "_work")
    with ExitStack() as stack:
        engine = make(options, plan.threads)
        stack.callback(engine.close)
        plan = replace(plan, needs=_sent(plan.needs, engine))
        bad: list[BadRow] | None = [] if plan.on_bad_file == "skip" else None
        if source.systems is None:
            _check_one_input(options)
            parts = find_parts(source.rows, reading=_reading_of_both(options), bad=bad)
        scores = None if per_image is None else ImageScores(per_image, plan.keep)
        if scores is not None:
            scores.begin(resume=options.resume)  # first: what a call left that was cut off is not to be lost
        work = None if kept is None else WorkFolder(kept)
        if work is not None:
            work.begin(_description(plan, source, options), resume=options.resume)
        if source.systems is not None:
            plan, parts, bad = _joined(plan, source, options, engine)
        yield Run(engine, plan, parts, options.memory, scores, work, bad or [])
        if work is not None:
            work.finish()


def _sent(needs: Needs, engine: Engine) -> Needs:
    """What workers get: on other machines, frequencies of a file as they are, since the file need not be there."""
    frequencies = needs.get("document_frequency")
    if engine.in_order or frequencies is None:
        return needs.with_({}, threads=engine.threads)
    return needs.with_({"document_frequency": [one.in_memory() for one in frequencies]}, threads=engine.threads)


def _joined(plan: Plan, source: Input, options: EngineOptions, engine: Engine) -> tuple[Plan, list[Part], list[BadRow]]:
    """References and candidates joined by image id: the plan for joined rows, their parts, rows that were left out."""
    from sacrecap.engines.joining import join

    caption = options.caption_columns[0] if options.caption_columns else ""
    found = join(
        engine,
        source.rows,
        source.systems or {},
        image_id=options.id_column,
        references_column=options.references_column or "",
        caption_column=caption,
        group=options.by,
        readings=_readings(options),
        image_ids=options.image_ids,
        on_missing=plan.on_missing,
        on_extra=options.on_extra,
        on_duplicate=options.on_duplicate,
        on_bad_row=plan.on_bad_row,
        on_bad_file=plan.on_bad_file,
        sets=plan.sets is not None,
    )
    if found.left_out:
        warn(f"{found.left_out:,} images without a candidate were left out")
    return replace(plan, columns=found.columns, matched=found.matched), found.parts, found.bad


def _description(plan: Plan, source: Input, options: EngineOptions) -> dict[str, object]:
    """All that the results of parts depend on beside the parts, for a call that goes on with them."""
    return {
        "sacrecap": _core.__version__,
        "joined": source.systems is not None,
        "metrics": ", ".join(str(metric) for metric in plan.scored),
        "systems": ", ".join(plan.systems),
        "columns": ", ".join(map(str, plan.columns)),
        "needs": plan.needs.described(),
        "on missing": plan.on_missing,
        "tokenizer": signed(plan.tokenizer),
        "samples": plan.samples,
        "seed": plan.seed,
        "on bad rows": plan.on_bad_row,
        "on bad files": plan.on_bad_file,
        "caption sets": str(plan.sets),
        "keep": options.keep,
        "files": str((*_readings(options), options.image_ids, options.on_extra, options.on_duplicate, options.by)),
    }


def _place(url: str | None) -> str | None:
    """The folder's absolute path, since workers have folders of their own; or its URL."""
    return url if url is None or is_remote(url) else os.path.abspath(url)


def make(options: EngineOptions, threads: int) -> Engine:
    """The engine. Raises `MissingDependencyError` where Ray is not installed."""
    if options.name == "stream":
        return StreamEngine(threads)
    from sacrecap.engines.ray import RayEngine

    return RayEngine(options.address, options.workers)


def _file_of(path: str) -> str:
    """The path, or the file of the test set of this name."""
    if os.path.exists(path):
        return path
    from sacrecap.data.testsets import find

    return find(path) or path


def _paths(given: object, part: str) -> list[str]:
    """The files, folders or patterns that a call names."""
    if given == "-":
        raise UsageError(
            f"{part}: standard input can be read once, and an engine reads its input several times; write it to a "
            f"file, or take {option('engine', 'local')}"
        )
    if isinstance(given, (str, PathLike)):
        return [fspath(given)]
    if isinstance(given, Sequence) and given and all(isinstance(one, (str, PathLike)) for one in given):
        return [fspath(one) for one in given]
    raise UsageError(
        f"{part}: an engine reads files; give the path of a file, a folder or a pattern, or a list of such, and not a "
        f"{type(given).__name__} (captions in memory are for engine='local')"
    )


def _finish(run: Run, whole: Partial, scored: Mapping[str, Score], options: EngineOptions) -> None:
    """Writes the rows that were left out, and makes each image's scores whole."""
    _write_skipped([*run.skipped, *whole.skipped], options)
    if run.scores is not None:
        signatures = {key: score.signature for key, score in scored.items()}
        about = {"sacrecap": _core.__version__, "systems": list(run.plan.systems), "signatures": signatures}
        about |= {} if options.keep is None else {"keep": options.keep}
        place = {run.scores.name(part): part.number for part in run.parts}
        run.scores.finish(about, sorted(whole.written, key=lambda one: place[one.file]))


def _write_skipped(skipped: Sequence[BadRow], options: EngineOptions) -> None:
    """Warns of the rows and files that were left out, and writes them where the call says."""
    skipped = sorted(skipped, key=lambda one: (one.file, one.row or 0))
    where = "" if options.skipped is None else f"; {options.skipped} has all"
    for what, left in (
        ("rows were left out", [one for one in skipped if one.row is not None]),
        ("files or parts of files cannot be read and were left out", [one for one in skipped if one.row is None]),
    ):
        if left:
            warn(f"{len(left):,} {what}, the first is {left[0]}{where}")
    if skipped and options.skipped is not None:
        with atomic_write(options.skipped, "w") as file:
            for row in skipped:
                file.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")
