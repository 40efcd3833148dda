"""Confirmed addresses, new passwords, approved teams, invitations for who has an account, names that look alike."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from people import EMAIL, code_of, confirmed, link_in, register, signed_in
from sqlalchemy import func, select, update

from sacrecap.errors import UsageError
from sacrecap_server.accounts import names
from sacrecap_server.accounts.access import Role, new_token
from sacrecap_server.accounts.limits import Pauses
from sacrecap_server.accounts.operate import make_admin, reset_link
from sacrecap_server.mail import post
from sacrecap_server.pages import account as account_pages
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, AuditEntry, OneTimeCode, RateCount, Submission, Team, now
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit
from sacrecap_server_testing.world import PASSWORD

NEW = "another password"


def account(world, email=EMAIL):
    with world.database.read() as session:
        return session.execute(select(Account).where(Account.email == email)).scalar_one()


def teams(world):
    with world.database.read() as session:
        return set(session.execute(select(Team.name)).scalars())


def write_to(world, email=EMAIL):
    """The messages to an address."""
    return [message for message in world.mail() if message["To"] == email]


# Confirming the address


def test_until_the_address_is_confirmed_an_account_only_looks(mail_world):
    """Until then it may not submit, make tokens, invite others, or make or join a team."""
    make(mail_world)
    register(mail_world)
    browser = signed_in(mail_world)
    assert "Confirm your address" in browser.get("/account").text
    sent = browser.post("/benchmarks/ours/submit", files={"file": ("a.json", SYSTEMS["careful"])}, system="x")
    for answer in (
        sent,
        browser.post("/account/tokens", name="x"),
        browser.post("/account/invite"),
        browser.post("/account/team", team="Other"),
        browser.post("/account/join", invitation="x"),
    ):
        assert answer.status_code == 403
        assert "Confirm your e-mail address first" in answer.text
    with mail_world.database.write() as session:
        token = new_token(session, account(mail_world).id, "made elsewhere")
    api = mail_world.client()
    api.headers["Authorization"] = f"Bearer {token}"
    answer = api.post("/api/v1/benchmarks/ours/submissions?system=x", content=SYSTEMS["careful"])
    assert (answer.status_code, "Confirm" in answer.json()["error"]["message"]) == (403, True)
    with mail_world.database.read() as session:
        assert session.execute(select(func.count()).select_from(Submission)).scalar_one() == 0
    [message] = write_to(mail_world)
    assert browser.post("/confirm", code=code_of(link_in(message))).status_code == 303
    sent = browser.post("/benchmarks/ours/submit", files={"file": ("a.json", SYSTEMS["careful"])}, system="x")
    assert sent.status_code == 303


def test_the_link_needs_the_password_works_once_and_makes_the_team(mail_world):
    """Who gives a stranger's address cannot have the stranger confirm it by a click."""
    register(mail_world, affiliation="Example University")
    assert teams(mail_world) == set()
    [message] = write_to(mail_world)
    path = link_in(message)
    browser = mail_world.browser()
    page = browser.get(path)
    assert page.headers["referrer-policy"] == "no-referrer"
    assert account(mail_world).confirmed is None
    assert browser.post("/confirm", code=code_of(path), password="a wrong one").status_code == 403  # noqa: S106
    assert browser.post("/confirm", code="x", password=PASSWORD).status_code == 404
    assert account(mail_world).confirmed is None
    answer = browser.post("/confirm", code=code_of(path), password=PASSWORD)
    assert answer.headers["location"] == "/account?notice=confirmed"
    assert "New team" in browser.get("/account").text
    with mail_world.database.read() as session:
        assert session.execute(select(Team.affiliation)).scalar_one() == "Example University"
    assert browser.get(path).status_code == 404
    assert browser.post("/confirm", code=code_of(path), password=PASSWORD).status_code == 404


def test_a_link_expires_and_another_can_be_had_but_not_any_number(mail_world):
    register(mail_world)
    [first] = write_to(mail_world)
    with mail_world.database.write() as session:
        session.execute(update(OneTimeCode).values(expires=now() - dt.timedelta(seconds=1)))
    browser = signed_in(mail_world)
    assert browser.get(link_in(first)).status_code == 404
    for _ in range(4):
        assert browser.post("/account/confirm").status_code == 303
    refused = browser.post("/account/confirm")
    assert (refused.status_code, int(refused.headers["retry-after"]) > 60) == (429, True)
    messages = write_to(mail_world)
    assert len(messages) == 5
    assert browser.post("/confirm", code=code_of(link_in(messages[-1]))).status_code == 303
    # The other links went with it.
    assert browser.get(link_in(messages[-2])).status_code == 404
    assert browser.post("/account/confirm").status_code == 303
    assert len(write_to(mail_world)) == 5


