"""A benchmark from the form to the board, on both databases."""

from __future__ import annotations

import copy
import csv
import io
import json
import re

import pytest
from sqlalchemy import func, select, update

import sacrecap
from sacrecap import example
from sacrecap_server.accounts.access import Role
from sacrecap_server.boards.board_view import board
from sacrecap_server.boards.forms import BenchmarkForm
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, Job, Submission, SubmissionPair, SubmissionScore, now
from sacrecap_server_testing.benchmark import (
    METRICS,
    REFERENCES,
    REFERENCES_PATH,
    SYSTEMS,
    as_list,
    make,
    submit,
    submitted,
)
from sacrecap_server_testing.world import World


def test_from_the_form_to_the_board(strict_world):
    world = strict_world
    make(world)
    number = submitted(world, "careful")
    page = world.browser(Role.MEMBER).get(f"/submissions/{number}")
    assert "Waiting in the queue" in page.text
    world.run_jobs()
    expected = sacrecap.score(example.references_path(), example.system_path("careful"), METRICS)
    page = world.browser(Role.MEMBER).get(f"/submissions/{number}").text
    board = world.browser().get("/benchmarks/ours").text
    for score in expected.values():
        assert f"{score.value:.4f}" in page
        assert f"{score.value:.4f}" in board
        assert score.signature in page
    lower, upper = expected["cider-d"].interval
    assert f'aria-label="{lower:.4f} to {upper:.4f}"' in board
    assert "Team MEMBER" in board


def test_scores_are_those_of_sacrecap_score(world):
    make(world)
    number = submitted(world, "plain")
    world.run_jobs()
    body = world.api(Role.MEMBER).get(f"/api/v1/submissions/{number}").json()
    expected = sacrecap.score(example.references_path(), example.system_path("plain"), METRICS).to_dict()
    assert body["state"] == "done"
    assert body["signatures"] == expected["signatures"]
    assert body["scores"] == {metric: round(value, 4) for metric, value in expected["scores"].items()}
    rounded = {metric: [round(end, 4) for end in ends] for metric, ends in expected["intervals"].items()}
    assert body["intervals"] == rounded


def test_the_same_file_twice_is_one_submission(any_world):
    make(any_world, quota_day=1)
    first = submitted(any_world, "careful")
    again = submit(any_world, SYSTEMS["careful"], system="another name")
    assert again.status_code == 303
    assert again.headers["location"] == f"/submissions/{first}?notice=same-file"
    other = submitted(any_world, "careful", role=Role.ADMIN)
    assert other != first


def test_every_problem_of_a_file_is_shown(world):
    make(world)
    entries = as_list("careful")
    entries[0]["caption"] = 7
    del entries[1]["caption"]
    entries[2] = "not an object"
    entries.append(dict(entries[5]))
    entries.append({"image_id": "somewhere else", "caption": "A dog."})
    answer = submit(world, json.dumps(entries).encode())
    assert answer.status_code == 422
    for problem in (
        "Entry 1: its caption must be text, got 7.",
        "Entry 2: there is no caption.",
        "Entry 3: it is not an object",
        "has several captions; give one.",
        "&#39;somewhere else&#39; is not part of this benchmark.",
        "has no caption.",
    ):
        assert problem in answer.text
    assert world.browser(Role.MEMBER).get("/submissions").text.count("/submissions/") == 0


def test_missing_images_are_all_named(world):
    make(world)
    entries = as_list("careful")
    answer = world.api(Role.MEMBER).post(
        "/api/v1/benchmarks/ours/submissions?system=x", content=json.dumps(entries[10:]).encode()
    )
    assert answer.status_code == 422
    named = ", ".join(repr(str(entry["image_id"])) for entry in entries[:10])
    assert answer.json()["error"]["problems"] == [f"10 images have no caption: {named}."]


