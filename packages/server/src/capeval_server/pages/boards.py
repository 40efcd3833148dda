"""Benchmarks: the list, the board, its history and export; making and changing one."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Form, UploadFile
from fastapi.responses import Response
from sqlalchemy.orm import Session

from capeval.corpus.corpus import TOKENIZERS
from capeval.metrics.registry import groups
from capeval_server.accounts.access import Role
from capeval_server.boards import benchmarks, comparisons
from capeval_server.boards.benchmarks import Rules
from capeval_server.boards.board import board, entries, improvements, metrics_of, to_csv
from capeval_server.store.models import Benchmark
from capeval_server.web.errors import Refused
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here, Visit

routes = Routes()
Text = Annotated[str, Form(max_length=10_000)]
Number = Annotated[int, Form(ge=1, le=1_000_000)]


def _moment(text: str) -> dt.datetime | None:
    """What a `datetime-local` input sends, as UTC."""
    if not text.strip():
        return None
    try:
        return dt.datetime.fromisoformat(text.strip()).replace(tzinfo=dt.timezone.utc)
    except ValueError:
        raise Refused(422, f"{text[:40]!r} is no time; write it as 2026-01-31T12:00 (UTC).") from None


def _rules(
    title: Text = "",
    description: Text = "",
    quota_day: Number = 5,
    quota_total: Number = 100,
    opens: Text = "",
    closes: Text = "",
    board: Text = "public",
    own_scores: Text = "",
) -> Rules:
    """The part of the form that can be changed later."""
    return Rules(
        title=" ".join(title.split()), description=description.strip(), quota_day=quota_day, quota_total=quota_total,
        opens=_moment(opens), closes=_moment(closes), board=board, own_scores=bool(own_scores),
    )  # fmt: skip


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
    rules: Annotated[Rules, Depends(_rules)],
    references: UploadFile,
    objects: UploadFile | None = None,
    slug: Text = "",
    metrics: Text = "coco",
    tokenizer: Text = "ptb",
) -> Response:
    data, given = references.file.read(), objects.file.read() if objects is not None else b""
    form = benchmarks.Form(
        slug=slug.strip(), metrics=metrics, tokenizer=tokenizer, has_objects=bool(given), **asdict(rules)
    )
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
    return visit.download(text, f"{benchmark.slug}-board.csv", "text/csv")


@routes.page("/benchmarks/{slug}/images.txt", role=Role.ANYONE)
def images_txt(visit: Here, slug: str) -> Response:
    """The images to caption, an id a line."""
    with visit.database.read() as session:
        benchmark = benchmarks.find(session, slug)
        images = benchmarks.images_of(session, benchmark)
    return visit.download("".join(f"{image}\n" for image in images), f"{benchmark.slug}-images.txt", "text/plain")


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
        benchmark = benchmarks.owned(session, visit.caller, slug)
    return _form(visit, benchmark=benchmark, given=benchmark)


@routes.page("/benchmarks/{slug}/edit", role=Role.ORGANISER, methods=("POST",))
def edit_done(visit: Here, slug: str, rules: Annotated[Rules, Depends(_rules)]) -> Response:
    """Rules may change; what scores depend on (references, metrics, tokenizer) stays as it was made."""
    with visit.database.write() as session:
        benchmark = benchmarks.owned(session, visit.caller, slug)
        form = benchmarks.Form(
            slug=benchmark.slug, metrics=benchmark.metrics, tokenizer=benchmark.tokenizer,
            has_objects=benchmark.objects_sha is not None, **asdict(rules),
        )  # fmt: skip
        problems = form.problems()
        if not problems:
            benchmarks.change(benchmark, form)
            visit.audit(session, "benchmark.changed", slug)
    if problems:
        return _form(visit, benchmark=benchmark, given=form, problems=problems)
    return visit.redirect(f"/benchmarks/{slug}", "saved")


_EMPTY = benchmarks.Form(**asdict(_rules(own_scores="yes")), slug="", metrics="coco", tokenizer="ptb")


def _form(visit: Visit, *, benchmark: Benchmark | None, given: object, problems: list[str] | None = None) -> Response:
    return visit.render(
        "benchmark-form.html", 422 if problems else 200, benchmark=benchmark, given=given, problems=problems or [],
        tokenizers=TOKENIZERS, groups=list(groups()), boards=benchmarks.BOARDS,
    )  # fmt: skip


def _left(visit: Visit, session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    if visit.caller.team_id is None:
        return None
    today, total = benchmarks.used(session, benchmark, visit.caller.team_id)
    left = max(0, benchmark.quota_total - total)
    return min(left, max(0, benchmark.quota_day - today)), left
