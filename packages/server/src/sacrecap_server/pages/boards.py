"""Benchmarks: the list, the board, its history and export, two submissions compared; making and changing one."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Form, Query, UploadFile
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from sacrecap import __version__
from sacrecap.choices import OWN_TOKENIZERS
from sacrecap.metrics.registry import groups
from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue, comparisons, forms, parts, quota, scoring
from sacrecap_server.boards.board_cache import KeptAnswer
from sacrecap_server.boards.board_view import BoardView, chosen_metric, compared, improvements, metrics_of, to_csv
from sacrecap_server.errors import Refused, not_found, problems_of_form
from sacrecap_server.store.models import Benchmark
from sacrecap_server.web.context import Context, RequestContext
from sacrecap_server.web.format import label
from sacrecap_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=10_000)]
Number = Annotated[int, Form(ge=1, le=1_000_000)]
SubmissionNumber = Annotated[int, Form(ge=1, le=2**31 - 1)]
METRICS = "cider-d, coco"
"""Of a new benchmark: the COCO metrics, CIDEr-D first, because it ranks the board."""
_SHOWN = 10


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
            422,
            "%(text)s is not a time; write it as 2026-01-31T12:00, which is UTC, or 2026-01-31T12:00+02:00.",
            text=repr(text[:40]),
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
    host: Text = "",
    prize: Text = "",
    challenge: Text = "",
    phase: Text = "",
    rules: Annotated[str, Form(max_length=50_000)] = "",
    most_degenerate: Annotated[int, Form(ge=0, le=100)] = 5,
    most_same: Annotated[int, Form(ge=0, le=100)] = 30,
    longest_words: Number = 100,
    rank_by: Text = "",
) -> forms.Rules:
    """The part of the form that can be changed later."""
    return forms.Rules(
        title=" ".join(title.split()),
        description=description.strip(),
        quota_day=quota_day,
        quota_total=quota_total,
        opens=_moment(opens),
        closes=_moment(closes),
        board=board,
        own_scores=bool(own_scores),
        visibility=visibility,
        host=" ".join(host.split()),
        prize=" ".join(prize.split()),
        challenge=" ".join(challenge.split()),
        phase=" ".join(phase.split()),
        rules=_lines(rules),
        most_degenerate=most_degenerate,
        most_same=most_same,
        longest_words=longest_words,
        rank_by=rank_by.strip(),
    )


def _lines(text: str) -> str:
    """As it is stored: forms send other ends of lines than they were given, which is no change of the rules."""
    return "\n".join(text.strip().splitlines())


@routes.page("/", role=Role.ANYONE)
def home(context: Context) -> Response:
    """The start page: the newest benchmarks that are open."""
    with context.database.read() as session:
        rows = [row for row in catalogue.with_counts(session, context.caller) if catalogue.is_open(row[0])]
    return context.render("home.html", rows=rows[:_SHOWN], stage=catalogue.stage)


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
        split = parts.of(session, first)
    given = {name: getattr(first, name) for name in forms.BenchmarkForm.__dataclass_fields__ if hasattr(first, name)}
    given |= {"slug": "", "phase": "", "challenge": first.challenge or first.title, "opens": None, "closes": None}
    share = round(100 * split.private / first.images) if split is not None else 0
    return _form(context, benchmark=None, given=forms.BenchmarkForm(**given, private_share=share), like=like)


@routes.page("/benchmarks/new", role=Role.ORGANISER, methods=("POST",))
def new_done(
    context: Context,
    rules: Annotated[forms.Rules, Depends(_rules)],
    references: UploadFile | None = None,
    objects: UploadFile | None = None,
    private: UploadFile | None = None,
    second: UploadFile | None = None,
    slug: Text = "",
    metrics: Text = METRICS,
    tokenizer: Text = "ptb",
    private_share: Annotated[int, Form(ge=0, le=100)] = 0,
    like: Text = "",
) -> Response:
    uploaded = (references, objects, private, second)
    files = forms.HiddenFiles(*(file.file.read() if file is not None else b"" for file in uploaded))
    form = forms.BenchmarkForm(
        slug=slug.strip(),
        metrics=metrics,
        tokenizer=tokenizer,
        has_objects=bool(files.objects),
        private_share=private_share,
        **asdict(rules),
    )
    try:
        with context.database.write() as session:
            first = catalogue.owned(session, context.caller, like) if like else None
            benchmark = forms.make(session, context.caller, form, files, like=first)
            context.audit(session, "benchmark.made", benchmark.slug)
    except Refused as refusal:
        return _form(context, benchmark=None, given=form, problems=problems_of_form(refusal), like=like)
    return context.redirect(f"/benchmarks/{benchmark.slug}", "benchmark-made")


@routes.page("/benchmarks/{slug}", role=Role.ANYONE)
def board_page(context: Context, slug: str, sort: str | None = None, part: str | None = None) -> Response:
    """The same page for all who are not signed in, kept until the board changes."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        sort = chosen_metric(benchmark, sort)
        part = _part(context, session, benchmark, part)
        phases = catalogue.phases(session, context.caller, benchmark)

        def values() -> dict[str, Any]:
            return {**_board(context, session, benchmark, sort, part), "phases": phases}

        if not context.is_plain:
            return context.render("benchmark.html", **values())
        # The other phases have revisions of their own, and one may have become a draft.
        beside = tuple((each.slug, each.phase, catalogue.stage(each)) for each in phases)
        name = ("page", context.language.tag, sort, part, beside)
        body = context.state.boards.get(benchmark, name, lambda: context.page("benchmark.html", **values()))
    return context.unchanged_or(body, "text/html; charset=utf-8")