def test_quotas_hold(strict_world):
    make(strict_world, quota_day=2)
    submitted(strict_world, "careful")
    submitted(strict_world, "plain")
    refused = submit(strict_world, SYSTEMS["template"])
    assert refused.status_code == 429
    assert "submissions of today (UTC): 2" in refused.text
    make(strict_world, slug="other", quota_total=1)
    api = strict_world.api(Role.MEMBER)
    url = "/api/v1/benchmarks/other/submissions?system=x"
    assert api.post(url, content=SYSTEMS["careful"]).status_code == 201
    assert api.post(url, content=SYSTEMS["careful"]).status_code == 200
    assert "submissions: 1" in api.post(url, content=SYSTEMS["plain"]).json()["error"]["message"]


@pytest.mark.parametrize(("opens", "closes"), [("2100-01-01T00:00", ""), ("", "2020-01-01T00:00")])
def test_outside_its_dates_nothing_is_taken(world, opens, closes):
    make(world, opens=opens, closes=closes)
    refused = submit(world, SYSTEMS["careful"])
    assert refused.status_code == 403
    assert "takes no submissions now" in refused.text


def test_the_board_is_in_order_and_best_of_each_team(world):
    make(world)
    for system in SYSTEMS:
        submitted(world, system)
    submitted(world, "template", role=Role.ADMIN)
    world.run_jobs()
    for metric in METRICS.split(", "):
        rows = world.api().get("/api/v1/benchmarks/ours/board", params={"sort": metric}).json()["rows"]
        assert [(row["rank_from"], row["rank_to"]) for row in rows] == [(1, 1), (2, 2)]
        assert rows[0]["scores"][metric] >= rows[1]["scores"][metric]
        assert {row["team"] for row in rows} == {"Team MEMBER", "Team ADMIN"}
    best = max(
        SYSTEMS, key=lambda s: sacrecap.score(REFERENCES_PATH, example.system_path(s), "cider-d")["cider-d"].value
    )
    assert {row["team"]: row["system"] for row in rows} == {"Team MEMBER": best, "Team ADMIN": "template"}
    table = list(csv.DictReader(io.StringIO(world.browser().get("/benchmarks/ours/board.csv").text)))
    assert [float(row["cider-d"]) for row in table] == sorted((float(r["cider-d"]) for r in table), reverse=True)
    history = world.api().get("/api/v1/benchmarks/ours/history").json()["entries"]
    assert history[0]["system"] == "careful"
    assert world.browser().get("/benchmarks/ours/history").status_code == 200


def test_of_equal_submissions_of_a_team_the_board_keeps_the_earlier(any_world):
    """The same captions, in files of other bytes."""
    make(any_world)
    first = submitted(any_world, "careful")
    sent = submit(any_world, SYSTEMS["careful"] + b"\n", system="the same again")
    again = int(sent.headers["location"].split("/")[-1])
    assert again != first
    any_world.run_jobs()
    body = any_world.api(Role.MEMBER).get(f"/api/v1/submissions/{again}").json()
    (row,) = any_world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]
    assert row["scores"] == body["scores"]
    assert row["submission"] == first


def test_comparison_shows_both_and_their_difference(world):
    make(world)
    a, b = submitted(world, "careful"), submitted(world, "template", role=Role.ADMIN)
    world.run_jobs()
    page = world.browser().get(f"/benchmarks/ours/compare?a={a}&b={b}")
    assert page.status_code == 200
    values = [
        sacrecap.score(REFERENCES_PATH, example.system_path(system), "cider-d")["cider-d"].value
        for system in ("careful", "template")
    ]
    assert f"{values[0] - values[1]:+.4f}" in page.text


