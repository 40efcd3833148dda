"""A contest that teams cannot steer: what counts when it has closed, what quotas count, and who waits for whom."""

from __future__ import annotations

import json
import threading
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
from people import confirmed, register, signed_in
from sqlalchemy import func, select, update

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import scoring, sender
from sacrecap_server.jobs import jobs
from sacrecap_server.store.models import Account, AuditEntry, Benchmark, Job, Submission, SubmissionScore, Team, now
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit, submitted
from sacrecap_server_testing.boards import close, enter, worse
from sacrecap_server_testing.world import PASSWORD, World

CAREFUL, TEMPLATE = (json.loads(SYSTEMS[name]) for name in ("careful", "template"))


def rows(world, **query):
    """Team and system of each row of the board, in its order."""
    body = world.api().get("/api/v1/benchmarks/ours/board", params=query).json()
    return [(row["team"], row["system"]) for row in body["rows"]]


# What counts


def test_after_the_closing_date_no_team_changes_what_counts(strict_world):
    """The attack: look at the private scores of all of one's submissions, and take away those above the best."""
    world = strict_world
    make(world, metrics="cider-d", private_share="50", closes="2100-01-01T00:00")
    world.account(Role.MEMBER)
    numbers = [enter(world, "Team MEMBER", worse(images), system=f"{images} lost") for images in (0, 10, 20, 30)]
    enter(world, "Honest", worse(5))
    world.run_jobs()
    member, api = world.browser(Role.MEMBER), world.api(Role.MEMBER)
    assert member.post(f"/submissions/{numbers[1]}/choose", chosen="yes").status_code == 303
    close(world)
    before = rows(world)
    assert ("Team MEMBER", "10 lost") in before
    assert len({api.get(f"/api/v1/submissions/{number}").json()["scores"]["cider-d"] for number in numbers}) > 1
    for number in numbers:
        for chosen in ("", "yes"):
            assert member.post(f"/submissions/{number}/choose", chosen=chosen).status_code == 403
        assert member.post(f"/submissions/{number}/delete").status_code == 403
        assert "Let this one count" not in member.get(f"/submissions/{number}").text
    renamed = member.post("/team/rename", name="Somebody Else")
    assert (renamed.status_code, "has closed: its results and its name stay" in renamed.text) == (422, True)
    assert member.post("/team/leave").status_code == 303
    world.run_jobs()
    assert rows(world) == before
    organiser = world.browser(Role.ORGANISER)
    again = organiser.post("/benchmarks/ours/edit", title="Our benchmark", own_scores="yes", closes="2100-01-01T00:00")
    assert again.status_code == 422
    assert "the private scores are shown, so the benchmark stays closed" in again.text
    # The organiser can, with a reason, and it is recorded.
    organiser.post(f"/submissions/{numbers[1]}/disqualify", reason="Copied.")
    assert ("Team MEMBER", "0 lost") in rows(world)
    with world.database.read() as session:
        done = session.execute(select(AuditEntry.action).where(AuditEntry.action.like("submission.%"))).scalars().all()
    assert done == ["submission.chosen", "submission.disqualified"]


def test_a_closing_date_that_is_moved_after_the_end_is_on_the_board(strict_world):
    """Where the board was closed until the end, all have seen it, and could answer it."""
    world = strict_world
    make(world, metrics="cider-d", closes="2100-01-01T00:00")
    organiser = world.browser(Role.ORGANISER)

    def moved(closes):
        fields = {"title": "Our benchmark", "own_scores": "yes", "closes": closes}
        assert organiser.post("/benchmarks/ours/edit", **fields).status_code == 303
        told = world.api().get("/api/v1/benchmarks/ours").json()["reopened"]
        assert ("opened again" in world.browser().get("/benchmarks/ours").text) == (told is not None)
        return told

    assert moved("2101-01-01T00:00") is None
    close(world)
    assert moved("2020-01-01T00:00") is None
    assert moved("2100-01-01T00:00") is not None
    close(world)
    assert moved("") is not None


def test_attempts_count_on_the_images_that_choose_the_row_and_on_no_others(world):
    """The public images chose the best of four, so that private ones need no correction."""
    make(world, metrics="cider-d", private_share="50", closes="2100-01-01T00:00")
    for images in (0, 10, 20, 30):
        enter(world, "Often", worse(images))
    enter(world, "Once", worse(5))
    world.run_jobs()

    def told():
        found = world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]
        return {row["team"]: (row["attempts"], row["intervals"]["cider-d"]) for row in found}

    public = told()
    assert {team: attempts for team, (attempts, _) in public.items()} == {"Often": 4, "Once": 1}
    with world.database.read() as session:
        best = (
            session.execute(
                select(SubmissionScore).where(SubmissionScore.part == "public").order_by(SubmissionScore.submission_id)
            )
            .scalars()
            .first()
        )
    lower, upper = public["Often"][1]
    assert lower < best.lower
    assert upper == pytest.approx(best.upper, abs=1e-4)
    close(world)
    assert {team: attempts for team, (attempts, _) in told().items()} == {"Often": 1, "Once": 1}