def _board(context: RequestContext, session: Session, benchmark: Benchmark, sort: str, part: str) -> dict[str, Any]:
    """What the template of the board shows."""
    cache, caller = context.state.boards, context.caller
    visible = catalogue.sees_board(caller, benchmark)
    board = cache.board(session, benchmark, sort, part) if visible else None
    return {
        "benchmark": benchmark,
        "board": board,
        "rows": board.rows if board else [],
        "visible": visible,
        "metrics": metrics_of(benchmark),
        "rank_by": benchmark.rank_by,
        "sort": sort,
        "part": part,
        "split": parts.of(session, benchmark),
        "open": catalogue.is_open(benchmark),
        "over": catalogue.is_over(benchmark),
        "boards": catalogue.BOARDS,
        "left": quota.left(session, caller, benchmark) if caller.team_id is not None else None,
        "choices": list(comparisons.choices(session, cache, caller, benchmark).values()),
        "rescoring": scoring.rescoring(session, benchmark),
        "installed": __version__,
        "stage": catalogue.stage,
        "visibilities": catalogue.VISIBILITIES,
        "scale": _scale(board),
        "shown": cache.part(session, benchmark),
    }


def _scale(board: BoardView | None) -> tuple[float, float]:
    """One scale for the intervals of all rows."""
    scores = [row.entry.scores[board.sort] for row in board.rows] if board else []
    low, high = min((one.lower for one in scores), default=0.0), max((one.upper for one in scores), default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


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
            benchmark,
            ("csv", sort, part),
            lambda: KeptAnswer.of(to_csv(cache.board(session, benchmark, sort, part), metrics_of(benchmark))),
        )
    headers = {"Content-Disposition": f'attachment; filename="{benchmark.slug}-board.csv"'}
    return context.unchanged_or(body, "text/csv; charset=utf-8", **headers)


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
    return context.download("[\n" + ",\n".join(lines) + "\n]\n", f"{benchmark.slug}-captions.json", "application/json")


@routes.page("/benchmarks/{slug}/private.json", role=Role.ANYONE)
def private_json(context: Context, slug: str) -> Response:
    """The private images with their nonce, after the closing date: the very bytes whose SHA-256 the board has shown."""
    with context.database.read() as session:
        split = parts.of(session, catalogue.visible(session, context.caller, slug))
    if split is None or not split.revealed:
        raise not_found("list of private images, before the closing date")
    return context.download(split.revealed, f"{slug}-private.json", "application/json")


