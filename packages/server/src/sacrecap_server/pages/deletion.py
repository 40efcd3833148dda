"""Deleting: one's account, a submission, a benchmark, and what one person answered in a study."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts import teams
from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.account_removal import Belongings, belongings, remove_account
from sacrecap_server.boards import catalogue, submissions
from sacrecap_server.boards.removal import (
    problem_with_removal,
    problem_with_team_removal,
    remove_benchmark,
    remove_submission,
    remove_team,
)
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Account, Annotator, Assignment, Benchmark, Study, Submission, Team
from sacrecap_server.studies import repository, review
from sacrecap_server.web.attempts import Attempt
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.routing import Routes
from sacrecap_studies.messages import Message

routes = Routes()
Text = Annotated[str, Form(max_length=400)]


@routes.page("/account/delete", role=Role.MEMBER)
def account_page(context: Context) -> Response:
    """What goes with the account, and what stays."""
    return _account(context)


@routes.page("/account/delete", role=Role.MEMBER, methods=("POST",), always=True)
def account_done(context: Context, password: Text = "", email: Text = "", team: Text = "keep") -> Response:
    """Asks for the password again; for the address, where people sign in at a provider and have no password."""
    with context.database.read() as session:
        account = session.get_one(Account, context.caller.account_id)
    attempt = None
    if account.password:
        attempt = Attempt(context, account.email, "account.deleted")
        if attempt.verified(password) is None:
            return _account(context, Message("The password is wrong. Nothing was deleted."))
    elif email.strip().lower() != account.email:
        return _account(context, Message("That is not the address of this account. Nothing was deleted."))
    with context.database.write() as session:
        account = session.get_one(Account, context.caller.account_id, with_for_update=True)
        if account.removed is None:
            # First, so that the entry loses its IP address with the others.
            if attempt is None:
                context.audit(session, "account.deleted", f"account {account.id}")
            else:
                attempt.succeeded(session)
            session.flush()
            _remove_account(session, account, with_team=team == "delete")
    context.forget_cookies()
    return context.redirect("/sign-in", "account-deleted")


def _remove_account(session: Session, account: Account, *, with_team: bool) -> None:
    if teams.is_last(session, account):
        team = session.get_one(Team, account.team_id)
        submitted = session.execute(select(Submission.id).where(Submission.team_id == team.id).limit(1)).first()
        if submitted is None or with_team:
            if problem := problem_with_team_removal(session, team.id):
                raise Refused(403, problem)
            remove_team(session, team)
            session.refresh(account)
    remove_account(session, account)


def _account(context: RequestContext, problem: str = "") -> Response:
    with context.database.read() as session:
        account = session.get_one(Account, context.caller.account_id)
        last = teams.is_last(session, account)
        submitted = select(func.count()).where(Submission.team_id == account.team_id)
        count = session.execute(submitted).scalar_one() if account.team_id is not None else 0
        owned: Belongings = belongings(session, account)
        locked = problem_with_team_removal(session, account.team_id) if account.team_id is not None else None
    return context.render(
        "account-delete.html",
        422 if problem else 200,
        account=account,
        last=last,
        submitted=count,
        owned=owned,
        locked=locked,
        problem=problem,
    )


@routes.page("/submissions/{submission_id}/delete", role=Role.MEMBER)
def submission_page(context: Context, submission_id: int) -> Response:
    with context.database.read() as session:
        standing = submissions.find(session, context.caller, submission_id)
        if problem := problem_with_removal(context.caller, standing.submission, standing.benchmark):
            raise Refused(403, problem)
    return context.render("submission-delete.html", standing=standing)


@routes.page("/submissions/{submission_id}/delete", role=Role.MEMBER, methods=("POST",))
def submission_done(context: Context, submission_id: int) -> Response:
    """By the team until the benchmark closes, by the benchmark's organiser at any time."""
    with context.database.write() as session:
        standing = submissions.find(session, context.caller, submission_id)
        submission = session.get_one(Submission, submission_id)
        benchmark = session.get_one(Benchmark, submission.benchmark_id)
        if problem := problem_with_removal(context.caller, submission, benchmark):
            raise Refused(403, problem)
        mine, slug = submission.team_id == context.caller.team_id, standing.benchmark.slug
        remove_submission(session, submission, benchmark)
        context.audit(session, "submission.deleted", f"{slug} {submission_id}")
    context.state.jobs.wake()
    return context.redirect("/submissions" if mine else f"/benchmarks/{slug}/submissions", "deleted")


@routes.page("/benchmarks/{slug}/delete", role=Role.ORGANISER)
def benchmark_page(context: Context, slug: str) -> Response:
    return _benchmark(context, slug)


@routes.page("/benchmarks/{slug}/delete", role=Role.ORGANISER, methods=("POST",))
def benchmark_done(context: Context, slug: str, title: Text = "") -> Response:
    """Whoever deletes writes the title, since nothing brings the submissions back."""
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        if sure := title.split() == benchmark.title.split():
            submitted = remove_benchmark(session, benchmark)
            context.audit(session, "benchmark.deleted", f"{slug}: {submitted} submissions")
    if not sure:
        return _benchmark(context, slug, Message("That is not the title of the benchmark. Nothing was deleted."))
    return context.redirect("/benchmarks", "deleted")


def _benchmark(context: RequestContext, slug: str, problem: str = "") -> Response:
    with context.database.read() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        submitted = select(func.count(), func.count(Submission.team_id.distinct()))
        count, teams = session.execute(submitted.where(Submission.benchmark_id == benchmark.id)).one()
    return context.render(
        "benchmark-delete.html", 422 if problem else 200, benchmark=benchmark, count=count, teams=teams, problem=problem
    )


@routes.page("/studies/{study_id}/people/{annotator_id}/delete", role=Role.ORGANISER)
def person_page(context: Context, study_id: int, annotator_id: int) -> Response:
    with context.database.read() as session:
        study, person = _person(context, session, study_id, annotator_id)
        answered = select(func.count()).where(Assignment.annotator_id == person.id, Assignment.answered.is_not(None))
        count = session.execute(answered).scalar_one()
    return context.render("person-delete.html", study=study, person=person, count=count)


@routes.page("/studies/{study_id}/people/{annotator_id}/delete", role=Role.ORGANISER, methods=("POST",))
def person_done(context: Context, study_id: int, annotator_id: int) -> Response:
    """Everything of one person, as the General Data Protection Regulation gives them a right to (article 17)."""
    with context.database.write() as session:
        study, person = _person(context, session, study_id, annotator_id)
        answers = review.erase(session, study, person)
        context.audit(session, "study.erased", f"{study_id} person {annotator_id}: {answers} answers")
    return context.redirect(f"/studies/{study_id}/quality", "deleted")


def _person(context: RequestContext, session: Session, study_id: int, annotator_id: int) -> tuple[Study, Annotator]:
    study = repository.find(session, study_id, context.caller)
    person = session.get(Annotator, annotator_id)
    if person is None or person.study_id != study.id:
        raise not_found("person")
    return study, person
