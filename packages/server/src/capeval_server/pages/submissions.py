"""Submissions: sending one, following it, and the team's list."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, UploadFile
from fastapi.responses import JSONResponse, Response

from capeval_server.accounts.access import Role
from capeval_server.boards import benchmarks, submissions
from capeval_server.web.errors import Refused
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here

routes = Routes()


@routes.page("/submissions", role=Role.MEMBER)
def own_page(visit: Here) -> Response:
    with visit.database.read() as session:
        rows = submissions.listed(session, visit.caller)
    return visit.render("submissions.html", rows=rows, benchmark=None)


@routes.page("/benchmarks/{slug}/submissions", role=Role.ORGANISER)
def all_page(visit: Here, slug: str) -> Response:
    """What all teams have sent, for the benchmark's owner."""
    with visit.database.read() as session:
        benchmark = benchmarks.owned(session, visit.caller, slug)
        rows = submissions.listed(session, visit.caller, benchmark, everyone=True)
    return visit.render("submissions.html", rows=rows, benchmark=benchmark)


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER)
def submit_page(visit: Here, slug: str) -> Response:
    with visit.database.read() as session:
        benchmark = benchmarks.find(session, slug)
    return visit.render("submit.html", benchmark=benchmark, system="", refusal=None)


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER, methods=("POST",))
def submit_done(
    visit: Here, slug: str, file: UploadFile, system: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    visit.site.limits.submit_account.take(str(visit.caller.account_id))
    upload = benchmarks.Upload(file.file.read(), submissions.display_name(file.filename or ""), system)
    with visit.database.read() as session:
        benchmark = benchmarks.find(session, slug)
    try:
        submission, new = benchmarks.receive(visit, slug, upload)
    except Refused as refusal:
        return visit.render("submit.html", refusal.status, benchmark=benchmark, system=system, refusal=refusal)
    return visit.redirect(f"/submissions/{submission.id}", "" if new else "same-file")


@routes.page("/submissions/{submission_id}", role=Role.MEMBER)
def submission_page(visit: Here, submission_id: int) -> Response:
    with visit.database.read() as session:
        standing = submissions.find(session, visit.caller, submission_id)
    return visit.render("submission.html", standing=standing)


@routes.page("/submissions/{submission_id}/state", role=Role.MEMBER)
def submission_state(visit: Here, submission_id: int) -> Response:
    """What the page asks again and again while the submission is scored."""
    with visit.database.read() as session:
        standing = submissions.find(session, visit.caller, submission_id)
    return JSONResponse({"state": standing.state, "progress": standing.job.progress})