def test_any_two_submissions_are_tested_when_a_team_asks(strict_world):
    """Two of one team: only one is on the board, so nothing has compared them."""
    world = strict_world
    make(world)
    a, b = submitted(world, "careful"), submitted(world, "plain")
    world.run_jobs()
    path = f"/benchmarks/ours/compare?a={a}&b={b}"
    member = world.browser(Role.MEMBER)
    assert f'<option value="{b}"' in member.get("/benchmarks/ours").text
    assert "Test these two" in member.get(path).text
    assert world.browser().get(path).status_code == 404
    assert world.browser().post("/benchmarks/ours/compare", a=a, b=b).status_code == 303
    assert member.post("/benchmarks/ours/compare", a=a, b=a).status_code == 422
    assert member.post("/benchmarks/ours/compare", a=a, b=99).status_code == 404
    for _ in range(2):
        assert member.post("/benchmarks/ours/compare", a=b, b=a).headers["location"].endswith(f"a={b}&b={a}")
    assert "Waiting in the queue" in member.get(path).text
    state = "/benchmarks/ours/compare/state"
    assert member.get(f"{state}?a={a}&b={b}").json() == {"state": "queued", "progress": ""}
    with world.database.read() as session:
        assert session.execute(select(func.count()).where(Job.kind == "pair")).scalar_one() == 1
    world.run_jobs()
    assert member.get(f"{state}?a={a}&b={b}").json()["state"] == "done"
    systems = {name: json.loads(SYSTEMS[name]) for name in ("careful", "plain")}
    page = member.get(path).text
    for pair in sacrecap.compare(REFERENCES_PATH, systems, METRICS, correction="none").pairs:
        assert f"{pair.delta:+.4f}" in page
        assert "&lt; 0.001" in page
    assert "Test these two" not in page


def test_a_comparison_that_failed_can_be_asked_for_again(world):
    make(world)
    a, b = submitted(world, "careful"), submitted(world, "plain")
    world.run_jobs()
    member = world.browser(Role.MEMBER)
    member.post("/benchmarks/ours/compare", a=a, b=b)
    with world.database.write() as session:
        session.execute(update(Job).where(Job.kind == "pair").values(state="failed", message="a secret caption"))
    page = member.get(f"/benchmarks/ours/compare?a={a}&b={b}").text
    assert "could not be compared" in page
    assert "secret" not in page
    member.post("/benchmarks/ours/compare", a=a, b=b)
    world.run_jobs()
    assert "could not be compared" not in member.get(f"/benchmarks/ours/compare?a={a}&b={b}").text


@pytest.mark.parametrize("board", ["teams", "closed"])
def test_a_hidden_board_is_hidden_everywhere(world, board):
    make(world, board=board, closes="2100-01-01T00:00", own_scores="")
    a, b = submitted(world, "careful"), submitted(world, "plain", role=Role.ADMIN)
    world.run_jobs()
    visitor = world.browser(Role.MEMBER if board == "closed" else Role.ANYONE)
    for path in ("board.csv", "history"):
        assert visitor.get(f"/benchmarks/ours/{path}").status_code == 403
    assert visitor.get(f"/benchmarks/ours/compare?a={a}&b={b}").status_code == 404
    assert world.api().get("/api/v1/benchmarks/ours/board").status_code == 403
    assert "0.9" not in visitor.get("/benchmarks/ours").text
    own = world.api(Role.MEMBER).get(f"/api/v1/submissions/{a}").json()
    assert (own["state"], own["scores"]) == ("done", {})
    assert world.browser(Role.ORGANISER).get("/benchmarks/ours/board.csv").status_code == 200
    pair = f"/benchmarks/ours/compare?a={a}&b={submitted(world, 'template')}"
    world.run_jobs()
    assert world.browser(Role.MEMBER).get(pair).status_code == 404, "their own scores are hidden, too"
    assert world.browser(Role.ORGANISER).get(pair).status_code == 200


def test_other_teams_see_no_submission(world):
    make(world)
    number = submitted(world, "careful", role=Role.ADMIN)
    assert world.browser(Role.MEMBER).get(f"/submissions/{number}").status_code == 404
    assert world.api(Role.MEMBER).get(f"/api/v1/submissions/{number}").status_code == 404
    assert world.browser(Role.ORGANISER).get(f"/submissions/{number}").status_code == 200