@routes.page("/benchmarks/{slug}/history", role=Role.ANYONE)
def history_page(context: Context, slug: str, metric: str | None = None) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.visible(session, context.caller, slug)
        metrics = metrics_of(benchmark)
        by = metric if metric in metrics else benchmark.rank_by
        cache = context.state.boards

        def values() -> dict[str, Any]:
            from sacrecap_server.pages import page_charts  # here: the drawing is a part of a server's start

            steps = improvements(cache.entries(session, benchmark), by)
            return {
                "benchmark": benchmark,
                "steps": steps,
                "metrics": metrics,
                "metric": by,
                "picture": page_charts.progress(steps, by, label(by), context.language),
                "part": cache.part(session, benchmark),
            }

        if not context.is_plain:
            return context.render("history.html", **values())
        name = ("history", context.language.tag, by)
        body = cache.get(benchmark, name, lambda: context.page("history.html", **values()))
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
            slug=benchmark.slug,
            metrics=benchmark.metrics,
            tokenizer=benchmark.tokenizer,
            has_objects=benchmark.objects_sha is not None,
            **asdict(rules),
        )
        problems = form.problems() + forms.problems_of_change(session, benchmark, form)
        if not problems:
            forms.change(benchmark, form)
            session.flush()
            scoring.queue_missing(session, benchmark)
            context.audit(session, "benchmark.changed", slug)
    if problems:
        return _form(context, benchmark=benchmark, given=form, problems=problems)
    context.state.jobs.wake()
    return context.redirect(f"/benchmarks/{slug}", "saved")


_EMPTY = forms.BenchmarkForm(**asdict(_rules(own_scores="yes")), slug="", metrics=METRICS, tokenizer="ptb")


def _form(
    context: RequestContext,
    *,
    benchmark: Benchmark | None,
    given: object,
    problems: list[str] | None = None,
    like: str = "",
) -> Response:
    return context.render(
        "benchmark-form.html",
        422 if problems else 200,
        benchmark=benchmark,
        given=given,
        problems=problems or [],
        tokenizers=OWN_TOKENIZERS,
        groups=list(groups()),
        boards=catalogue.BOARDS,
        visibilities=catalogue.VISIBILITIES,
        like=like,
        metrics=metrics_of(benchmark) if benchmark else [],
    )


@routes.page("/benchmarks/{slug}/compare", role=Role.ANYONE)
def compare_page(context: Context, slug: str, a: int, b: int) -> Response:
    """Of the board, or the caller's own."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        one, other = comparisons.two(session, context.state.boards, context.caller, benchmark, a, b)
        part = context.state.boards.part(session, benchmark)
        pairs, job = compared(session, a, b, part), comparisons.asked(session, a, b)
    return context.render(
        "compare.html",
        benchmark=benchmark,
        a=one,
        b=other,
        metrics=metrics_of(benchmark),
        pairs=pairs,
        job=job,
        part=part,
    )


@routes.page("/benchmarks/{slug}/compare", role=Role.MEMBER, methods=("POST",))
def compare_asked(context: Context, slug: str, a: SubmissionNumber, b: SubmissionNumber) -> Response:
    """Queues the test, as work that somebody signed in has to ask for."""
    context.state.limits.submit_account.take(str(context.caller.account_id))
    with context.database.write() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        comparisons.two(session, context.state.boards, context.caller, benchmark, a, b)
        comparisons.ask(session, context.caller, benchmark, a, b)
    context.state.jobs.wake()
    return context.redirect(f"/benchmarks/{slug}/compare?a={a}&b={b}")


@routes.page("/benchmarks/{slug}/compare/state", role=Role.MEMBER)
def compare_state(context: Context, slug: str, a: int, b: int) -> Response:
    """The progress that the page polls during the comparison."""
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        comparisons.two(session, context.state.boards, context.caller, benchmark, a, b)
        job = comparisons.asked(session, a, b)
    return JSONResponse({"state": job.state if job else "done", "progress": job.progress if job else ""})
