"""How people come to a study: by links that nobody can make up, and in Mechanical Turk's frame."""

import csv
import io
import json
import re
import time
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from study_world import Person, make, triplet_file
from test_annotating import rows
from test_endings import answer, signature

from sacrecap_server.store.schema import Annotator
from sacrecap_server.studies.arrivals import AwayError, submit_origin
from sacrecap_server.web.context import Role, csrf_token
from sacrecap_server.web.security import RateLimit
from sacrecap_server_testing.world import Browser
from sacrecap_studies.design import StudyFileError, read_design


def arrive(world, study, **query):
    """A new browser that opens a link, and begins where the page lets it: the status of that."""
    browser = Browser(world)
    page = browser.get(f"/s/{study.code}", params=query)
    assert page.status_code == 200
    begun = browser.client.post(f"/s/{study.code}/begin", data={"csrf": browser.csrf("/s/"), **query})
    assert ("<button" in page.text) == (begun.status_code == 303), page.text
    return begun


def test_a_worker_id_counts_only_in_the_platforms_link(world):
    """Made-up worker ids are refused, because they lack the key of the study's own link."""
    study = make(world, triplet_file(platform="prolific"))
    key = Person(world, study, worker="P").arrival["key"]
    assert arrive(world, study).status_code == 403
    assert arrive(world, study, PROLIFIC_PID="P1").status_code == 403
    assert arrive(world, study, PROLIFIC_PID="P1", key="0" * 32).status_code == 403
    assert arrive(world, study, PROLIFIC_PID="P1", key=key).status_code == 303
    other = make(world, triplet_file())
    assert arrive(world, other, worker="P1", key=key).status_code == 403
    assert arrive(world, other).status_code == 303


def test_nobody_takes_over_another_persons_work_by_their_id(world):
    """Another browser that gives a known worker id is refused, unless it comes with the same session."""
    study = make(world, triplet_file(platform="prolific"))
    person = answer(Person(world, study, worker="P1", session="S1").begin())
    number = person.assignment
    for more in ({}, {"session": "S2"}, {"session": ""}, {"sig": "0" * 32}):
        thief = Person(world, study, worker="P1", **more)
        refused = arrive_as(thief)
        assert refused.status_code == 403
        assert "in another browser" in refused.text
    assert person.look().assignment == number
    # The same session on another device is the same person.
    assert Person(world, study, worker="P1", session="S1").begin().assignment == number
    assert len(rows(world, Annotator)) == 1


def arrive_as(person):
    person.csrf = person.browser.csrf("/s/")
    return person.post("/begin", **person.arrival)


def test_a_worker_without_a_session_stays_with_the_first_browser(world):
    study = make(world, triplet_file())
    Person(world, study, worker="W1").begin()
    assert arrive_as(Person(world, study, worker="W1")).status_code == 403


def test_personal_links_work_on_every_device_and_for_one_person_only(world):
    study = make(world, triplet_file(personal_links=True))
    owner = world.browser(Role.OWNER)
    made = owner.post(f"/studies/{study.id}/links", workers="Ann\n Bob Müller \n\nAnn\n=cmd")
    lines = list(csv.DictReader(io.StringIO(made.text)))
    assert [line["worker"] for line in lines] == ["Ann", "Bob Müller", "'=cmd"]
    query = [dict(parse_qsl(urlsplit(line["link"]).query)) for line in lines]
    for _ in range(2):
        assert arrive(world, study, **query[1]).status_code == 303
    assert [one.worker for one in rows(world, Annotator)] == ["Bob Müller"]
    assert arrive(world, study, **{**query[0], "worker": "Cleo"}).status_code == 403
    assert arrive(world, study, **Person(world, study, worker="Ann").arrival).status_code == 403
    assert arrive(world, study).status_code == 403
    other = make(world, triplet_file(personal_links=True))
    assert arrive(world, other, **query[0]).status_code == 403


def test_ids_that_cannot_be_are_refused(world):
    study, owner = make(world, triplet_file()), world.browser(Role.OWNER)
    too_many = "\n".join(map(str, range(2001)))
    for workers in ("", " \n", "x" * 129, "a\0b", too_many):
        refused = owner.post(f"/studies/{study.id}/links", workers=workers)
        assert refused.status_code == 422
        assert ("NUL" if "\0" in workers else "1 to 2,000 ids") in refused.text


def test_one_place_cannot_send_people_without_end_but_signed_ones(world):
    """Too many new worker ids from one address are refused, except signed ones."""
    study = make(world, triplet_file(pairs=1))
    world.state.beginnings = RateLimit(3, 60)
    for number in range(3):
        assert arrive(world, study, **Person(world, study, worker=f"W{number}").arrival).status_code == 303
    refused = arrive_as(Person(world, study, worker="W3"))
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert len(rows(world, Annotator)) == 3
    signed = Person(world, study, worker="W3", sig=signature(world, study, "W3"))
    assert arrive_as(signed).status_code == 303