def test_references_never_leave(world, caplog):
    """Nothing that any route answers, and no line of the log, holds a caption that only the references have."""
    caplog.set_level("INFO", "sacrecap_server")
    make(world)
    submitted(world, "careful")
    submitted(world, "plain", role=Role.ADMIN)
    submit(world, b'[{"image_id": 1}]')
    world.run_jobs()
    references = sacrecap.data.read_references(REFERENCES_PATH).to_dict()
    known = set(json.loads(SYSTEMS["careful"]).values())
    hidden = {caption for captions in references.values() for caption in captions} - known
    texts = []
    for role in Role:
        browser, api = world.browser(role), world.api(role)
        pages = ("", "/board.csv", "/history", "/images.txt", "/submit", "/edit", "/submissions")
        texts += [browser.get(f"/benchmarks/ours{path}").text for path in pages]
        texts += [api.get(f"/api/v1/benchmarks/ours{path}").text for path in ("", "/images", "/board", "/history")]
        texts += [browser.get("/submissions/1").text, api.get("/api/v1/submissions/1").text]
        texts += [browser.get("/benchmarks/ours/compare?a=1&b=2").text]
    assert len(hidden) > 100
    texts += [record.getMessage() + str(vars(record)) for record in caplog.records]
    assert any(record.getMessage() == "job" for record in caplog.records)
    assert not [caption for caption in hidden for text in texts if caption in text]


def test_rules_change_but_not_what_scores_depend_on(world):
    make(world)
    organiser = world.browser(Role.ORGANISER)
    assert (
        organiser.post(
            "/benchmarks/ours/edit", title="Renamed", quota_day=9, metrics="bleu-1", own_scores="yes"
        ).status_code
        == 303
    )
    body = world.api().get("/api/v1/benchmarks/ours").json()
    assert (body["title"], body["quota_day"], body["metrics"]) == ("Renamed", 9, METRICS.split(", "))


def test_an_organiser_manages_only_their_own(world):
    make(world)
    somebody = world.account(Role.ADMIN)
    with world.database.write() as session:
        session.execute(update(Benchmark).values(owner_id=somebody))
    other = world.browser(Role.ORGANISER)
    assert other.get("/benchmarks/ours/edit").status_code == 403
    assert other.post("/benchmarks/ours/edit", title="Mine now").status_code == 403
    assert other.get("/benchmarks/ours/submissions").status_code == 403


def test_a_wrong_form_lists_its_problems(world):
    answer = world.browser(Role.ORGANISER).post(
        "/benchmarks/new",
        files={"references": ("r.json", b"[]")},
        slug="Not OK",
        title="x",
        metrics="blue-4",
        board="closed",
    )
    assert answer.status_code == 422
    for part in ("short name", "title needs", "unknown metric", "needs a closing date", "References:"):
        assert part in answer.text


def test_teams_that_a_paired_test_does_not_separate_share_ranks(world):
    make(world)
    captions = json.loads(SYSTEMS["careful"])
    almost = {**captions, next(iter(captions)): "something else altogether"}
    numbers = {"careful": submitted(world, "careful"), "template": submitted(world, "template", role=Role.ADMIN)}
    sent = submit(world, json.dumps(almost).encode(), role=Role.ORGANISER, system="almost")
    numbers["almost"] = int(sent.headers["location"].split("/")[-1])
    world.run_jobs()
    rows = world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]
    assert {row["system"]: (row["rank_from"], row["rank_to"]) for row in rows} == {
        "careful": (1, 2),
        "almost": (1, 2),
        "template": (3, 3),
    }
    assert "1–2" in world.browser().get("/benchmarks/ours").text
    systems = {"careful": captions, "almost": almost, "template": json.loads(SYSTEMS["template"])}
    compared = sacrecap.compare(REFERENCES_PATH, systems, METRICS, samples=1000, correction="none")
    scores = {row["system"]: row["scores"] for row in rows}
    for pair in compared.pairs:
        path = f"/benchmarks/ours/compare?a={numbers[pair.a]}&b={numbers[pair.b]}"
        page = world.browser().get(path).text
        assert f"{scores[pair.a][pair.metric] - scores[pair.b][pair.metric]:+.4f}" in page
        # Two of them differ in one image, and an interval would tell about its references.
        told = {pair.a, pair.b} != {"careful", "almost"}
        assert (f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}" in page) == told


