"""Submissions: sending one, following it, and the team's list."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, UploadFile
from fastapi.responses import JSONResponse, Response

from capeval_server.accounts.access import Role
from capeval_server.boards import catalogue, removal, submissions, uploads
from capeval_server.web.context import Context
from capeval_server.web.errors import Refused
from capeval_server.web.routing import Routes

routes = Routes()


@routes.page("/submissions", role=Role.MEMBER)
def own_page(context: Context) -> Response:
    with context.database.read() as session:
        rows = submissions.listed(session, context.caller)
    return context.render("submissions.html", rows=rows, benchmark=None)


@routes.page("/benchmarks/{slug}/submissions", role=Role.ORGANISER)
def all_page(context: Context, slug: str) -> Response:
    """The submissions of all teams, for the benchmark's owner."""
    with context.database.read() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        rows = submissions.listed(session, context.caller, benchmark, everyone=True)
    return context.render("submissions.html", rows=rows, benchmark=benchmark)


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER)
def submit_page(context: Context, slug: str) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.find(session, slug)
    return context.render("submit.html", benchmark=benchmark, system="", refusal=None)


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER, methods=("POST",))
def submit_done(
    context: Context, slug: str, file: UploadFile, system: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    context.state.limits.submit_account.take(str(context.caller.account_id))
    upload = uploads.Upload(file.file.read(), submissions.display_name(file.filename or ""), system)
    with context.database.read() as session:
        benchmark = catalogue.find(session, slug)
    try:
        submission, new = uploads.receive(context, slug, upload)
    except Refused as refusal:
        return context.render("submit.html", refusal.status, benchmark=benchmark, system=system, refusal=refusal)
    return context.redirect(f"/submissions/{submission.id}", "" if new else "same-file")


@routes.page("/submissions/{submission_id}", role=Role.MEMBER)
def submission_page(context: Context, submission_id: int) -> Response:
    with context.database.read() as session:
        standing = submissions.find(session, context.caller, submission_id)
        may_delete = removal.may_delete(context.caller, standing.submission, standing.benchmark)
    return context.render("submission.html", standing=standing, may_delete=may_delete)


@routes.page("/submissions/{submission_id}/state", role=Role.MEMBER)
def submission_state(context: Context, submission_id: int) -> Response:
    """The progress that the page polls while the submission is scored."""
    with context.database.read() as session:
        standing = submissions.find(session, context.caller, submission_id)
    return JSONResponse({"state": standing.state, "progress": standing.job.progress})