def test_a_name_that_was_taken_meanwhile_can_be_chosen_again(mail_world):
    register(mail_world, "slow@example.org", "Good Lab")
    confirmed(mail_world, "quick@example.org", "Good Lab")
    [message] = write_to(mail_world, "slow@example.org")
    browser = mail_world.browser()
    answer = browser.post("/confirm", code=code_of(link_in(message)), password=PASSWORD)
    assert answer.headers["location"] == "/account?notice=confirmed-taken"
    assert "choose another below" in browser.get(answer.headers["location"]).text
    assert browser.post("/account/team", team="Good Lab").status_code == 422
    assert browser.post("/account/team", team="Better Lab").status_code == 303
    assert teams(mail_world) == {"Good Lab", "Better Lab"}


# Who has an account


def test_registering_tells_nobody_which_addresses_have_accounts(mail_world):
    """The answer is the same for all, and so is the next one, for the same team by another address."""
    confirmed(mail_world, "known@example.org", "Known team")
    answers, later = [], []
    for email, team in (("known@example.org", "Team A"), ("free@example.org", "Team B")):
        answers.append(register(mail_world, email, team))
        later.append(register(mail_world, f"other-{team[-1].lower()}@example.org", team))
    assert {(answer.status_code, answer.headers["location"], answer.text) for answer in answers + later} == {
        (303, "/sign-in?notice=registered-mail", "")
    }
    message = write_to(mail_world, "known@example.org")[-1]
    assert "You have an account already" in message.get_content()
    assert "code=" not in message.get_content()
    signed_in(mail_world, "known@example.org")
    assert teams(mail_world) == {"Known team"}


def test_a_known_address_costs_what_a_new_one_costs(mail_world, monkeypatch):
    """Both take as many hashes, writes and letters, so that the time tells nothing either."""
    confirmed(mail_world, "known@example.org", "Known team")
    work = Counter()
    for owner, name in ((Database, "write"), (account_pages, "hash_password"), (post, "queue")):
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, real=real, name=name: work.update([name]) or real(*a))
    costs = []
    for email in ("known@example.org", "free@example.org"):
        work.clear()
        register(mail_world, email, f"Team of {email}")
        costs.append(dict(work))
    assert costs[0] == costs[1] == {"write": 2, "hash_password": 1, "queue": 1}


def test_asking_for_a_new_password_tells_nobody_either(mail_world):
    confirmed(mail_world)
    answers = [mail_world.browser().post("/forgot", email=email) for email in (EMAIL, "unknown@example.org")]
    assert {(answer.status_code, answer.headers["location"]) for answer in answers} == {
        (303, "/forgot?notice=reset-sent")
    }
    assert [message["To"] for message in mail_world.mail() if "new password" in message["Subject"]] == [EMAIL]


def test_nobody_is_flooded_with_mail(mail_world):
    confirmed(mail_world)
    before = len(write_to(mail_world))
    for number in range(6):
        assert mail_world.browser(address=f"192.0.2.{number}").post("/forgot", email=EMAIL).status_code == 303
        assert register(mail_world, team=f"Team {number}").status_code == 303
    assert len(write_to(mail_world)) - before == 4


def test_an_invitation_used_with_a_known_address_works_for_that_account_only(mail_world):
    """For everybody else it is used up, so that nobody learns that the address was known."""
    make_admin(mail_world.database, "known@example.org", PASSWORD)
    page = mail_world.browser(Role.MEMBER).post("/account/invite").text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    assert register(mail_world, "known@example.org", team="", invitation=code).status_code == 303
    assert register(mail_world, "third@example.org", team="", invitation=code).status_code == 403
    assert mail_world.browser(Role.ORGANISER).post("/account/join", invitation=code).status_code == 404
    known = signed_in(mail_world, "known@example.org")
    assert "Team MEMBER" in known.get(f"/register?invitation={code}").text
    assert known.post("/account/join", invitation=code).status_code == 303
    assert account(mail_world, "known@example.org").team_id == account(mail_world, "member@example.org").team_id
    assert account(mail_world, "known@example.org").role == Role.ADMIN
    assert known.post("/account/join", invitation=code).status_code == 404