def _tested(world: World, ab: float | None, ac: float | None, bc: float | None) -> None:
    """Three teams' submissions with scores and the p of their tests."""
    roles = (Role.MEMBER, Role.ORGANISER, Role.ADMIN)
    a, b, c = (submitted(world, system, role=role) for system, role in zip(SYSTEMS, roles, strict=True))
    with world.database.write() as session:
        session.execute(update(Submission).values(scored=now()))
        for number, value in ((a, 3.0), (b, 2.0), (c, 1.0)):
            score = {"value": value, "lower": value, "upper": value, "signature": ""}
            session.add(SubmissionScore(submission_id=number, metric="cider-d", **score))
        for one, other, p in ((a, b, ab), (a, c, ac), (b, c, bc)):
            if p is not None:
                between = {"delta": 1.0, "lower": 0.0, "upper": 2.0, "p": p}
                session.add(SubmissionPair(a_id=one, b_id=other, metric="cider-d", **between))


@pytest.mark.parametrize(
    ("ab", "ac", "bc", "ranks"),
    [
        (0.02, 0.005, 0.005, [(1, 1), (2, 2), (3, 3)]),  # Holm: the largest p need only be 0.05
        (0.02, 0.02, 0.02, [(1, 3), (1, 3), (1, 3)]),  # no correction would separate all
        (0.005, 0.005, 0.2, [(1, 1), (2, 3), (2, 3)]),
        (0.005, None, None, [(1, 2), (2, 3), (1, 3)]),  # a is before b, but c may be before both
        (0.02, None, None, [(1, 3), (1, 3), (1, 3)]),  # the tests that are still to come count too
    ],
)
def test_ranks_hold_all_at_once(world, ab, ac, bc, ranks):
    make(world, metrics="cider-d")
    _tested(world, ab, ac, bc)
    with world.database.read() as session:
        made = board(session, session.execute(select(Benchmark)).scalar_one())
    places = [made.placed.places[row.id] for row in made.rows]
    assert [(place.first, place.last) for place in places] == ranks


def test_the_picture_of_pairs_says_who_is_better_than_whom_and_hides_as_the_table_does(world):
    make(world, metrics="cider-d")
    _tested(world, 0.005, None, 0.9)
    path, cells = "/benchmarks/ours", r'title="([^"]+)"><span class="value">(.?)</span></td>'
    page = world.browser().get(path).text
    assert re.findall(cells, page) == [
        ("Team MEMBER is better than Team ORGANISER", "+"),
        ("Team MEMBER is not compared with Team ADMIN yet", ""),
        ("Team ORGANISER is worse than Team MEMBER", "−"),
        ("no test separates Team ORGANISER and Team ADMIN", "="),
        ("Team ADMIN is not compared with Team MEMBER yet", ""),
        ("no test separates Team ADMIN and Team ORGANISER", "="),
    ]
    with world.database.write() as session:
        session.execute(update(Benchmark).values(board="closed"))
    assert "Team MEMBER" not in (page := world.browser().get(path).text)
    assert not re.findall(cells, page)


def test_the_best_of_several_submissions_is_told_and_corrected(world):
    """Where it is ahead p is multiplied by their number, and the lower end of its interval holds for all of them."""
    make(world, metrics="cider-d")
    one, other, third = SYSTEMS
    a, b = submitted(world, one, role=Role.MEMBER), submitted(world, other, role=Role.ORGANISER)
    others = [submitted(world, system, role=Role.MEMBER) for system in (other, third)]
    with world.database.write() as session:
        session.execute(update(Submission).values(scored=now()))
        for number, value in ((a, 3.0), (b, 2.0), *((number, 1.0) for number in others)):
            score = {"value": value, "lower": value - 0.1, "upper": value + 0.1, "signature": ""}
            session.add(SubmissionScore(submission_id=number, metric="cider-d", **score))
        between = {"delta": 1.0, "lower": 0.0, "upper": 2.0, "p": 0.02}
        session.add(SubmissionPair(a_id=a, b_id=b, metric="cider-d", **between))
    with world.database.read() as session:
        made = board(session, session.execute(select(Benchmark)).scalar_one())
    first, second = made.rows
    places = [made.placed.places[row.id] for row in made.rows]
    assert [(place.first, place.last, place.attempts) for place in places] == [(1, 2, 3), (1, 2, 1)]
    assert places[0].explanation == "not separated from 1; the best of 3 submissions"
    assert (first.scores["cider-d"].lower, first.scores["cider-d"].upper) == (2.8779, 3.1)
    assert (second.scores["cider-d"].lower, second.scores["cider-d"].upper) == (1.9, 2.1)


