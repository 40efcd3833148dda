"""Teams and their captains, invitations, what is deleted and what stays, administration page by page."""

from __future__ import annotations

import re

import pytest
from people import register, signed_in
from sqlalchemy import func, select, update
from study_world import Person, triplet_file
from study_world import make as make_study

from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.teams import captain_of, make_team
from sacrecap_server.store.models import (
    Account,
    Annotator,
    ApiToken,
    Assignment,
    AuditEntry,
    Benchmark,
    Blob,
    Invitation,
    Job,
    LoginSession,
    Submission,
    SubmissionPair,
    SubmissionScore,
    Team,
)
from sacrecap_server.studies.results import progress
from sacrecap_server_testing.benchmark import SYSTEMS, make, submitted
from sacrecap_server_testing.boards import close
from sacrecap_server_testing.world import PASSWORD


def rows(world, column, *criteria):
    with world.database.read() as session:
        return session.execute(select(column).where(*criteria)).scalars().all()


def count(world, table, *criteria):
    with world.database.read() as session:
        return session.execute(select(func.count()).select_from(table).where(*criteria)).scalar_one()


def number_of(world, email):
    return rows(world, Account.id, Account.email == email)[0]


def invitation_of(page):
    return re.search(r"invitation=([\w-]+)", page.text)[1]


def colleague(world, browser, email="second@example.org"):
    """A second person in the browser's team, signed in."""
    code = invitation_of(browser.post("/account/invite"))
    assert register(world, email, "", invitation=code).status_code == 303
    return signed_in(world, email)


def board(world):
    return [row["submission"] for row in world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]]


# Invitations


def test_an_invitation_ends_with_its_makers_right_to_give_it(strict_world):
    """An administrator who was disabled or demoted cannot come back with a link made before."""
    admin = strict_world.browser(Role.ADMIN)
    register(strict_world, "evil@example.org", "Evil")
    evil = number_of(strict_world, "evil@example.org")
    admin.post(f"/admin/accounts/{evil}", role=3)
    code = invitation_of(signed_in(strict_world, "evil@example.org").post("/admin/invitations", role=3))
    path = f"/register?invitation={code}"
    assert strict_world.browser().get(path).status_code == 200
    for change in ({"role": 3, "disabled": "yes"}, {"role": 2}):
        admin.post(f"/admin/accounts/{evil}", **change)
        assert strict_world.browser().get(path).status_code == 403
        assert register(strict_world, "back@example.org", "Back", invitation=code).status_code == 403
    assert not rows(strict_world, Account.id, Account.email == "back@example.org")
    admin.post(f"/admin/accounts/{evil}", role=3)
    assert strict_world.browser().get(path).status_code == 200


def test_whoever_is_expelled_cannot_let_others_in(world):
    """An invitation that they made before no longer works."""
    register(world)
    captain = signed_in(world)
    second = colleague(world, captain)
    code = invitation_of(second.post("/account/invite"))
    number = number_of(world, "second@example.org")
    assert captain.post(f"/team/members/{number}/expel").status_code == 303
    assert world.browser().get(f"/register?invitation={code}").status_code == 403
    assert second.get("/team").status_code == 422
    assert "New team" not in second.get("/account").text


def test_invitations_are_listed_and_revoked(strict_world):
    register(strict_world)
    captain = signed_in(strict_world)
    second = colleague(strict_world, captain)
    codes = [invitation_of(browser.post("/account/invite")) for browser in (captain, second)]
    numbers = rows(strict_world, Invitation.id, Invitation.used_by.is_(None))
    assert captain.get("/team").text.count("/revoke") == 2
    assert second.get("/team").text.count("/revoke") == 1
    assert second.post(f"/team/invitations/{numbers[0]}/revoke").status_code == 403
    assert captain.post(f"/team/invitations/{numbers[1]}/revoke").status_code == 303
    admin = strict_world.browser(Role.ADMIN)
    assert "New team" in admin.get("/admin/invitations").text
    assert strict_world.browser(Role.MEMBER).post(f"/team/invitations/{numbers[0]}/revoke").status_code == 404
    assert admin.post(f"/admin/invitations/{numbers[0]}/revoke").status_code == 303
    for code in codes:
        assert strict_world.browser().get(f"/register?invitation={code}").status_code == 403
    assert "No invitation is open" in admin.get("/admin/invitations").text