def test_two_who_register_at_once_get_an_account_or_a_message(migrated_url, new_world):
    """This holds where the address is the same, and where the team is."""
    world = new_world(migrated_url)
    with ThreadPoolExecutor(8) as pool:
        same_address = list(pool.map(lambda number: register(world, EMAIL, f"Team {number}").status_code, range(6)))
        same_team = list(pool.map(lambda number: register(world, f"{number}@example.org").status_code, range(6)))
    assert same_address == [303] * 6
    assert sorted(same_team) == [303] + [422] * 5


# A new password


def test_a_forgotten_password_is_set_anew_by_mail(mail_world):
    """The link works once, and everything that the old password opened is shut."""
    before = confirmed(mail_world)
    with mail_world.database.write() as session:
        token = new_token(session, account(mail_world).id, "old")
    mail_world.browser().post("/forgot", email=EMAIL.upper())
    mail_world.browser().post("/forgot", email=EMAIL)
    *_, other, message = write_to(mail_world)
    path = link_in(message)
    browser = mail_world.browser()
    page = browser.get(path)
    assert EMAIL in page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    assert browser.post("/reset", code=code_of(path), new="short").status_code == 422
    answer = browser.post("/reset", code=code_of(path), new=NEW)
    assert answer.headers["location"] == "/account?notice=reset-done"
    assert browser.get("/account").status_code == 200
    assert before.get("/account").status_code == 303
    api = mail_world.client()
    api.headers["Authorization"] = f"Bearer {token}"
    assert api.get("/api/v1/submissions").status_code == 401
    for used in (path, link_in(other)):
        assert browser.get(used).status_code == 404
        assert browser.post("/reset", code=code_of(used), new="a third password").status_code == 404
    signed_in(mail_world, password=NEW)
    assert mail_world.browser().post("/sign-in", email=EMAIL, password=PASSWORD).status_code == 403
    assert "was changed" in write_to(mail_world)[-1]["Subject"]


def test_a_link_for_a_new_password_is_good_for_an_hour(mail_world):
    confirmed(mail_world)
    mail_world.browser().post("/forgot", email=EMAIL)
    path = link_in(write_to(mail_world)[-1])
    with mail_world.database.read() as session:
        left = session.execute(select(OneTimeCode.expires)).scalar_one() - now()
    assert dt.timedelta(minutes=59) < left <= dt.timedelta(hours=1)
    with mail_world.database.write() as session:
        session.execute(update(OneTimeCode).values(expires=now()))
    assert mail_world.browser().get(path).status_code == 404


def test_a_new_password_by_mail_confirms_the_address_but_makes_no_team(mail_world):
    """Whoever wanted that team may have been a stranger, who gave this address and chose the first password."""
    register(mail_world)
    stranger = signed_in(mail_world)
    mail_world.browser().post("/forgot", email=EMAIL)
    browser, path = mail_world.browser(), link_in(write_to(mail_world)[-1])
    stranger.post("/account/confirm")
    browser.post("/reset", code=code_of(path), new=NEW)
    assert account(mail_world).confirmed is not None
    # The stranger's letter had not left yet.
    late = next(message for message in reversed(write_to(mail_world)) if "Confirm" in message["Subject"])
    assert browser.post("/confirm", code=code_of(link_in(late))).status_code == 303
    assert teams(mail_world) == set()
    assert stranger.get("/account").status_code == 303
    assert browser.post("/account/team", team="Mine").status_code == 303


def test_a_disabled_account_gets_no_link(mail_world):
    confirmed(mail_world)
    mail_world.browser().post("/forgot", email=EMAIL)
    path = link_in(write_to(mail_world)[-1])
    with mail_world.database.write() as session:
        session.execute(update(Account).where(Account.email == EMAIL).values(disabled=True))
    sent = len(write_to(mail_world))
    assert mail_world.browser().get(path).status_code == 404
    assert mail_world.browser().post("/reset", code=code_of(path), new=NEW).status_code == 404
    mail_world.browser().post("/forgot", email=EMAIL)
    assert len(write_to(mail_world)) == sent


def test_a_server_without_mail_says_whom_to_ask(world):
    assert "sends no mail" in world.browser().get("/forgot").text
    assert world.browser().post("/forgot", email=EMAIL).status_code == 422


