"""Benchmarks: the list, the board, its history and export; making and changing one."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Form, UploadFile
from fastapi.responses import Response
from sqlalchemy.orm import Session

from capeval import __version__
from capeval.corpus.corpus import TOKENIZERS
from capeval.metrics.registry import groups
from capeval_server.accounts.access import Role
from capeval_server.boards import catalogue, comparisons, forms, parts, scoring, uploads
from capeval_server.boards.board import chosen_metric, improvements, metrics_of, progress, to_csv
from capeval_server.boards.cache import Body
from capeval_server.store.models import Benchmark
from capeval_server.web.context import Context, RequestContext
from capeval_server.web.errors import Refused
from capeval_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=10_000)]
Number = Annotated[int, Form(ge=1, le=1_000_000)]


def _moment(text: str) -> dt.datetime | None:
    """The value of a `datetime-local` input, as UTC."""
    if not text.strip():
        return None
    try:
        return dt.datetime.fromisoformat(text.strip()).replace(tzinfo=dt.timezone.utc)
    except ValueError:
        raise Refused(422, f"{text[:40]!r} is not a time; write it as 2026-01-31T12:00 (UTC).") from None


def _rules(
    title: Text = "",
    description: Text = "",
    quota_day: Number = 5,
    quota_total: Number = 100,
    opens: Text = "",
    closes: Text = "",
    board: Text = "public",
    own_scores: Text = "",
    rank_by: Text = "",
) -> forms.Rules:
    """The part of the form that can be changed later."""
    return forms.Rules(
        title=" ".join(title.split()), description=description.strip(), quota_day=quota_day, quota_total=quota_total,
        opens=_moment(opens), closes=_moment(closes), board=board, own_scores=bool(own_scores),
        rank_by=rank_by.strip(),
    )  # fmt: skip


@routes.page("/benchmarks", role=Role.ANYONE)
def list_page(context: Context) -> Response:
    with context.database.read() as session:
        rows = catalogue.with_counts(session)
    return context.render("benchmarks.html", rows=rows, is_open=catalogue.is_open)


@routes.page("/benchmarks/new", role=Role.ORGANISER)
def new_page(context: Context) -> Response:
    return _form(context, benchmark=None, given=_EMPTY)


@routes.page("/benchmarks/new", role=Role.ORGANISER, methods=("POST",))
def new_done(
    context: Context,
    rules: Annotated[forms.Rules, Depends(_rules)],
    references: UploadFile,
    objects: UploadFile | None = None,
    private: UploadFile | None = None,
    slug: Text = "",
    metrics: Text = "coco",
    tokenizer: Text = "ptb",
    private_share: Annotated[int, Form(ge=0, le=100)] = 0,
) -> Response:
    data, given, ids = (file.file.read() if file is not None else b"" for file in (references, objects, private))
    form = forms.BenchmarkForm(
        slug=slug.strip(), metrics=metrics, tokenizer=tokenizer, has_objects=bool(given), private_share=private_share,
        **asdict(rules),
    )  # fmt: skip
    try:
        with context.database.write() as session:
            benchmark = forms.make(session, context.caller, form, data, given, ids)
            context.audit(session, "benchmark.made", benchmark.slug)
    except Refused as refusal:
        return _form(context, benchmark=None, given=form, problems=refusal.problems)
    return context.redirect(f"/benchmarks/{benchmark.slug}", "saved")


@routes.page("/benchmarks/{slug}", role=Role.ANYONE)
def board_page(context: Context, slug: str, sort: str | None = None, part: str | None = None) -> Response:
    """The same page for all who are not signed in, kept until the board changes."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, slug)
        sort = chosen_metric(benchmark, sort)
        part = _part(context, session, benchmark, part)
        if not context.is_plain:
            return context.render("benchmark.html", **_board(context, session, benchmark, sort, part))
        body = context.state.boards.get(
            benchmark, ("page", sort, part),
            lambda: context.page("benchmark.html", **_board(context, session, benchmark, sort, part)),
        )  # fmt: skip
    return context.unchanged_or(body, "text/html; charset=utf-8")


def _board(context: RequestContext, session: Session, benchmark: Benchmark, sort: str, part: str) -> dict[str, Any]:
    """What the template of the board shows."""
    cache, caller = context.state.boards, context.caller
    visible = catalogue.sees_board(caller, benchmark)
    board = cache.board(session, benchmark, sort, part) if visible else None
    steps = cache.get(
        benchmark, ("progress", sort), lambda: progress(cache.entries(session, benchmark), sort)
    ) if visible else []  # fmt: skip
    return {
        "benchmark": benchmark, "board": board, "rows": board.rows if board else [], "visible": visible,
        "metrics": metrics_of(benchmark), "rank_by": benchmark.rank_by, "sort": sort, "part": part,
        "split": parts.of(session, benchmark), "open": catalogue.is_open(benchmark),
        "over": catalogue.is_over(benchmark), "boards": catalogue.BOARDS, "left": _left(context, session, benchmark),
        "choices": list(comparisons.choices(session, cache, caller, benchmark).values()), "progress": steps,
        "rescoring": scoring.rescoring(session, benchmark), "installed": __version__,
    }  # fmt: skip