# Teams


def test_the_founder_leads_the_team_hands_it_over_and_leaves(strict_world):
    register(strict_world)
    first = signed_in(strict_world)
    second, third = (colleague(strict_world, first, f"{name}@example.org") for name in ("second", "third"))
    numbers = {name: number_of(strict_world, f"{name}@example.org") for name in ("new", "second", "third")}
    team = rows(strict_world, Account.team_id, Account.id == numbers["new"])[0]

    def captain():
        with strict_world.database.read() as session:
            return captain_of(session, team).id

    assert captain() == numbers["new"]
    for place in ("members/{third}/expel", "members/{second}/captain", "rename"):
        path = "/team/" + place.format(**numbers)
        assert second.post(path, name="Mine").status_code == 403
    assert second.get("/team/delete").status_code == 403
    assert first.post(f"/team/members/{numbers['third']}/captain").status_code == 303
    assert captain() == numbers["third"]
    assert third.post("/team/leave").status_code == 303
    assert captain() == numbers["new"]
    strict_world.browser(Role.ADMIN).post(f"/admin/accounts/{numbers['new']}", role=1, disabled="yes")
    assert captain() == numbers["second"]
    assert second.post("/team/rename", name="Good  Lab", affiliation="Here").status_code == 303
    assert rows(strict_world, Team.name, Team.id == team) == ["Good Lab"]


def test_an_old_account_that_joins_does_not_lead(world):
    """Whoever came first into the team leads it, not whose account is oldest."""
    old = world.account(Role.MEMBER)
    register(world)
    team = rows(world, Team.id, Team.name == "New team")[0]
    with world.database.write() as session:
        session.get_one(Account, old).team_id = team
    with world.database.read() as session:
        assert captain_of(session, team).email == "new@example.org"


def test_a_team_gets_no_name_that_is_not_one(world):
    world.account(Role.ORGANISER)
    member = world.browser(Role.MEMBER)
    for name in ("", "x", "team organiser", "y" * 81):
        assert member.post("/team/rename", name=name).status_code == 422
    assert rows(world, Team.name, Team.name == "Team MEMBER")


def test_a_captain_deletes_the_team(strict_world):
    make(strict_world)
    submitted(strict_world, "careful")
    strict_world.run_jobs()
    browser = strict_world.browser(Role.MEMBER)
    assert browser.post("/team/delete", name="Other").status_code == 422
    assert len(board(strict_world)) == 1
    close(strict_world)
    assert browser.post("/team/delete", name="Team MEMBER").status_code == 403
    team = rows(strict_world, Team.id, Team.name == "Team MEMBER")[0]
    assert strict_world.browser(Role.ADMIN).post(f"/admin/teams/{team}/delete", name="Team MEMBER").status_code == 303
    assert (board(strict_world), count(strict_world, Team, Team.id == team)) == ([], 0)
    assert rows(strict_world, Account.team_id, Account.id == strict_world.account(Role.MEMBER)) == [None]


# Submissions, benchmarks


def test_a_submission_is_deleted_with_all_that_hangs_on_it(strict_world):
    """The board is made anew, and the quota still counts what was deleted."""
    make(strict_world, quota_day=3)
    first = submitted(strict_world, "careful")
    second, other = submitted(strict_world, "template"), submitted(strict_world, "plain", role=Role.ADMIN)
    strict_world.run_jobs()
    assert set(board(strict_world)) == {first, other}
    browser = strict_world.browser(Role.MEMBER)
    assert browser.post(f"/submissions/{other}/delete").status_code == 404
    assert browser.get(f"/submissions/{first}/delete").status_code == 200
    files = count(strict_world, Blob)
    answer = browser.post(f"/submissions/{first}/delete")
    assert answer.headers["location"] == "/submissions?notice=deleted"
    strict_world.run_jobs()
    assert set(board(strict_world)) == {second, other}
    assert count(strict_world, SubmissionPair, SubmissionPair.a_id == second, SubmissionPair.b_id == other)
    for table, column in ((SubmissionScore, SubmissionScore.submission_id), (SubmissionPair, SubmissionPair.a_id)):
        assert count(strict_world, table, column == first) == 0
    assert count(strict_world, Job, Job.subject_id == first, Job.kind == "score") == 0
    assert count(strict_world, Blob) == files - 1
    assert "1 left today" in browser.get("/benchmarks/ours").text
    close(strict_world)
    assert browser.post(f"/submissions/{second}/delete").status_code == 403
    assert "/delete" not in browser.get(f"/submissions/{second}").text
    assert strict_world.browser(Role.ORGANISER).post(f"/submissions/{second}/delete").status_code == 303
    assert board(strict_world) == [other]


