"""Benchmarks: the list, the board, its history and export; making and changing one."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Form, UploadFile
from fastapi.responses import PlainTextResponse, Response
from sqlalchemy.orm import Session

from capeval.corpus import TOKENIZERS
from capeval.registry import groups
from capeval.server import benchmarks, comparisons
from capeval.server.access import Role
from capeval.server.board import board, entries, improvements, metrics_of, to_csv
from capeval.server.errors import Refused
from capeval.server.models import Benchmark
from capeval.server.routing import Routes
from capeval.server.visit import Here, Visit

routes = Routes()
Text = Annotated[str, Form(max_length=10_000)]
Number = Annotated[int, Form(ge=1, le=1_000_000)]


@routes.page("/benchmarks", role=Role.ANYONE)
def list_page(visit: Here) -> Response:
    with visit.database.read() as session:
        rows = benchmarks.with_counts(session)
    return visit.render("benchmarks.html", rows=rows, is_open=benchmarks.is_open)


@routes.page("/benchmarks/new", role=Role.ORGANISER)
def new_page(visit: Here) -> Response:
    return _form(visit, benchmark=None, given=_EMPTY)


@routes.page("/benchmarks/new", role=Role.ORGANISER, methods=("POST",))
def new_done(
    visit: Here,
    references: UploadFile,
    objects: UploadFile | None = None,
    slug: Text = "",
    title: Text = "",
    description: Text = "",
    metrics: Text = "coco",
    tokenizer: Text = "ptb",
    quota_day: Number = 5,
    quota_total: Number = 100,
    opens: Text = "",
    closes: Text = "",
    board: Text = "public",
    own_scores: Text = "",
) -> Response:
    form = benchmarks.Form(
        slug.strip(), " ".join(title.split()), description.strip(), metrics, tokenizer, quota_day, quota_total,
        _moment(opens), _moment(closes), board, bool(own_scores),
    )  # fmt: skip
    data, given = references.file.read(), objects.file.read() if objects is not None else b""
    form.has_objects = bool(given)
    try:
        with visit.database.write() as session:
            benchmark = benchmarks.make(session, visit.caller, form, data, given)
            visit.audit(session, "benchmark.made", benchmark.slug)
    except Refused as refusal:
        return _form(visit, benchmark=None, given=form, problems=refusal.problems)
    return visit.redirect(f"/benchmarks/{benchmark.slug}", "saved")


@routes.page("/benchmarks/{slug}", role=Role.ANYONE)
def board_page(visit: Here, slug: str, sort: str | None = None) -> Response:
    with visit.database.read() as session:
        benchmark = benchmarks.find(session, slug)
        visible = benchmarks.sees_board(visit.caller, benchmark)
        rows = board(session, benchmark, sort) if visible else []
        left = _left(visit, session, benchmark)
        choices = comparisons.choices(session, visit.caller, benchmark)
    return visit.render(
        "benchmark.html", benchmark=benchmark, rows=rows, visible=visible, metrics=metrics_of(benchmark),
        sort=sort or metrics_of(benchmark)[0], open=benchmarks.is_open(benchmark), over=benchmarks.is_over(benchmark),
        boards=benchmarks.BOARDS, left=left, choices=list(choices.values()),
    )  # fmt: skip


@routes.page("/benchmarks/{slug}/board.csv", role=Role.ANYONE)
def board_csv(visit: Here, slug: str, sort: str | None = None) -> Response:
    with visit.database.read() as session:
        benchmark = benchmarks.visible(session, visit.caller, slug)
        text = to_csv(board(session, benchmark, sort), metrics_of(benchmark))
    return _download(text, f"{benchmark.slug}-board.csv", "text/csv")


@routes.page("/benchmarks/{slug}/images.txt", role=Role.ANYONE)
def images_txt(visit: Here, slug: str) -> Response:
    """The images to caption, an id a line."""
    with visit.database.read() as session:
        benchmark = benchmarks.find(session, slug)
        images = benchmarks.images_of(session, benchmark)
    return _download("".join(f"{image}\n" for image in images), f"{benchmark.slug}-images.txt", "text/plain")


@routes.page("/benchmarks/{slug}/history", role=Role.ANYONE)
def history_page(visit: Here, slug: str, metric: str | None = None) -> Response:
    with visit.database.read() as session:
        benchmark = benchmarks.visible(session, visit.caller, slug)
        metrics = metrics_of(benchmark)
        metric = metric if metric in metrics else metrics[0]
        steps = improvements(entries(session, benchmark), metric)
    return visit.render("history.html", benchmark=benchmark, steps=steps, metrics=metrics, metric=metric)


@routes.page("/benchmarks/{slug}/edit", role=Role.ORGANISER)
def edit_page(visit: Here, slug: str) -> Response:
    with visit.database.read() as session:
        benchmark = _owned(visit, session, slug)
    return _form(visit, benchmark=benchmark, given=benchmark)


@routes.page("/benchmarks/{slug}/edit", role=Role.ORGANISER, methods=("POST",))
def edit_done(
    visit: Here,
    slug: str,
    title: Text = "",
    description: Text = "",
    quota_day: Number = 5,
    quota_total: Number = 100,
    opens: Text = "",
    closes: Text = "",
    board: Text = "public",
    own_scores: Text = "",
) -> Response:
    """Rules may change; what scores depend on (references, metrics, tokenizer) stays as it was made."""
    with visit.database.write() as session:
        benchmark = _owned(visit, session, slug)
        form = benchmarks.Form(
            benchmark.slug, " ".join(title.split()), description.strip(), benchmark.metrics, benchmark.tokenizer,
            quota_day, quota_total, _moment(opens), _moment(closes), board, bool(own_scores),
            has_objects=benchmark.objects_sha is not None,
        )  # fmt: skip
        problems = form.problems()
        if not problems:
            benchmarks.change(benchmark, form)
            visit.audit(session, "benchmark.changed", slug)
    if problems:
        return _form(visit, benchmark=benchmark, given=form, problems=problems)
    return visit.redirect(f"/benchmarks/{slug}", "saved")


_EMPTY = benchmarks.Form("", "", "", "coco", "ptb", 5, 100, None, None, "public", own_scores=True)


def _form(visit: Visit, *, benchmark: Benchmark | None, given: object, problems: list[str] | None = None) -> Response:
    return visit.render(
        "benchmark-form.html", 422 if problems else 200, benchmark=benchmark, given=given, problems=problems or [],
        tokenizers=TOKENIZERS, groups=list(groups()), boards=benchmarks.BOARDS,
    )  # fmt: skip


def _moment(text: str) -> dt.datetime | None:
    """What a `datetime-local` input sends, as UTC."""
    if not text.strip():
        return None
    try:
        return dt.datetime.fromisoformat(text.strip()).replace(tzinfo=dt.timezone.utc)
    except ValueError:
        raise Refused(422, f"{text[:40]!r} is no time; write it as 2026-01-31T12:00 (UTC).") from None


def _owned(visit: Visit, session: Session, slug: str) -> Benchmark:
    benchmark = benchmarks.find(session, slug)
    if not visit.caller.owns(benchmark.owner_id):
        raise Refused(403, "This benchmark belongs to somebody else.")
    return benchmark


def _left(visit: Visit, session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    if visit.caller.team_id is None:
        return None
    today, total = benchmarks.used(session, benchmark, visit.caller.team_id)
    left = max(0, benchmark.quota_total - total)
    return min(left, max(0, benchmark.quota_day - today)), left


def _download(text: str, name: str, kind: str) -> Response:
    return PlainTextResponse(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