def _part(context: RequestContext, session: Session, benchmark: Benchmark, part: str | None) -> str:
    """The part of the images to show."""
    return context.state.boards.part(session, benchmark, part, owner=context.caller.owns(benchmark.owner_id))


@routes.page("/benchmarks/{slug}/board.csv", role=Role.ANYONE)
def board_csv(context: Context, slug: str, sort: str | None = None, part: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, slug)
        cache, sort = context.state.boards, chosen_metric(benchmark, sort)
        part = _part(context, session, benchmark, part)
        body = cache.get(
            benchmark, ("csv", sort, part),
            lambda: Body.of(to_csv(cache.board(session, benchmark, sort, part), metrics_of(benchmark))),
        )  # fmt: skip
    headers = {"Content-Disposition": f'attachment; filename="{benchmark.slug}-board.csv"'}
    return context.unchanged_or(body, "text/csv; charset=utf-8", **headers)


@routes.page("/benchmarks/{slug}/images.txt", role=Role.ANYONE)
def images_txt(context: Context, slug: str) -> Response:
    """The images to caption, an id per line."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, slug)
        images = context.state.image_ids.of(session, benchmark)
    return context.download("".join(f"{image}\n" for image in images), f"{benchmark.slug}-images.txt", "text/plain")


@routes.page("/benchmarks/{slug}/history", role=Role.ANYONE)
def history_page(context: Context, slug: str, metric: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, slug)
        metrics = metrics_of(benchmark)
        by = metric if metric in metrics else benchmark.rank_by
        cache = context.state.boards

        def values() -> dict[str, Any]:
            found = cache.entries(session, benchmark)
            return {
                "benchmark": benchmark, "steps": improvements(found, by), "metrics": metrics, "metric": by,
                "progress": progress(found, by), "part": cache.part(session, benchmark),
            }  # fmt: skip

        if not context.is_plain:
            return context.render("history.html", **values())
        body = cache.get(benchmark, ("history", by), lambda: context.page("history.html", **values()))
    return context.unchanged_or(body, "text/html; charset=utf-8")


@routes.page("/benchmarks/{slug}/rescore", role=Role.ORGANISER, methods=("POST",))
def rescore(context: Context, slug: str) -> Response:
    """Scores everything again with the installed version, so that a board does not mix versions."""
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        number = scoring.rescore(session, benchmark)
        scoring.queue_missing(session, benchmark)
        context.audit(session, "benchmark.rescored", f"{slug} {number}")
    context.state.jobs.wake()
    return context.redirect(f"/benchmarks/{slug}", "rescoring")


@routes.page("/benchmarks/{slug}/edit", role=Role.ORGANISER)
def edit_page(context: Context, slug: str) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
    return _form(context, benchmark=benchmark, given=benchmark)


@routes.page("/benchmarks/{slug}/edit", role=Role.ORGANISER, methods=("POST",))
def edit_done(context: Context, slug: str, rules: Annotated[forms.Rules, Depends(_rules)]) -> Response:
    """Rules may change; what scores depend on (references, metrics, tokenizer) stays as it was made."""
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        form = forms.BenchmarkForm(
            slug=benchmark.slug, metrics=benchmark.metrics, tokenizer=benchmark.tokenizer,
            has_objects=benchmark.objects_sha is not None, **asdict(rules),
        )  # fmt: skip
        problems = form.problems()
        if not problems:
            forms.change(benchmark, form)
            session.flush()
            scoring.queue_missing(session, benchmark)
            context.audit(session, "benchmark.changed", slug)
    if problems:
        return _form(context, benchmark=benchmark, given=form, problems=problems)
    context.state.jobs.wake()
    return context.redirect(f"/benchmarks/{slug}", "saved")


_EMPTY = forms.BenchmarkForm(**asdict(_rules(own_scores="yes")), slug="", metrics="coco", tokenizer="ptb")


def _form(
    context: RequestContext, *, benchmark: Benchmark | None, given: object, problems: list[str] | None = None
) -> Response:
    return context.render(
        "benchmark-form.html", 422 if problems else 200, benchmark=benchmark, given=given, problems=problems or [],
        tokenizers=TOKENIZERS, groups=list(groups()), boards=catalogue.BOARDS,
        metrics=metrics_of(benchmark) if benchmark else [],
    )  # fmt: skip


def _left(context: RequestContext, session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    if context.caller.team_id is None:
        return None
    today, total = uploads.used(session, benchmark, context.caller.team_id)
    left = max(0, benchmark.quota_total - total)
    return min(left, max(0, benchmark.quota_day - today)), left