def test_a_team_that_everybody_left_is_on_no_open_board(strict_world):
    """One that is left after the closing date stays."""
    world = strict_world
    make(world, metrics="cider-d", closes="2100-01-01T00:00")
    make(world, slug="over", title="Over", metrics="cider-d", closes="2100-01-01T00:00")
    world.account(Role.MEMBER)
    for slug in ("ours", "over"):
        enter(world, "Team MEMBER", CAREFUL, slug=slug)
        enter(world, "B", TEMPLATE, slug=slug)
    world.run_jobs()
    with world.database.write() as session:
        session.execute(update(Benchmark).where(Benchmark.slug == "over").values(closes=now()))
    world.browser(Role.MEMBER).post("/team/leave")
    assert rows(world) == [("B", "A system")]
    body = world.api().get("/api/v1/benchmarks/over/board").json()
    assert [row["team"] for row in body["rows"]] == ["Team MEMBER", "B"]
    # Nor does it come back when the other benchmark closes.
    close(world)
    assert rows(world) == [("B", "A system")]


# Quotas


def new_team(member, name):
    assert member.post("/team/leave").status_code == 303
    assert member.post("/account/team", team=name, affiliation="").status_code == 303


def test_a_new_team_is_no_new_quota(strict_world):
    """The attack: leave the team, make a team, submit, again and again."""
    world = strict_world
    make(world, metrics="cider-d", quota_total=2)
    member = world.browser(Role.MEMBER)
    sent = [submit(world, json.dumps(worse(number)).encode()).status_code for number in range(3)]
    for number in range(2):
        new_team(member, f"New {number}")
        sent.append(submit(world, json.dumps(worse(10 + number)).encode()).status_code)
    assert sent == [303, 303, 429, 429, 429]
    world.run_jobs()
    assert rows(world) == []


SAME_MAILBOX = ["ME@Example.org", "me+1@example.org", "me+1+2@example.org"]
AT_GMAIL = ["m.e@gmail.com", "Me@GMail.com", "me+more@googlemail.com", "m.e.@googlemail.com"]


@pytest.mark.parametrize(
    ("one", "others"),
    [("me@example.org", SAME_MAILBOX), ("me+9@example.org", SAME_MAILBOX), ("me@gmail.com", AT_GMAIL)],
)
def test_a_mailbox_has_one_account_however_its_address_is_written(mail_world, one, others):
    """The attack: any number of confirmed people, teams and quotas, by labels after a plus. Letters go to the first."""
    world = mail_world
    browser = confirmed(world, one)
    for number, other in enumerate(others):
        assert register(world, other, f"Another {number}", address=f"192.0.2.{number}").status_code == 303
        assert {letter["To"] for letter in world.mail()} == {one}
    with world.database.read() as session:
        assert session.execute(select(Account.email)).scalars().all() == [one]
        assert session.execute(select(func.count()).select_from(Team)).scalar_one() == 1
    assert "New team" in browser.get("/account").text
    # Whoever writes their address in another way signs in all the same; limits count the mailbox.
    signed_in(world, others[0])
    for other in [one, *others, *others][:6]:
        world.browser().post("/sign-in", email=other, password="wrong")  # noqa: S106
    assert world.browser().post("/sign-in", email=one, password=PASSWORD).status_code == 429


def test_other_mailboxes_are_other_people(mail_world):
    different = [
        "me@example.org",
        "m.e@example.org",
        "me2@example.org",
        "me@gmail.org",
        "+me@example.org",
        "+@example.org",
    ]
    for number, address in enumerate(different):
        register(mail_world, address, f"Team {number}", address=f"192.0.2.{number}")
    with mail_world.database.read() as session:
        assert session.execute(select(func.count()).select_from(Account)).scalar_one() == len(different)


def test_a_quota_counts_what_was_deleted_with_its_team(strict_world):
    world = strict_world
    make(world, metrics="cider-d", quota_total=1)
    submitted(world, "careful")
    member = world.browser(Role.MEMBER)
    assert member.post("/team/delete", name="Team MEMBER").status_code == 303
    assert member.post("/account/team", team="Another", affiliation="").status_code == 303
    refused = submit(world, SYSTEMS["plain"])
    assert refused.status_code == 429
    assert "submissions: 1" in refused.text


def test_a_team_has_one_quota_however_many_people_it_has(world):
    make(world, metrics="cider-d", quota_total=1)
    submitted(world, "careful")
    other = world.account(Role.ADMIN)
    with world.database.write() as session:
        team = session.get_one(Account, world.account(Role.MEMBER)).team_id
        session.get_one(Account, other).team_id = team
    assert submit(world, SYSTEMS["plain"], role=Role.ADMIN).status_code == 429