def test_a_job_of_a_submission_that_is_gone_stores_nothing(world):
    make(world)
    number = submitted(world, "careful")
    assert world.browser(Role.MEMBER).post(f"/submissions/{number}/delete").status_code == 303
    with world.database.write() as session:
        session.add(Job(kind="score", subject_id=number))
    world.run_jobs()
    assert rows(world, Job.message) == ["Its subject was deleted."]


def test_a_benchmark_is_deleted_with_everything(strict_world):
    make(strict_world)
    submitted(strict_world, "careful")
    strict_world.run_jobs()
    owner = strict_world.browser(Role.ORGANISER)
    assert strict_world.browser(Role.MEMBER).get("/benchmarks/ours/delete").status_code == 403
    assert owner.post("/benchmarks/ours/delete", title="ours").status_code == 422
    assert owner.get("/benchmarks/ours/delete").status_code == 200
    assert owner.post("/benchmarks/ours/delete", title="Our benchmark").status_code == 303
    assert owner.get("/benchmarks/ours").status_code == 404
    for table in (Benchmark, Submission, SubmissionScore, Job, Blob):
        assert count(strict_world, table) == 0


def test_the_rows_of_a_disabled_account_leave_the_boards_and_come_back(world):
    """Disabling the account leaves them there; an administrator takes them away and puts them back."""
    make(world)
    number, other = submitted(world, "careful"), submitted(world, "plain", role=Role.ORGANISER)
    world.run_jobs()
    admin, path = world.browser(Role.ADMIN), f"/admin/accounts/{world.account(Role.MEMBER)}"
    admin.post(path, role=1, disabled="yes")
    assert set(board(world)) == {number, other}
    assert admin.post(f"{path}/boards").status_code == 303
    assert board(world) == [other]
    assert "Put it back" in admin.get(path).text
    assert admin.post(f"{path}/boards", shown="yes").status_code == 303
    assert set(board(world)) == {number, other}


# Accounts


def test_an_account_is_deleted_and_nothing_of_the_person_stays(strict_world):
    """What somebody typed as e-mail address at a failed sign-in is not kept either."""
    register(strict_world, "anna@example.org")
    browser = signed_in(strict_world, "anna@example.org")
    browser.post("/account/tokens", name="laptop")
    strict_world.browser().post("/sign-in", email="my-password-by-mistake@example.org", password="wrong")  # noqa: S106
    strict_world.browser().post("/sign-in", email="anna@example.org", password="wrong")  # noqa: S106
    number = number_of(strict_world, "anna@example.org")
    other = colleague(strict_world, browser, "joanna@example.org")
    other.post("/sign-out")
    assert browser.post("/account/delete", password="wrong").status_code == 422  # noqa: S106
    answer = browser.post("/account/delete", password=PASSWORD)
    assert answer.headers["location"] == "/sign-in?notice=account-deleted"
    assert browser.get("/account").status_code == 303
    assert strict_world.browser().post("/sign-in", email="anna@example.org", password=PASSWORD).status_code == 403
    for table in (LoginSession, ApiToken):
        assert count(strict_world, table, table.account_id == number) == 0
    texts = rows(strict_world, Account.email) + rows(strict_world, Account.password, Account.id == number)
    assert "anna@example.org" not in texts
    assert "joanna@example.org" in texts
    subjects = rows(strict_world, AuditEntry.subject)
    assert not any(re.search(r"(^|[^o])anna@|my-password", subject) for subject in subjects)
    mine = (AuditEntry.account_id == number) | (
        AuditEntry.account_id.is_(None) & (AuditEntry.subject == f"account {number}")
    )
    actions = rows(strict_world, AuditEntry.action, mine)
    assert [actions.count(each) for each in ("account.made", "sign-in", "account.deleted")] == [1, 1, 1]
    assert not any(rows(strict_world, AuditEntry.address, mine))
    register(strict_world, "anna@example.org", "Again")
    assert number_of(strict_world, "anna@example.org") != number
    assert "removed" not in strict_world.browser(Role.ADMIN).get("/admin/accounts").text