def test_an_administrator_hands_over_a_link(world):
    """The link sets a new password and leaves the role as it is."""
    register(world)
    number = account(world).id
    assert world.browser(Role.ORGANISER).post(f"/admin/accounts/{number}/reset").status_code == 403
    page = world.browser(Role.ADMIN).post(f"/admin/accounts/{number}/reset").text
    code = re.search(r"/reset\?code=([\w-]+)", page)[1]
    signed_in(world)
    assert world.browser().post("/reset", code=code, new=NEW).status_code == 303
    signed_in(world, password=NEW)
    assert account(world).role == Role.MEMBER
    assert "reset.handed" in world.browser(Role.ADMIN).get("/admin/audit").text


def test_the_operator_prints_a_link_on_the_machine(world, monkeypatch, capsys):
    from click.testing import CliRunner

    from sacrecap.cli.main import cli

    register(world)
    result = CliRunner().invoke(
        cli, ["serve", "--database", world.database.url, "--public-url", "http://localhost:9", "reset", EMAIL]
    )
    assert result.exit_code == 0, result.output
    path = re.fullmatch(r"http://localhost:9(/reset\?code=[\w-]+)\n", result.stdout)[1]
    assert world.browser().post("/reset", code=code_of(path), new=NEW).status_code == 303
    assert account(world).role == Role.MEMBER
    with pytest.raises(UsageError, match="no account 'nobody@example.org'"):
        reset_link(world.database, world.state.settings, "nobody@example.org")


# Strangers cannot lock anybody out


def test_a_stranger_cannot_lock_the_owner_out(strict_world):
    """Wrong passwords slow down the address that sends them, and not the owner at another one."""
    register(strict_world)
    moment = now()
    strict_world.state.limits.clock = lambda: moment
    stranger = strict_world.browser(address="192.0.2.66")
    codes = [stranger.post("/sign-in", email=EMAIL, password=f"guess {n}").status_code for n in range(12)]
    assert codes == [403] * 5 + [429] * 7
    signed_in(strict_world, address="192.0.2.1")
    refused = stranger.post("/sign-in", email=EMAIL, password=PASSWORD)
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)


def test_very_many_wrong_passwords_from_everywhere_slow_down_new_addresses_only(world):
    register(world)
    owner = signed_in(world, address="192.0.2.1")
    owner.post("/sign-out")
    counted = world.state.limits.sign_in_account.of(EMAIL)
    with world.database.write() as session:
        for _ in range(99):
            world.state.limits.take(session, counted)
    moment = now()
    world.state.limits.clock = lambda: moment
    answers = [
        world.browser(address=f"198.51.100.{number}").post("/sign-in", email=EMAIL, password="x" * 12)
        for number in range(3)
    ]
    assert [answer.status_code for answer in answers] == [403, 429, 429]
    assert int(answers[-1].headers["retry-after"]) <= 11
    signed_in(world, address="192.0.2.1")
    moment += dt.timedelta(seconds=11)
    signed_in(world, address="192.0.2.2")


def test_signing_in_many_times_is_not_limited(world):
    register(world)
    for _ in range(8):
        signed_in(world)
    with world.database.read() as session:
        counts = session.execute(select(RateCount.count).where(RateCount.expires > now())).scalars().all()
    # Registering counted once.
    assert sorted(counts) == [0, 0, 0, 1]


def test_many_at_once_do_not_wait_for_each_other_for_ever(migrated_url, new_world):
    """Right and wrong passwords of one account from one address lock the same rows, in one order."""
    world = new_world(migrated_url)
    register(world)
    world.state.limits.sign_in_pair.rule = Pauses(free=100, longest=1)

    def attempt(number):
        password = PASSWORD if number % 2 else "x" * 12
        return world.browser().post("/sign-in", email=EMAIL, password=password).status_code

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(attempt, range(24))) == {303: 12, 403: 12}


def test_one_address_cannot_try_many_accounts(world):
    counted = world.state.limits.sign_in_address.of("192.0.2.66")
    with world.database.write() as session:
        for _ in range(57):
            world.state.limits.take(session, counted)
    browser = world.browser(address="192.0.2.66")
    codes = [browser.post("/sign-in", email=f"{n}@example.org", password="x" * 12).status_code for n in range(4)]
    assert codes == [403] * 3 + [429]


def test_an_attempt_at_the_password_of_nobody_is_noted_without_what_was_typed(world):
    """It may be a password, typed into the wrong field."""
    world.browser().post("/sign-in", email="my secret password", password="x" * 12)
    with world.database.read() as session:
        [entry] = session.execute(select(AuditEntry)).scalars()
    assert (entry.action, entry.subject) == ("sign-in.refused", "(no account)")


