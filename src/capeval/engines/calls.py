"""`capeval.score` and its sisters on an engine: what they are asked for, and what they return."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from capeval.data.atomic import atomic_write
from capeval.engines.driver import Run, compared, results
from capeval.engines.plan import Engine, EngineOptions, Plan, Sets
from capeval.engines.stream import StreamEngine
from capeval.errors import UsageError, warn
from capeval.scoring.diversity import check_top
from capeval.scoring.score import check_bootstrap

if TYPE_CHECKING:
    from capeval.corpus.corpus import OnMissing, Tokenizer
    from capeval.data.partitioned import BadRow, Columns
    from capeval.metrics import Metric
    from capeval.resources.needs import Needs
    from capeval.scoring.comparison import Comparison
    from capeval.scoring.diversity_result import Diversity
    from capeval.scoring.result import Result

SYSTEM = "system"


class Input:
    """Where the rows are: joined rows, or references and each system's candidates, which are joined by image id."""

    def __init__(self, rows: object, systems: Mapping[str, object] | None = None, *, described: bool = True) -> None:
        self.rows = _paths(rows, "references")
        """Joined rows, or references."""
        self.systems = None if systems is None else {name: _paths(own, name) for name, own in systems.items()}
        self.described = described
        """Whether there are references."""


    @classmethod
    def of_sets(cls, sets: object, references: object, options: EngineOptions) -> Input:
        """Caption sets: in rows, or, with references apart, files of each system by its name."""
        if references is None:
            return cls(sets, described=options.references_column is not None)
        if isinstance(sets, Mapping):
            return cls(references, sets)
        from capeval.data.source import system_name

        paths = _paths(sets, "sets")
        return cls(references, {system_name(paths[0]): paths})


def score(
    source: Input,
    metrics: Sequence[Metric],
    options: EngineOptions,
    *,
    needs: Needs,
    tokenizer: Tokenizer,
    on_missing: OnMissing,
    interval: float | None,
    interval_method: str,
    bootstrap: str,
    samples: int,
    seed: int,
    threads: int,
) -> Result:
    """One system's scores, as [`capeval.score`][] returns them; of per-image scores and captions, a sample's."""
    check_bootstrap(interval, samples, seed, interval_method, bootstrap)
    _check_intervals(options.name, interval, interval_method, bootstrap)
    columns = options.caption_columns or ("candidate",)
    if len(columns) > 1:
        raise UsageError(
            f"score takes one caption column, here are {len(columns)}; capeval compare scores several systems"
        )
    plan = Plan(
        tuple(metrics), needs, _columns(options, columns), (SYSTEM,), tokenizer, samples if interval else 0, seed,
        threads, options.on_bad_row, on_missing,
    )  # fmt: skip
    with _run(plan, source, options) as run:
        found, whole = results(run, level=interval)
        _write_skipped(whole.skipped, options)
        return found[SYSTEM]


def compare(
    source: Input,
    metrics: Sequence[Metric],
    options: EngineOptions,
    *,
    needs: Needs,
    tokenizer: Tokenizer,
    on_missing: OnMissing,
    test: str,
    samples: int,
    alpha: float,
    correction: str,
    interval: float | None,
    interval_method: str,
    bootstrap: str,
    seed: int,
    threads: int,
) -> Comparison:
    """Several systems' scores and paired tests, as [`capeval.compare`][] returns them."""
    check_bootstrap(interval, samples, seed, interval_method, bootstrap)
    _check_intervals(options.name, interval, interval_method, bootstrap)
    if test != "bootstrap":
        raise UsageError(
            f"the test {test} needs the scores of all images in memory, which the engine {options.name} never has; "
            "take --test bootstrap (test='bootstrap' in Python), or --engine local"
        )
    systems = tuple(source.systems or options.caption_columns)
    plan = Plan(
        tuple(metrics), needs, _columns(options, options.caption_columns or systems), systems, tokenizer, samples, seed,
        threads, options.on_bad_row, on_missing,
    )  # fmt: skip
    with _run(plan, source, options) as run:
        found, whole = compared(run, level=interval, samples=samples, alpha=alpha, correction=correction)
        _write_skipped(whole.skipped, options)
        return found