def test_a_submission_that_failed_costs_nothing_also_when_it_is_deleted(world):
    make(world, metrics="cider-d", quota_total=1)
    number = submitted(world, "careful")
    with world.database.write() as session:
        session.execute(update(Job).values(state="failed"))
    member = world.browser(Role.MEMBER)
    assert "1 left today, 1 in all" in member.get("/benchmarks/ours").text
    assert member.post(f"/submissions/{number}/delete").status_code == 303
    submitted(world, "plain")
    assert submit(world, SYSTEMS["template"]).status_code == 429


def test_a_comparison_that_was_asked_for_counts_in_the_quota_once(world):
    make(world, metrics="cider-d", quota_total=4)
    numbers = [submitted(world, system) for system in SYSTEMS]
    world.run_jobs()
    member = world.browser(Role.MEMBER)
    for _ in range(2):
        assert member.post("/benchmarks/ours/compare", a=numbers[0], b=numbers[1]).status_code == 303
        world.run_jobs()
    assert "0 left today, 0 in all" in member.get("/benchmarks/ours").text
    assert member.post("/benchmarks/ours/compare", a=numbers[0], b=numbers[2]).status_code == 429
    assert world.browser(Role.ORGANISER).post("/benchmarks/ours/compare", a=numbers[0], b=numbers[2]).status_code == 303


# Turns


def test_nobody_waits_for_all_comparisons_of_somebody_else(any_world):
    """Kinds take turns, and teams within a kind, however many jobs one of them asked for."""
    world = any_world
    make(world, metrics="cider-d")
    numbers = [enter(world, "Greedy", worse(number)) for number in range(6)]
    world.run_jobs()
    with world.database.write() as session:
        benchmark, caller = session.execute(select(Benchmark)).scalar_one(), world.account(Role.ADMIN)
        greedy = session.get_one(Submission, numbers[0]).team_id
        for other in numbers[1:]:
            for kind in (scoring.ASKED, scoring.AGAIN):
                jobs.add(session, kind, other, share=greedy)
        assert benchmark.owner_id != caller
    new = enter(world, "New", CAREFUL)
    taken = taken_in_turn(world)
    assert taken.index((scoring.KIND, new)) <= 2
    # Of two teams that score again, neither waits for all of the other's.
    with world.database.write() as session:
        for number in numbers[:4]:
            jobs.add(session, scoring.AGAIN, number, share=greedy)
        jobs.add(session, scoring.AGAIN, new, share=session.get_one(Submission, new).team_id)
    assert taken_in_turn(world).index((scoring.AGAIN, new)) <= 1


def taken_in_turn(world):
    """Kind and subject of the jobs that wait, in the order in which a runner takes them."""
    taken = []
    while job := world.state.jobs._take(None):
        number, kind, subject, _ = job
        taken.append((kind, subject))
        with world.database.write() as session:
            session.execute(update(Job).where(Job.id == number).values(state="done"))
    return taken


class _Silent(BaseRequestHandler):
    """Takes a message and never answers it."""

    def handle(self):
        self.server.asked.set()
        self.server.over.wait()


@pytest.fixture
def silent():
    with ThreadingTCPServer(("127.0.0.1", 0), _Silent) as server:
        server.daemon_threads = True
        server.asked, server.over = threading.Event(), threading.Event()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


def test_a_webhook_that_never_answers_delays_no_scoring(tmp_path, silent, monkeypatch):
    """While it is waited for, with one worker, a submission is scored."""
    # The webhook's limits must not end the wait for it: only the test does.
    monkeypatch.setattr(sender, "_SECONDS", None)
    monkeypatch.setattr(sender, "_SECONDS_IN_ALL", threading.TIMEOUT_MAX)
    world, is_scored = World(tmp_path, workers=1, private_webhooks=True), threading.Event()
    store = jobs.JOB_KINDS[scoring.KIND]
    noting = jobs.JobKind(store.prepare, store.compute, lambda *given: (store.store(*given), is_scored.set()))
    monkeypatch.setitem(jobs.JOB_KINDS, scoring.KIND, noting)
    make(world, metrics="cider-d")
    owner = world.browser(Role.ORGANISER)
    owner.post("/benchmarks/ours/webhooks", url=f"http://127.0.0.1:{silent.server_address[1]}/")
    owner.post("/benchmarks/ours/webhooks/1/test")
    world.state.jobs.start()
    try:
        silent.asked.wait()
        enter(world, "A", CAREFUL)
        world.state.jobs.wake()
        is_scored.wait()
        assert not silent.over.is_set()
    finally:
        silent.over.set()
        world.state.close()