def test_a_failed_sign_in_costs_one_write_and_a_refused_one_none(world, monkeypatch):
    register(world)
    writes = []
    began = Database.write
    monkeypatch.setattr(Database, "write", lambda self: writes.append(1) or began(self))
    browser = world.browser()
    for wanted in [1] * 5 + [0] * 3:
        writes.clear()
        browser.post("/sign-in", email=EMAIL, password="x" * 12)
        assert len(writes) == wanted


def test_a_nul_character_breaks_nothing(migrated_url, tmp_path, new_world):
    """Forms and links that have one are refused in words, on either database."""
    world = new_world(migrated_url, mail=f"file:{tmp_path / 'mail'}")
    browser = world.browser()
    for path, fields in {
        "/sign-in": {"email": "a\0@example.org", "password": "x\0"},
        "/forgot": {"email": "a\0@example.org"},
        "/register": {"email": EMAIL, "password": PASSWORD, "team": "x\0y"},
        "/reset": {"code": "\0", "new": NEW},
    }.items():
        answer = browser.post(path, **fields)
        assert (answer.status_code, "cannot be stored (NUL)" in answer.text) == (422, True)
    for path in ("/confirm?code=%00", "/register?invitation=%00"):
        assert browser.get(path).status_code == 400
    assert world.browser(Role.MEMBER).post("/account/tokens", name="a\0b", scopes=["read"]).status_code == 422


# A team for an account without one


def test_an_administrator_makes_a_team_and_submits(world):
    """The account is in no team at first, and may make one, but not a second."""
    make(world)
    make_admin(world.database, "admin2@example.org", PASSWORD)
    browser = signed_in(world, "admin2@example.org")
    assert "This account is in no team" in browser.get("/account").text
    assert browser.post("/account/team", team="x").status_code == 422
    assert browser.post("/account/team", team="Our own", affiliation="Here").status_code == 303
    assert browser.post("/account/team", team="A second").status_code == 422
    sent = browser.post("/benchmarks/ours/submit", files={"file": ("a.json", SYSTEMS["careful"])}, system="x")
    assert sent.status_code == 303


def test_whoever_is_in_a_team_joins_no_other(world):
    page = world.browser(Role.MEMBER).post("/account/invite").text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    other = world.browser(Role.ORGANISER)
    assert "can be in one only" in other.get(f"/register?invitation={code}").text
    assert other.post("/account/join", invitation=code).status_code == 422
    register(world, team="", invitation=code)
    assert "Team MEMBER" in signed_in(world).get("/account").text


def test_an_invitation_to_a_role_lifts_an_account(world):
    register(world)
    page = world.browser(Role.ADMIN).post("/admin/invitations", role=int(Role.ORGANISER)).text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    browser = signed_in(world)
    assert "the role <strong>organiser</strong>" in browser.get(f"/register?invitation={code}").text
    assert browser.post("/account/join", invitation=code).status_code == 303
    assert account(world).role == Role.ORGANISER


# Approval


@pytest.fixture
def approving(tmp_path, new_world):
    world = new_world(registration="approval", mail=f"file:{tmp_path / 'mail'}")
    make(world)
    return world


def test_a_team_waits_until_it_is_approved(approving):
    browser = confirmed(approving)
    send = {"files": {"file": ("a.json", SYSTEMS["careful"])}, "system": "x"}
    refused = browser.post("/benchmarks/ours/submit", **send)
    assert refused.status_code == 403
    assert "waits until an administrator approves it" in refused.text
    assert browser.post("/account/invite").status_code == 403
    admin = approving.browser(Role.ADMIN)
    page = admin.get("/admin/approvals").text
    assert EMAIL in page
    assert "New team" in page
    number = account(approving).team_id
    assert browser.post(f"/admin/approvals/{number}", decision="approve").status_code == 403
    assert admin.post(f"/admin/approvals/{number}", decision="perhaps").status_code == 422
    assert admin.post(f"/admin/approvals/{number}", decision="approve").status_code == 303
    assert admin.post(f"/admin/approvals/{number}", decision="refuse").status_code == 404
    assert browser.post("/benchmarks/ours/submit", **send).status_code == 303
    assert "is approved" in write_to(approving)[-1]["Subject"]