def test_a_new_best_is_compared_and_an_older_one_leaves_the_board(world):
    make(world)
    submitted(world, "plain", role=Role.ADMIN)
    for system in ("template", "careful"):
        submitted(world, system)
        world.run_jobs()
    rows = world.api().get("/api/v1/benchmarks/ours/board").json()["rows"]
    assert [(row["system"], row["rank_from"], row["rank_to"]) for row in rows] == [("careful", 1, 1), ("plain", 2, 2)]


def test_metrics_with_parameters_and_meteor(world):
    make(world, metrics="cider-d(n=3, sigma=5), meteor, combine(fluency, cider-d)")
    number = submitted(world, "careful")
    world.run_jobs()
    body = world.api(Role.MEMBER).get(f"/api/v1/submissions/{number}").json()
    expected = sacrecap.score(
        REFERENCES_PATH, example.system_path("careful"), "cider-d(n=3, sigma=5), meteor, combine(fluency, cider-d)"
    ).to_dict()
    assert body["scores"] == {metric: round(value, 4) for metric, value in expected["scores"].items()}
    assert world.browser().get("/benchmarks/ours").status_code == 200


def test_metrics_that_a_board_cannot_use_are_refused(world):
    owner, files = world.browser(Role.ORGANISER), {"references": ("r.json", REFERENCES)}
    wmd = ("wmd(similarity=no)", "wmd(embeddings=/etc/passwd)")
    for metric in ("vifidel", *wmd, "judge(rating)", "combine(judge, rouge-l)"):
        answer = owner.post("/benchmarks/new", files=files, slug="x", title="Title", metrics=metric)
        assert (answer.status_code, "a board cannot use" in answer.text) == (422, True), metric


def test_objects_make_fidelity_a_metric(world):
    objects = {image: ["dog", "person"] for image in json.loads(SYSTEMS["careful"])}
    organiser = world.browser(Role.ORGANISER)
    files = {"references": ("r.json", REFERENCES), "objects": ("o.json", json.dumps(objects).encode())}
    made = organiser.post(
        "/benchmarks/new", files=files, slug="ours", title="Title", metrics="vifidel, wmd", own_scores="yes"
    )
    assert made.status_code == 303, made.text
    number = submitted(world, "careful")
    submitted(world, "plain", role=Role.ADMIN)
    world.run_jobs()
    body = world.browser(Role.MEMBER).get(f"/submissions/{number}").text
    expected = sacrecap.score(REFERENCES_PATH, example.system_path("careful"), "vifidel, wmd", objects=objects)
    for score in expected.values():
        assert f"{score.value:.4f}" in body
    wrong = organiser.post("/benchmarks/new", files={**files, "objects": ("o", b"[1]")}, slug="other", title="Title")
    assert wrong.status_code == 422
    assert "Objects: the file" in wrong.text


def test_a_check_of_the_form_changes_nothing():
    form = BenchmarkForm(
        slug="ours",
        title="Our benchmark",
        description="",
        metrics="coco",
        tokenizer="ptb",
        quota_day=1,
        quota_total=1,
        opens=None,
        closes=None,
        board="public",
        own_scores=True,
    )
    before = copy.deepcopy(form)
    assert form.problems() == []
    assert form == before


def test_each_server_knows_its_own_images(tmp_path, monkeypatch):
    """Read from the file once a server, whatever other servers of this process have read."""
    read: list[str] = []
    fetch = blobs.fetch
    monkeypatch.setattr(blobs, "fetch", lambda session, sha: read.append(sha) or fetch(session, sha))
    worlds = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        worlds.append(World(tmp_path / name))
        make(worlds[-1])
        texts = {worlds[-1].browser().get("/benchmarks/ours/images.txt").text for _ in range(2)}
        assert [set(text.split()) for text in texts] == [set(json.loads(SYSTEMS["careful"]))]
    assert len(read) == 2
    for world in worlds:
        world.state.close()