def test_who_deletes_the_account_and_comes_back_has_no_fresh_quota(strict_world):
    """However often, and by another label of the mailbox; of who never used a quota no hash is kept."""
    make(strict_world, quota_total=2)
    files = iter([SYSTEMS[system] for system in ("careful", "template", "plain")])
    for email, left in (("anna@example.org", 2), ("anna+b@example.org", 1), ("anna+c@example.org", 0)):
        register(strict_world, email, f"Team {left}")
        browser = signed_in(strict_world, email)
        answer = browser.post("/benchmarks/ours/submit", files={"file": ("a.json", next(files))}, system="A system")
        assert answer.status_code == (303 if left else 429)
        assert f"{max(left - 1, 0)} in all" in browser.get("/benchmarks/ours").text
        assert browser.post("/account/delete", password=PASSWORD).status_code == 303
    register(strict_world, "bert@example.org", "Team of Bert")
    bert = signed_in(strict_world, "bert@example.org")
    assert "2 in all" in bert.get("/benchmarks/ours").text
    assert bert.post("/account/delete", password=PASSWORD).status_code == 303
    kept = rows(strict_world, Account.mailbox, Account.removed.is_not(None))
    assert [len(each) for each in kept if not each.startswith("removed ")] == [64]
    assert not any("@" in each for each in kept)


def test_a_password_cannot_be_guessed_where_the_account_is_deleted(world):
    """The limits are those of the sign-in, so that a stolen cookie does not help to guess the password."""
    register(world)
    browser = signed_in(world)
    for status in [422] * 5 + [429]:
        assert browser.post("/account/delete", password="wrong").status_code == status  # noqa: S106
    assert browser.post("/account/delete", password=PASSWORD).status_code == 429
    assert rows(world, AuditEntry.action, AuditEntry.action.startswith("account.deleted")) == (
        ["account.deleted.refused"] * 5
    )


@pytest.mark.parametrize("choice", ["keep", "delete"])
def test_the_last_of_a_team_says_what_becomes_of_its_submissions(world, choice):
    make(world)
    register(world)
    browser = signed_in(world)
    world.accounts[Role.MEMBER] = number_of(world, "new@example.org")
    submitted(world, "careful")
    world.run_jobs()
    page = browser.get("/account/delete").text
    assert "You are the last person" in page
    assert "Submissions of the team: 1" in page
    assert browser.post("/account/delete", password=PASSWORD, team=choice).status_code == 303
    # From an open board they go in either case: another team would be a second row.
    assert board(world) == []
    assert count(world, Team, Team.name == "New team") == (choice == "keep")


def test_who_owns_something_gives_it_away_before_going(world):
    make(world)
    study = make_study(world, triplet_file())
    owner, admin = world.account(Role.ORGANISER), world.browser(Role.ADMIN)
    with world.database.write() as session:
        session.execute(update(Account).where(Account.id == owner).values(password=""))
    browser, me = world.browser(Role.ORGANISER), "organiser@example.org"
    assert "benchmarks (1) or studies (1)" in browser.get("/account/delete").text
    assert browser.post("/account/delete", email=me).status_code == 422
    path = f"/admin/accounts/{owner}"
    world.account(Role.MEMBER)
    assert admin.post(f"{path}/delete", email=me).status_code == 422
    assert admin.post(f"{path}/give", email="member@example.org").status_code == 422
    assert admin.post(f"{path}/give", email="nobody@example.org").status_code == 422
    assert admin.post(f"{path}/give", email="admin@example.org").status_code == 303
    assert admin.get(f"/studies/{study.id}").status_code == 200
    assert admin.post(f"{path}/delete", email="other@example.org").status_code == 422
    assert admin.post(f"{path}/delete", email=me).status_code == 303
    assert (admin.get(path).status_code, admin.get("/benchmarks/ours").status_code) == (404, 200)
    assert "only administrator" in admin.get("/account/delete").text