def diversity(
    source: Input,
    metrics: Sequence[Metric],
    options: EngineOptions,
    *,
    accuracy: Metric,
    beta2: float,
    top: int | None,
    needs: Needs,
    tokenizer: Tokenizer,
    interval: float | None,
    interval_method: str,
    bootstrap: str,
    samples: int,
    seed: int,
    threads: int,
) -> Diversity:
    """Figures of one or several systems' caption sets, as [`capeval.diversity`][] returns them."""
    from capeval.engines import sets

    check_bootstrap(interval, samples, seed, interval_method, bootstrap)
    _check_intervals(options.name, interval, interval_method, bootstrap)
    check_top(top, described=source.described)
    systems = tuple(source.systems or options.caption_columns or ("captions",))
    columns = _columns(options, options.caption_columns or systems, described=source.described)
    plan = Plan(
        tuple(metrics), needs, columns, systems, tokenizer, samples if interval else 0, seed, threads,
        options.on_bad_row, sets=Sets(accuracy, beta2, top, source.described),
    )  # fmt: skip
    with _run(plan, source, options) as run:
        found, whole = sets.diversity(run, level=interval)
        _write_skipped(whole.skipped, options)
        return found


def _check_intervals(engine: str, interval: float | None, method: str, bootstrap: str) -> None:
    if interval is not None and (method != "percentile" or bootstrap != "poisson"):
        what = f"interval method {method}" if method != "percentile" else f"bootstrap {bootstrap}"
        raise UsageError(
            f"the {what} needs the statistics of all images in memory, which the engine {engine} never has; take "
            "--bootstrap poisson (bootstrap='poisson' in Python), --interval none, or --engine local"
        )


def _columns(options: EngineOptions, captions: Iterable[str], *, described: bool = True) -> Columns:
    from capeval.data.partitioned import Columns

    return Columns(options.id_column, options.references_column or "references" if described else None, tuple(captions))


@contextmanager
def _run(plan: Plan, source: Input, options: EngineOptions) -> Iterator[Run]:
    from capeval.data.partitioned import find_parts

    plan.check(options.name)
    engine = make(options, plan.threads)
    try:
        parts = find_parts(source.rows)
        scores = None
        if options.per_image is not None:
            from capeval.data.partitioned import ImageScores

            scores = ImageScores(options.per_image)
        yield Run(engine, replace(plan, threads=engine.threads), parts, options.memory, scores, None)
    finally:
        engine.close()


def make(options: EngineOptions, threads: int) -> Engine:
    """The engine. Raises `MissingDependencyError` where Ray is not installed."""
    if options.name == "stream":
        return StreamEngine(threads)
    from capeval.engines.ray import RayEngine

    return RayEngine(options.address, options.workers)


def _paths(given: object, part: str) -> list[str]:
    """The files, folders or patterns that a call names."""
    if isinstance(given, (str, PathLike)):
        return [fspath(given)]
    if isinstance(given, Sequence) and given and all(isinstance(one, (str, PathLike)) for one in given):
        return [fspath(one) for one in given]
    raise UsageError(
        f"{part}: an engine reads files; give the path of a file, a folder or a pattern, or a list of such, and not a "
        f"{type(given).__name__} (captions in memory are for engine='local')"
    )


def _write_skipped(skipped: Sequence[BadRow], options: EngineOptions) -> None:
    """Warns of the rows that were left out, and writes them where the call says."""
    if not skipped:
        return
    where = "" if options.skipped is None else f"; {options.skipped} has all"
    warn(f"{len(skipped):,} rows were left out, the first is {skipped[0]}{where}")
    if options.skipped is not None:
        with atomic_write(options.skipped, "w") as file:
            for row in sorted(skipped):
                file.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")