def test_whoever_waits_may_go(approving):
    """Who is not let in yet can still delete the account, and a captain the team."""
    browser = confirmed(approving)
    page = browser.get("/team").text
    assert "/team/delete" in page
    assert "/team/rename" not in page
    assert browser.post("/team/rename", name="Meanwhile another").status_code == 403
    assert browser.post("/team/delete", name="New team").status_code == 303
    assert "New team" not in teams(approving)
    browser.post("/account/team", team="Another")
    assert browser.post("/team/leave").status_code == 303
    browser.post("/account/team", team="A third")
    assert browser.post("/account/delete", password=PASSWORD).status_code == 303
    assert "A third" not in teams(approving)
    register(approving, "unconfirmed@example.org")
    unconfirmed = signed_in(approving, "unconfirmed@example.org")
    assert unconfirmed.post("/account/delete", password=PASSWORD).status_code == 303


def test_a_refused_team_is_gone_and_its_people_may_propose_another(approving):
    browser = confirmed(approving)
    admin = approving.browser(Role.ADMIN)
    assert admin.post(f"/admin/approvals/{account(approving).team_id}", decision="refuse").status_code == 303
    assert "New team" not in teams(approving)
    assert "was not approved" in write_to(approving)[-1]["Subject"]
    assert browser.post("/account/team", team="A better name").status_code == 303
    assert "A better name" in admin.get("/admin/approvals").text
    assert submit(approving, SYSTEMS["careful"], role=Role.ADMIN).status_code == 303


# Names that look alike


ALIKE = ["Good Lab", "good  lab", "GOOD LAB", "Gооd Lab", "G00d Lab", "Ｇｏｏｄ Lab", "Good Lаb", "ԌООD LАВ"]
ALIKE += ["Good-Lab", "Good Lab.", "„Good“ Lab!"]


def test_a_name_that_looks_like_a_teams_is_refused(world):
    """Case, spaces, punctuation, width, digits and letters of other alphabets do not make it another name."""
    register(world, "first@example.org", "Good Lab")
    for number, name in enumerate(ALIKE):
        answer = register(world, "second@example.org", name, address=f"192.0.2.{number}")
        assert (answer.status_code, "Good Lab" in answer.text) == (422, True), name
    assert len(teams(world)) == 1


UNSEEN = {
    "Good\u200b Lab": "ZERO WIDTH SPACE",
    "\u202ebaL dooG": "RIGHT-TO-LEFT OVERRIDE",
    "Good\u2067 Lab": "RIGHT-TO-LEFT ISOLATE",
    "Good\u3164Lab": "HANGUL FILLER",
    "Good Lab\ufe0f": "VARIATION SELECTOR-16",
    "Go\u00adod": "SOFT HYPHEN",
    "Good \U000e0041Lab": "TAG LATIN CAPITAL LETTER A",
}


def test_characters_that_nobody_sees_are_refused_by_name(world):
    make(world)
    for number, (name, character) in enumerate(UNSEEN.items()):
        address = f"192.0.2.{number}"
        assert register(world, affiliation=name, address=address).status_code == 422
        for answer in (register(world, team=name, address=address), submit(world, SYSTEMS["careful"], system=name)):
            assert answer.status_code == 422
            assert f"cannot be seen ({character})" in answer.text


WELCOME = ["北京大学", "محمد علي", "Übung & Söhne", "Лаборатория", "नमस्ते दल", "R2-D2", "e\u0301cole"]


def test_names_of_all_scripts_are_welcome(world):
    for number, name in enumerate(WELCOME):
        assert register(world, f"{number}@example.org", name, address=f"192.0.2.{number}").status_code == 303, name
    assert len(teams(world)) == len(WELCOME)


def test_names_that_are_none_are_refused(world):
    for number, name in enumerate(["!!!", "Z\u0310\u0311\u0312\u0313\u0314algo", "👩", "x" * 81, "x"]):
        assert register(world, team=name, address=f"192.0.2.{number}").status_code == 422, name


def test_different_names_have_different_keys():
    different = ["Good Lab", "Better Lab", "Gold Lab", "Lab 1", "Lab 2", "Lab", "Van", "Nan", "Zürich", "Zurich"]
    keys = [names.keys(name) for name in different]
    for one, mine in enumerate(keys):
        for other in keys[:one]:
            assert not set(mine) & set(other)


def test_keys_fit_their_column_however_letters_grow():
    for letter in ("ﷺ", "m", "ΐ", "㋿"):
        assert all(len(key) <= 160 for key in names.keys(letter * 80))