# Studies


def test_a_person_is_deleted_from_a_study_with_all_answers(strict_world):
    """The person's questions go to others, and the counts are right."""
    study = make_study(strict_world, triplet_file(pairs=3, references=1, judgments=1))
    anna, ben = (Person(strict_world, study, worker).begin() for worker in ("anna", "ben"))
    anna.answer(choice="b")
    ben.answer(choice="c")
    number = rows(strict_world, Annotator.id, Annotator.worker == "anna")[0]
    path = f"/studies/{study.id}/people/{number}/delete"
    assert strict_world.browser(Role.MEMBER).get(path).status_code == 403
    owner = strict_world.browser(Role.ORGANISER)
    assert "1 answer" in owner.get(path).text
    assert path in owner.get(f"/studies/{study.id}/quality").text
    assert owner.post(path).status_code == 303
    assert rows(strict_world, Annotator.worker) == ["ben"]
    assert count(strict_world, Assignment, Assignment.annotator_id == number) == 0
    ben.look()
    while ben.assignment:
        ben.answer(choice="b")
    with strict_world.database.read() as session:
        done = progress(session, study)
    assert (done.answers, done.wanted, done.people) == (3, 3, 1)
    assert owner.post(path).status_code == 404


# Administration


def test_long_lists_come_page_by_page_and_are_searched(world):
    """The administration's lists of accounts, teams and jobs are such, and teams of baselines are not in them."""
    admin = world.browser(Role.ADMIN)
    with world.database.write() as session:
        for number in range(120):
            team = Team(name=f"Lab {number:03}", name_key=f"lab {number:03}")
            session.add(team)
            session.flush()
            session.add(Account(email=f"p{number:03}@example.org", password="", role=1, team_id=team.id))
            session.add(Job(kind="score", subject_id=number, state="failed", message="No memory."))
    lists = {"accounts": ("p000@", "p119@"), "teams": ("Lab 000", "Lab 119"), "jobs": ("score 119", "score 1<")}
    for path, (first, last) in lists.items():
        pages = [admin.get(f"/admin/{path}?page={number}").text for number in (1, 2, 3)]
        assert [first in page for page in pages] == [True, False, False]
        assert [last in page for page in pages] == [False, False, True]
        assert "Page 3 of 3" in admin.get(f"/admin/{path}?page=9").text
    assert "p077@" in admin.get("/admin/accounts?q=LAB+077").text
    assert "p078@" not in admin.get("/admin/accounts?q=LAB+077").text
    assert "p0" not in admin.get("/admin/accounts?q=%25").text
    assert "Lab 011" in admin.get("/admin/teams?q=b+011").text
    for path in ("accounts", "teams", "invitations", "jobs"):
        assert admin.get(f"/admin/{path}?page=0").status_code == 422
    # A baseline's team is none of people; a team of theirs may be called so.
    with world.database.write() as session:
        baseline = Team(name="Baseline", name_key="BASELINE 1 abc")
        session.add(baseline)
        make_team(session, "Baseline 1", "")
    page = admin.get("/admin/teams?q=baseline").text
    assert page.count("/admin/teams/") == 1
    assert "Baseline 1" in page
    assert admin.get(f"/admin/teams/{baseline.id}").status_code == 404
    teams = count(world, Team)
    assert f"{teams - 1} teams" in admin.get("/admin").text
    job = rows(world, Job.id, Job.subject_id == 5)[0]
    assert admin.post(f"/admin/jobs/{job}/retry").status_code == 303
    assert rows(world, Job.state, Job.id == job) == ["queued"]
    assert "score 5<" not in admin.get("/admin/jobs?state=failed&page=3").text
    log = admin.get("/admin/audit?q=job.retried").text
    assert f"job {job}" in log
    assert "Nothing of that" in admin.get("/admin/audit?q=nothing+like+it").text
