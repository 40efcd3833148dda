"""Two submissions side by side, and asking for the paired test of the two."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from fastapi.responses import JSONResponse, Response

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue, comparisons
from sacrecap_server.boards.board import compared, metrics_of
from sacrecap_server.web.context import Context
from sacrecap_server.web.routing import Routes

routes = Routes()
Number = Annotated[int, Form(ge=1, le=2**31 - 1)]


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
def compare_asked(context: Context, slug: str, a: Number, b: Number) -> Response:
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