@pytest.fixture(scope="module")
def prolific_key():
    return RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})


def signed_query(key, world, study, worker="P1", **changes):
    """The query that Prolific adds to the study's address, when it signs."""
    ids = {"PROLIFIC_PID": worker, "STUDY_ID": "S", "SESSION_ID": f"of {worker}"}
    link = f"{str(world.client().base_url).rstrip('/')}/s/{study.code}"
    claims = {"iss": "https://www.prolific.com", "aud": link, "exp": time.time() + 60, "prolific": ids, **changes}
    return {"prolific_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)}


def publish(monkeypatch, world, key):
    """Prolific's keys are this one."""
    keys = {"keys": [key.as_dict(private=False)]}
    monkeypatch.setattr(world.state.prolific, "_fetched", lambda: json.dumps(keys).encode())


def test_ids_count_only_in_links_that_prolific_has_signed(world, monkeypatch, prolific_key):
    """Whoever has a person's link cannot make ids of it; the form keeps the signature when the token is old."""
    study = make(world, triplet_file(platform="prolific", signed_links=True))
    publish(monkeypatch, world, prolific_key)
    browser = Browser(world)
    page = browser.get(f"/s/{study.code}", params=signed_query(prolific_key, world, study))
    form = re.search(r'<form method="post" action="[^"]*/begin"(.*?)</form>', page.text, re.DOTALL)[1]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    begun = browser.client.post(f"/s/{study.code}/begin", data=hidden)
    assert begun.status_code == 303
    (person,) = rows(world, Annotator)
    assert (person.worker, person.platform_study, person.platform_session) == ("P1", "S", "of P1")
    made_up = Browser(world)
    made_up.get(f"/s/{study.code}")
    forged = {**hidden, "worker": "P2", "csrf": made_up.csrf("/s/")}
    assert made_up.client.post(f"/s/{study.code}/begin", data=forged).status_code == 403
    key = Person(world, study, worker="P3").arrival["key"]
    assert arrive(world, study, PROLIFIC_PID="P3", key=key).status_code == 403
    assert len(rows(world, Annotator)) == 1
    links = world.browser(Role.OWNER).get(f"/studies/{study.id}").text
    assert "key=" not in links


def test_what_prolific_has_not_signed_for_this_study_is_refused(world, monkeypatch, prolific_key):
    study = make(world, triplet_file(platform="prolific", signed_links=True, language="de"))
    publish(monkeypatch, world, prolific_key)
    query = signed_query(prolific_key, world, study)
    assert "/begin" in Browser(world).get(f"/s/{study.code}", params=query).text
    other = make(world, triplet_file(platform="prolific", signed_links=True))
    assert "/begin" not in Browser(world).get(f"/s/{other.code}", params=query).text
    for changes in (
        {"exp": 1},
        {"iss": "https://evil.example"},
        {"aud": "https://evil.example/s/x"},
        {"aud": None},
        {"prolific": {"PROLIFIC_PID": "P1"}},
        {"prolific": "P1"},
        {"exp": "soon"},
    ):
        page = Browser(world).get(f"/s/{study.code}", params=signed_query(prolific_key, world, study, **changes))
        assert "Link ist unvollständig" in page.text, changes
        assert "<button" not in page.text


def test_tokens_that_others_signed_and_keys_that_are_away(world, monkeypatch, prolific_key):
    study = make(world, triplet_file(platform="prolific", signed_links=True, language="de"))
    query = signed_query(RSAKey.generate_key(2048, {"kid": "1"}), world, study)
    publish(monkeypatch, world, prolific_key)
    for token in (query["prolific_token"], "x", "a.b.c", "é"):
        page = Browser(world).get(f"/s/{study.code}", params={"prolific_token": token})
        assert "Link ist unvollständig" in page.text

    def away(*_):
        raise AwayError

    world.state.prolific._cached = None
    monkeypatch.setattr(world.state.prolific, "_fetched", away)
    assert "in einer Minute" in Browser(world).get(f"/s/{study.code}", params=query).text


def test_only_prolific_signs_its_links():
    with pytest.raises(StudyFileError, match="only Prolific signs its links"):
        read_design(json.dumps(triplet_file(platform="mturk", signed_links=True)).encode())


TURK = {"assignmentId": "A1", "hitId": "H1", "workerId": "W1", "turkSubmitTo": "https://workersandbox.mturk.com"}


def turk(world, study, **changes):
    """Opens a study as Mechanical Turk's frame does: no cookie comes back from there."""
    browser = Browser(world)
    query = {**TURK, "key": Person(world, study, worker="W1").arrival["key"], **changes}
    return browser, browser.get(f"/s/{study.code}", params=query)


def send(browser, page, which=0, **fields):
    """Sends a form of a page, and follows where it leads, without any cookie."""
    form = re.findall(r'<form method="post" action="([^"]+)"(.*?)</form>', page.text, re.DOTALL)[which]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[1]))
    browser.client.cookies.clear()
    sent = browser.client.post(form[0].replace("&amp;", "&"), data={**hidden, **fields})
    return sent if sent.status_code != 303 else browser.get(sent.headers["location"])


