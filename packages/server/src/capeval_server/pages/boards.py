"""Benchmarks: the list, the board, its history and export; making and changing one."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Form, UploadFile
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from capeval.corpus.corpus import TOKENIZERS
from capeval.metrics.registry import groups
from capeval_server.accounts.access import Role
from capeval_server.boards import catalogue, comparisons, forms, uploads
from capeval_server.boards.board import Entry, board, entries, improvements, metrics_of, to_csv
from capeval_server.store.models import Benchmark
from capeval_server.web import pictures
from capeval_server.web.context import Context, RequestContext
from capeval_server.web.errors import Refused
from capeval_server.web.format import label
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
) -> forms.Rules:
    """The part of the form that can be changed later."""
    return forms.Rules(
        title=" ".join(title.split()), description=description.strip(), quota_day=quota_day, quota_total=quota_total,
        opens=_moment(opens), closes=_moment(closes), board=board, own_scores=bool(own_scores),
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
    slug: Text = "",
    metrics: Text = "coco",
    tokenizer: Text = "ptb",
) -> Response:
    data, given = references.file.read(), objects.file.read() if objects is not None else b""
    form = forms.BenchmarkForm(
        slug=slug.strip(), metrics=metrics, tokenizer=tokenizer, has_objects=bool(given), **asdict(rules)
    )
    try:
        with context.database.write() as session:
            benchmark = forms.make(session, context.caller, form, data, given)
            context.audit(session, "benchmark.made", benchmark.slug)
    except Refused as refusal:
        return _form(context, benchmark=None, given=form, problems=refusal.problems)
    return context.redirect(f"/benchmarks/{benchmark.slug}", "saved")


@routes.page("/benchmarks/{slug}", role=Role.ANYONE)
def board_page(context: Context, slug: str, sort: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.find(session, slug)
        visible = catalogue.sees_board(context.caller, benchmark)
        rows = board(session, benchmark, sort) if visible else []
        left = _left(context, session, benchmark)
        choices = comparisons.choices(session, context.caller, benchmark)
    sort = sort or metrics_of(benchmark)[0]
    shown = [row.entry.scores[sort] for row in rows]
    scale = pictures.Scale.around(end for score in shown for end in (score.lower, score.upper))
    return context.render(
        "benchmark.html", benchmark=benchmark, rows=rows, visible=visible, metrics=metrics_of(benchmark), sort=sort,
        scale=scale, open=catalogue.is_open(benchmark), over=catalogue.is_over(benchmark),
        boards=catalogue.BOARDS, left=left, choices=list(choices.values()),
    )  # fmt: skip


@routes.page("/benchmarks/{slug}/board.csv", role=Role.ANYONE)
def board_csv(context: Context, slug: str, sort: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, slug)
        text = to_csv(board(session, benchmark, sort), metrics_of(benchmark))
    return context.download(text, f"{benchmark.slug}-board.csv", "text/csv")


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
        metric = metric if metric in metrics else metrics[0]
        steps = improvements(entries(session, benchmark), metric)
    return context.render(
        "history.html", benchmark=benchmark, steps=steps, metrics=metrics, metric=metric,
        picture=_progress(steps, metric) if steps else "",
    )  # fmt: skip


def _progress(steps: list[Entry], metric: str) -> Markup:
    every = [pictures.Step(step.scored, step.scores[metric].value, step.team) for step in steps]
    return pictures.progress(every, label(metric))


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
            context.audit(session, "benchmark.changed", slug)
    if problems:
        return _form(context, benchmark=benchmark, given=form, problems=problems)
    return context.redirect(f"/benchmarks/{slug}", "saved")


_EMPTY = forms.BenchmarkForm(**asdict(_rules(own_scores="yes")), slug="", metrics="coco", tokenizer="ptb")


def _form(
    context: RequestContext, *, benchmark: Benchmark | None, given: object, problems: list[str] | None = None
) -> Response:
    return context.render(
        "benchmark-form.html", 422 if problems else 200, benchmark=benchmark, given=given, problems=problems or [],
        tokenizers=TOKENIZERS, groups=list(groups()), boards=catalogue.BOARDS,
    )  # fmt: skip


def _left(context: RequestContext, session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    if context.caller.team_id is None:
        return None
    today, total = uploads.used(session, benchmark, context.caller.team_id)
    left = max(0, benchmark.quota_total - total)
    return min(left, max(0, benchmark.quota_day - today)), left
