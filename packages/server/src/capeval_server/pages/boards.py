"""Benchmarks: the list, the board, its history and export; making and changing one."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Form, Query, UploadFile
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
METRICS = "cider-d, coco"
"""Of a new benchmark: the COCO metrics, CIDEr-D first, because the first ranks the board."""


def _moment(text: str) -> dt.datetime | None:
    """The value of a `datetime-local` input, which is UTC, or a time with an offset of its own."""
    text = text.strip()
    if not text:
        return None
    try:
        # Python 3.10 does not know the Z.
        value = dt.datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1] in "Zz" else text)
        return (value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)).astimezone(dt.timezone.utc)
    except (ValueError, OverflowError):
        raise Refused(
            422, f"{text[:40]!r} is not a time; write it as 2026-01-31T12:00, which is UTC, or 2026-01-31T12:00+02:00."
        ) from None


def _rules(
    title: Text = "",
    description: Text = "",
    quota_day: Number = 5,
    quota_total: Number = 100,
    opens: Text = "",
    closes: Text = "",
    board: Text = "public",
    own_scores: Text = "",
    visibility: Text = "public",
    challenge: Text = "",
    phase: Text = "",
    rules: Annotated[str, Form(max_length=50_000)] = "",
    most_degenerate: Annotated[int, Form(ge=0, le=100)] = 5,
    most_same: Annotated[int, Form(ge=0, le=100)] = 30,
    longest_words: Number = 100,
) -> forms.Rules:
    """The part of the form that can be changed later."""
    return forms.Rules(
        title=" ".join(title.split()), description=description.strip(), quota_day=quota_day, quota_total=quota_total,
        opens=_moment(opens), closes=_moment(closes), board=board, own_scores=bool(own_scores), visibility=visibility,
        challenge=" ".join(challenge.split()), phase=" ".join(phase.split()), rules=_lines(rules),
        most_degenerate=most_degenerate, most_same=most_same, longest_words=longest_words,
    )  # fmt: skip


def _lines(text: str) -> str:
    """As it is stored: forms send other ends of lines than they were given, which is no change of the rules."""
    return "\n".join(text.strip().splitlines())


@routes.page("/benchmarks", role=Role.ANYONE)
def list_page(context: Context) -> Response:
    with context.database.read() as session:
        rows = catalogue.with_counts(session, context.caller)
    return context.render("benchmarks.html", rows=rows, stage=catalogue.stage)


@routes.page("/benchmarks/new", role=Role.ORGANISER)
def new_page(context: Context, like: Annotated[str, Query(max_length=60)] = "") -> Response:
    """An empty form, or that of another phase of a benchmark of the caller's."""
    if not like:
        return _form(context, benchmark=None, given=_EMPTY)
    with context.database.read() as session:
        first = catalogue.owned(session, context.caller, like)
    given = {name: getattr(first, name) for name in forms.BenchmarkForm.__dataclass_fields__ if name != "has_objects"}
    given |= {"slug": "", "phase": "", "challenge": first.challenge or first.title, "opens": None, "closes": None}
    return _form(context, benchmark=None, given=forms.BenchmarkForm(**given), like=like)


@routes.page("/benchmarks/new", role=Role.ORGANISER, methods=("POST",))
def new_done(
    context: Context,
    rules: Annotated[forms.Rules, Depends(_rules)],
    references: UploadFile | None = None,
    objects: UploadFile | None = None,
    slug: Text = "",
    metrics: Text = METRICS,
    tokenizer: Text = "ptb",
    like: Text = "",
) -> Response:
    data, given = (file.file.read() if file is not None else b"" for file in (references, objects))
    form = forms.BenchmarkForm(
        slug=slug.strip(), metrics=metrics, tokenizer=tokenizer, has_objects=bool(given), **asdict(rules)
    )
    try:
        with context.database.write() as session:
            first = catalogue.owned(session, context.caller, like) if like else None
            benchmark = forms.make(session, context.caller, form, data, given, like=first)
            context.audit(session, "benchmark.made", benchmark.slug)
    except Refused as refusal:
        return _form(context, benchmark=None, given=form, problems=refusal.problems, like=like)
    return context.redirect(f"/benchmarks/{benchmark.slug}", "benchmark-made")


@routes.page("/benchmarks/{slug}", role=Role.ANYONE)
def board_page(context: Context, slug: str, sort: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        visible = catalogue.sees_board(context.caller, benchmark)
        rows = board(session, benchmark, sort) if visible else []
        left = _left(context, session, benchmark)
        choices = comparisons.choices(session, context.caller, benchmark)
        phases = catalogue.phases(session, context.caller, benchmark)
    sort = sort or metrics_of(benchmark)[0]
    shown = [row.entry.scores[sort] for row in rows]
    scale = pictures.Scale.around(end for score in shown for end in (score.lower, score.upper))
    return context.render(
        "benchmark.html", benchmark=benchmark, rows=rows, visible=visible, metrics=metrics_of(benchmark), sort=sort,
        scale=scale, open=catalogue.is_open(benchmark), over=catalogue.is_over(benchmark),
        boards=catalogue.BOARDS, left=left, choices=list(choices.values()),
        phases=phases, stage=catalogue.stage, visibilities=catalogue.VISIBILITIES,
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
        benchmark = catalogue.find(session, context.caller, slug)
        images = context.state.image_ids.of(session, benchmark)
    return context.download("".join(f"{image}\n" for image in images), f"{benchmark.slug}-images.txt", "text/plain")


@routes.page("/benchmarks/{slug}/template.json", role=Role.ANYONE)
def template_json(context: Context, slug: str) -> Response:
    """A file to fill in: every image, with an empty caption."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        images = context.state.image_ids.of(session, benchmark)
    lines = (json.dumps({"image_id": image, "caption": ""}, ensure_ascii=False) for image in images)
    return context.download(
        "[\n" + ",\n".join(lines) + "\n]\n", f"{benchmark.slug}-captions.json", "application/json"
    )


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


_EMPTY = forms.BenchmarkForm(**asdict(_rules(own_scores="yes")), slug="", metrics=METRICS, tokenizer="ptb")


def _form(
    context: RequestContext, *, benchmark: Benchmark | None, given: object, problems: list[str] | None = None,
    like: str = "",
) -> Response:  # fmt: skip
    return context.render(
        "benchmark-form.html", 422 if problems else 200, benchmark=benchmark, given=given, problems=problems or [],
        tokenizers=TOKENIZERS, groups=list(groups()), boards=catalogue.BOARDS, visibilities=catalogue.VISIBILITIES,
        like=like,
    )  # fmt: skip


def _left(context: RequestContext, session: Session, benchmark: Benchmark) -> tuple[int, int] | None:
    if context.caller.team_id is None:
        return None
    today, total = uploads.used(session, benchmark, context.caller.team_id)
    left = max(0, benchmark.quota_total - total)
    return min(left, max(0, benchmark.quota_day - today)), left