def first_choice(page):
    return re.search(r'name="choice" value="([^"]+)"', page.text)[1]


def test_a_study_in_mechanical_turks_frame_from_preview_to_submission(world):
    """Pages may be framed by the platform, set no cookies, and end with a form that sends it the result."""
    study = make(world, triplet_file(platform="mturk", pairs=2, references=1))
    browser, page = turk(world, study, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")
    assert "<button" not in page.text
    browser, page = turk(world, study)
    for step in range(3):
        assert "x-frame-options" not in page.headers
        policy = page.headers["content-security-policy"]
        assert "frame-ancestors https://*.mturk.com" in policy
        assert "form-action 'self' https://*.mturk.com" in policy
        assert "set-cookie" not in page.headers
        page = send(browser, page, **({"choice": first_choice(page)} if step else {}))
    form = re.search(r'<form method="post" action="(https:[^"]+)">(.*?)</form>', page.text, re.DOTALL)
    assert form[1] == "https://workersandbox.mturk.com/mturk/externalSubmit"
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form[2]))
    assert (fields["assignmentId"], fields["answers"], fields["ended"]) == ("A1", "2", "complete")
    assert re.fullmatch(r"[A-Z2-9]{10}", fields["code"])


def test_the_same_work_opened_again_in_the_frame_goes_on(world):
    study = make(world, triplet_file(platform="mturk"))
    browser, page = turk(world, study)
    question = send(browser, page)
    number = re.search(r'name="assignment" value="(\d+)"', question.text)[1]
    again, page = turk(world, study)
    assert f'name="assignment" value="{number}"' in send(again, page).text
    thief, page = turk(world, study, assignmentId="A2")
    assert send(thief, page).status_code == 403


def test_only_studies_for_mechanical_turk_can_be_framed(world):
    for file in (triplet_file(), triplet_file(platform="prolific")):
        person = Person(world, make(world, file), worker="W1").begin()
        answered = person.browser.get(person.path + "/task")
        assert answered.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answered.headers["content-security-policy"]
    assert world.client().get("/").headers["x-frame-options"] == "DENY"


def test_a_refusal_in_the_frame_can_be_read_there(world):
    study = make(world, triplet_file(platform="mturk"))
    browser, page = turk(world, study)
    send(browser, page)
    other, page = turk(world, study, assignmentId="A2")
    refused = send(other, page)
    assert "in another browser" in refused.text
    assert "x-frame-options" not in refused.headers


def test_results_go_to_mechanical_turk_alone(world):
    for where in (
        "https://evil.example",
        "http://www.mturk.com",
        "https://www.mturk.com.evil.example",
        "https://evil.mturk.com",
        "https://www.mturk.com@evil.example",
        "https://www.mturk.com/x",
        "javascript:alert(1)",
        "",
        "//www.mturk.com",
    ):
        assert submit_origin(where) == "", where
        study = make(world, triplet_file(platform="mturk", most_per_person=1))
        browser, page = turk(world, study, turkSubmitTo=where)
        page = send(browser, page)
        page = send(browser, page, choice=first_choice(page))
        assert "Your completion code" in page.text
        assert "externalSubmit" not in page.text, where


def test_a_pass_of_ones_own_opens_no_page_but_annotators(world):
    """Its CSRF token is for whoever has the secret: it must not serve where an account is signed in."""
    secret = "a" * 43
    browser = world.browser(Role.OWNER)
    csrf = csrf_token(world.state.secret_key, secret)
    study = make(world, triplet_file())
    answered = browser.client.post(f"/studies/{study.id}/state?pass={secret}", data={"csrf": csrf, "state": "closed"})
    assert answered.status_code == 403
    assert browser.client.post(f"/s/{study.code}/begin?pass={secret}", data={"csrf": csrf}).status_code == 303
    for wrong in ("short", "a" * 42 + "%", "é" * 43):
        again = browser.client.post(f"/s/{study.code}/begin", params={"pass": wrong}, data={"csrf": csrf})
        assert again.status_code == 403


def test_hosts_that_may_frame_besides_are_the_operators_choice(new_world):
    world = new_world(frame_hosts=("http://localhost:9000",))
    study = make(world, triplet_file(platform="mturk"))
    _, page = turk(world, study)
    assert "frame-ancestors https://*.mturk.com http://localhost:9000" in page.headers["content-security-policy"]
    assert submit_origin("http://localhost:9000/", world.state.settings.frame_hosts) == "http://localhost:9000"
