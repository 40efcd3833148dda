"""Submissions: sending one, following it, taking it off the board, and the team's list."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, UploadFile
from fastapi.responses import Response, StreamingResponse
from starlette.background import BackgroundTask

from sacrecap_server.accounts.access import Role
from sacrecap_server.api import studies
from sacrecap_server.boards import catalogue, removal, rules, submissions, uploads
from sacrecap_server.boards import host_export as board_rows
from sacrecap_server.boards.board_view import longest_ngram
from sacrecap_server.errors import Refused
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark
from sacrecap_server.web.context import Context, RequestContext
from sacrecap_server.web.receive import receive
from sacrecap_server.web.routing import Routes

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
    return context.render("submissions.html", rows=rows, benchmark=benchmark, kinds=board_rows.ABOUT_ROWS)


@routes.page("/benchmarks/{slug}/submissions.zip", role=Role.ORGANISER)
def all_files(context: Context, slug: str) -> Response:
    """The files of all submissions, for the benchmark's owner."""
    with context.database.read() as session:
        file = board_rows.archive(session, catalogue.owned(session, context.caller, slug))
    headers = context.attachment(f"{slug}-submissions.zip")
    return StreamingResponse(
        iter(lambda: file.read(1 << 16), b""),
        media_type="application/zip",
        headers=headers,
        background=BackgroundTask(file.close),
    )


@routes.page("/benchmarks/{slug}/study", role=Role.ORGANISER, methods=("POST",))
def study_of_rows(
    context: Context,
    slug: str,
    kind: Annotated[str, Form(max_length=40)] = "",
    items: Annotated[int, Form()] = 100,
    images: Annotated[str, Form(max_length=400)] = "",
) -> Response:
    """A study of the board's rows, paused at first; for the benchmark's owner."""
    with context.database.read() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        file = board_rows.study_of(session, benchmark, kind, items, images.strip())
    made = studies.make_study(context, file)
    return context.redirect(f"/studies/{made.id}", "study-made")


@routes.page("/submissions/{submission_id}/captions", role=Role.MEMBER)
def captions_file(context: Context, submission_id: int) -> Response:
    """The file as it was sent, for its team and for the benchmark's owner."""
    with context.database.read() as session:
        submission = submissions.find(session, context.caller, submission_id).submission
        data = blobs.fetch(session, submission.file_sha)
    headers = context.attachment(board_rows.file_name(submission))
    return Response(data, media_type="application/octet-stream", headers=headers)


@routes.page("/benchmarks/{slug}/rules", role=Role.ANYONE)
def rules_page(context: Context, slug: str) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        accepted = rules.accepted(session, context.caller, benchmark)
        owner = context.caller.owns(benchmark.owner_id)
        acceptances = rules.acceptances(session, benchmark) if owner else []
    return context.render("rules.html", benchmark=benchmark, accepted=accepted, acceptances=acceptances)


@routes.page("/benchmarks/{slug}/rules", role=Role.MEMBER, methods=("POST",))
def accept_rules(context: Context, slug: str, accept: Annotated[int | None, Form()] = None) -> Response:
    """`accept` is the version that was read; without it the box was left empty."""
    with context.database.write() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        if accept is None:
            raise Refused(422, "Tick the box to accept the rules; without it nothing can be submitted.")
        rules.accept(session, context.caller, benchmark, accept)
        context.audit(session, "rules.accepted", f"{slug} version {accept}")
    return context.redirect(f"/benchmarks/{slug}/submit", "rules-accepted")


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER)
def submit_page(context: Context, slug: str) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.find(session, context.caller, slug)
        accepted = rules.accepted(session, context.caller, benchmark)
    takes = context.caller.team_id is not None and catalogue.is_open(benchmark)
    if takes and not accepted and not context.caller.owns(benchmark.owner_id):
        return context.render("rules.html", benchmark=benchmark, accepted=False, acceptances=[])
    return _submit_page(context, benchmark)


@routes.page("/benchmarks/{slug}/submit", role=Role.MEMBER, methods=("POST",))
async def submit_done(
    context: Context,
    slug: str,
    file: UploadFile,
    system: Annotated[str, Form(max_length=400)] = "",
    baseline: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """In the upload room's threads, of which there are few: pages and health keep theirs."""

    def work() -> Response:
        upload = uploads.Upload(file.file.read(), submissions.display_name(file.filename or ""), system, bool(baseline))
        with context.database.read() as session:
            benchmark = catalogue.find(session, context.caller, slug)
        try:
            submission, new = receive(context, slug, upload)
        except Refused as refusal:
            page = _submit_page(context, benchmark, system=system, baseline=bool(baseline), refusal=refusal)
            if refusal.retry_after is not None:
                page.headers["Retry-After"] = str(refusal.retry_after)
            return page
        return context.redirect(f"/submissions/{submission.id}", "" if new else "same-file")

    room = context.state.uploads
    async with room.place(context.caller.account_id):
        return await room.run(work)


def _submit_page(
    context: RequestContext,
    benchmark: Benchmark,
    *,
    system: str = "",
    baseline: bool = False,
    refusal: Refused | None = None,
) -> Response:
    takes = context.caller.team_id is not None and catalogue.is_open(benchmark)
    return context.render(
        "submit.html",
        refusal.status if refusal else 200,
        benchmark=benchmark,
        system=system,
        refusal=refusal,
        takes=takes,
        baseline=baseline,
        owner=context.caller.owns(benchmark.owner_id),
        stage=catalogue.stage(benchmark),
        fewest_words=longest_ngram(benchmark.metrics),
    )


@routes.page("/submissions/{submission_id}", role=Role.MEMBER)
def submission_page(context: Context, submission_id: int) -> Response:
    with context.database.read() as session:
        standing = submissions.find(session, context.caller, submission_id)
        may_delete = not removal.problem_with_removal(context.caller, standing.submission, standing.benchmark)
    return context.render(
        "submission.html",
        standing=standing,
        may_delete=may_delete,
        owner=context.caller.owns(standing.benchmark.owner_id),
        may_choose=submissions.may_choose(context.caller, standing),
        rank_by=standing.benchmark.rank_by,
    )


@routes.page("/submissions/{submission_id}/choose", role=Role.MEMBER, methods=("POST",))
def choose_submission(
    context: Context, submission_id: int, chosen: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """The one of its team that counts; without `chosen`, the team's best one counts again."""
    with context.database.write() as session:
        standing = submissions.find(session, context.caller, submission_id)
        submissions.choose(session, context.caller, standing, chosen=bool(chosen))
        context.audit(session, "submission.chosen" if chosen else "submission.not-chosen", str(submission_id))
    context.state.jobs.wake()
    return context.redirect(f"/submissions/{submission_id}", "saved")


@routes.page("/submissions/{submission_id}/disqualify", role=Role.ORGANISER, methods=("POST",))
def disqualify_submission(
    context: Context, submission_id: int, reason: Annotated[str, Form(max_length=1000)] = ""
) -> Response:
    """With a reason, off the board; without one, back to it."""
    reason = " ".join(reason.split())
    with context.database.write() as session:
        standing = submissions.find(session, context.caller, submission_id)
        submissions.disqualify(session, context.caller, standing, reason)
        action = "submission.disqualified" if reason else "submission.reinstated"
        context.audit(session, action, f"{submission_id}: {reason}")
    context.state.jobs.wake()
    return context.redirect(f"/submissions/{submission_id}", "saved")
