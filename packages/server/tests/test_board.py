"""Boards that can be believed: ranks of many teams, numbers that tell little, parts of images, what is kept."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re

import numpy as np
import pytest
from sqlalchemy import select, update

import sacrecap
from sacrecap import example
from sacrecap.boards.leaks import shown
from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import child_scorer, parts, scoring
from sacrecap_server.boards.board_view import BoardScore, Entry, board, improvements
from sacrecap_server.jobs import jobs
from sacrecap_server.store.models import (
    Account,
    Benchmark,
    BenchmarkSplit,
    Job,
    Submission,
    SubmissionPair,
    SubmissionScore,
    SubmissionStatistics,
    Team,
    now,
)
from sacrecap_server_testing.benchmark import REFERENCES, REFERENCES_PATH, SYSTEMS, make
from sacrecap_server_testing.boards import close, enter, worse
from sacrecap_server_testing.in_process import run_here

CAREFUL, PLAIN, TEMPLATE = (json.loads(SYSTEMS[name]) for name in ("careful", "plain", "template"))
IMAGES = list(CAREFUL)


@pytest.fixture
def computed(monkeypatch):
    """What the jobs of a test computed, in order."""
    names = []

    def run(compute, *rest):
        names.append(compute.rpartition(":")[2])
        return run_here(compute, *rest)

    monkeypatch.setattr(jobs, "run_child", run)
    return names


def poorer(steps):
    """The captions, with so many of 40 parts of each one's words lost."""
    found = {}
    for image, text in CAREFUL.items():
        words = text.split()
        lost = round(len(words) * steps / 40)
        found[image] = " ".join([*words[: len(words) - lost], *["thing"] * lost])
    return found


def api_board(world, role=Role.ANYONE, **query):
    return world.api(role).get("/api/v1/benchmarks/ours/board", params=query).json()


def ranks(world):
    return {row["team"]: (row["rank_from"], row["rank_to"]) for row in api_board(world)["rows"]}


# Ranks


def test_the_33rd_team_does_not_blur_the_board(world):
    """A 33rd team that is clearly the worst gets the last rank, and the others keep theirs."""
    make(world, metrics="cider-d")
    for number in range(32):
        enter(world, f"Team {number}", {**poorer(number), IMAGES[0]: f"of team {number}"})
    world.run_jobs()
    before = ranks(world)
    enter(world, "The worst", dict.fromkeys(IMAGES, "x y"))
    world.run_jobs()
    after = ranks(world)
    assert after.pop("The worst") == (33, 33)
    assert after == before
    assert all(last - first < 16 for first, last in before.values())
    assert before["Team 31"][0] > 20
    assert before["Team 0"][1] < 10
    rows = api_board(world)["rows"]
    assert [row["rank_from"] for row in rows] == sorted(row["rank_from"] for row in rows)
    assert [row["rank_to"] for row in rows] == sorted(row["rank_to"] for row in rows)


def test_a_rank_is_explained_in_its_cell(world):
    """The cell says how many teams this one is better than, worse than and not separated from."""
    make(world, metrics="cider-d")
    for team, captions in (("A", CAREFUL), ("B", worse(1)), ("C", TEMPLATE)):
        enter(world, team, captions)
    world.run_jobs()
    page = world.browser().get("/benchmarks/ours").text
    for rank, words, count in (("1–2", "better than 1, not separated from 1.", 2), ("3", "worse than 2.", 1)):
        assert page.count(f"<summary>{rank}</summary><p>{words}</p>") == count
    counts = [
        [row[key] for key in ("better_than", "worse_than", "not_separated", "not_compared")]
        for row in api_board(world)["rows"]
    ]
    assert counts == [[1, 0, 1, 0], [1, 0, 1, 0], [0, 2, 0, 0]]


def test_a_new_best_costs_as_much_as_there_are_teams(world, computed, monkeypatch):
    """Only the new one is scored; of the others only their statistics go to the child, some in each job."""
    make(world, metrics="cider-d, bleu-4")
    monkeypatch.setattr(scoring, "OPPONENTS", 3)
    for number in range(7):
        enter(world, f"Team {number}", worse(number))
    world.run_jobs()
    computed.clear()
    scored = []
    score = child_scorer.score_corpus
    monkeypatch.setattr(
        child_scorer, "score_corpus", lambda *args, **options: scored.append(1) or score(*args, **options)
    )
    enter(world, "New", worse(3, PLAIN))
    world.run_jobs()
    assert computed == ["compute", "compare", "compare", "compare"]
    assert len(scored) == 2 + 3
    assert all(row["not_compared"] == 0 for row in api_board(world)["rows"])


def test_a_comparison_that_takes_long_goes_on_in_another_job(world, computed, monkeypatch):
    """In the end every pair is compared, however short the time of a job."""
    make(world, metrics="cider-d")
    monkeypatch.setattr(child_scorer, "SECONDS", -1)
    for number in range(4):
        enter(world, f"Team {number}", worse(number))
    world.run_jobs()
    # One that finds its pairs made by another has nothing to do.
    assert computed.count("compare") >= 1 + 2 + 3
    assert all(row["not_compared"] == 0 for row in api_board(world)["rows"])


def test_a_comparison_that_failed_is_made_with_the_next_best(world, monkeypatch):
    make(world, metrics="cider-d")
    enter(world, "A", CAREFUL)
    enter(world, "B", TEMPLATE)
    prepare = scoring.JOB_KINDS[scoring.COMPARE].prepare
    with monkeypatch.context() as patch:
        patch.setattr(child_scorer, "paired_bootstrap", None)
        with pytest.raises(TypeError):
            world.run_jobs()
    with world.database.write() as session:
        session.execute(update(Job).where(Job.state == "running").values(state="failed"))
    assert prepare is scoring.JOB_KINDS[scoring.COMPARE].prepare
    assert "1 pairs are not compared yet" in world.browser().get("/benchmarks/ours").text
    enter(world, "C", PLAIN)
    world.run_jobs()
    assert all(row["not_compared"] == 0 for row in api_board(world)["rows"])


def test_statistics_are_kept_of_the_teams_best_only(world):
    make(world, metrics="cider-d")
    first, _, best = (enter(world, "A", captions) for captions in (TEMPLATE, worse(60), CAREFUL))
    world.run_jobs()
    with world.database.read() as session:
        kept = session.execute(select(SubmissionStatistics.submission_id)).scalars().all()
    assert kept == [best] != [first]


def test_pairs_from_kept_statistics_are_those_of_sacrecap_compare(world):
    metrics = "cider-d, bleu-4, combine(fluency, rouge-l)"
    make(world, metrics=metrics)
    a, b = enter(world, "A", CAREFUL), enter(world, "B", worse(4, PLAIN))
    world.run_jobs()
    compared = sacrecap.compare(
        REFERENCES_PATH, {"A": CAREFUL, "B": worse(4, PLAIN)}, metrics, samples=child_scorer.SAMPLES, correction="none"
    )
    with world.database.read() as session:
        for pair in compared.pairs:
            found = session.get_one(SubmissionPair, (a, b, pair.metric, "all"))
            assert found.delta == pair.delta
            assert (found.lower, found.upper) == pytest.approx(pair.interval, abs=1e-12)
            assert found.p == pytest.approx(pair.p, abs=2 / child_scorer.SAMPLES)


# The metric that ranks


def test_cider_d_ranks_where_there_is_one(world):
    """A board is ranked by CIDEr-D where it is among the metrics, and by the first metric otherwise."""
    make(world, metrics="bleu-1, cider-d")
    make(world, slug="other", metrics="rouge-l, bleu-4")
    assert api_board(world)["rank_by"] == "cider-d"
    assert world.api().get("/api/v1/benchmarks/other").json()["rank_by"] == "rouge-l"
    assert 'aria-sort="descending"' not in world.browser().get("/benchmarks/ours").text


def test_the_metric_that_ranks_can_be_changed(world):
    """The other best of a team comes to the board, is compared, and the choice survives other changes."""
    make(world, metrics="bleu-1, cider-d")
    long = {image: f"{text} in the" for image, text in PLAIN.items()}
    short = {image: " ".join(text.split()[:7]) for image, text in CAREFUL.items()}
    enter(world, "A", long, system="long")
    enter(world, "A", short, system="short")
    enter(world, "B", TEMPLATE)
    world.run_jobs()
    scores = {}
    with world.database.read() as session:
        for score in session.execute(select(SubmissionScore)).scalars():
            scores[score.submission_id, score.metric] = score.value
    assert (scores[1, "bleu-1"] > scores[2, "bleu-1"]) != (scores[1, "cider-d"] > scores[2, "cider-d"])
    before = {row["team"]: row["system"] for row in api_board(world)["rows"]}
    organiser = world.browser(Role.ORGANISER)
    refused = organiser.post("/benchmarks/ours/edit", title="Our benchmark", own_scores="yes", rank_by="blue")
    assert refused.status_code == 422
    assert (
        organiser.post("/benchmarks/ours/edit", title="Our benchmark", own_scores="yes", rank_by="bleu-1").status_code
        == 303
    )
    world.run_jobs()
    after = api_board(world)
    assert after["rank_by"] == after["sort"] == "bleu-1"
    assert {row["team"]: row["system"] for row in after["rows"]} != before
    assert all(row["not_compared"] == 0 for row in after["rows"])
    organiser.post("/benchmarks/ours/edit", title="Renamed", own_scores="yes")
    assert api_board(world)["rank_by"] == "bleu-1"


# Numbers that leave


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value] if isinstance(value, float) else []


def test_every_number_that_leaves_has_four_decimals(world):
    """This holds for the API, the CSV file and the pages."""
    make(world, metrics="cider-d, bleu-4, rouge-l")
    number, other = enter(world, "A", worse(7)), enter(world, "B", worse(9))
    world.run_jobs()
    api, browser = world.api(Role.ADMIN), world.browser(Role.ADMIN)
    found = [
        *numbers(api_board(world)),
        *numbers(api.get("/api/v1/benchmarks/ours/history").json()),
        *numbers(api.get(f"/api/v1/submissions/{number}").json()),
    ]
    lines = browser.get("/benchmarks/ours/board.csv").text.splitlines()[1:]
    found += [float(cell) for line in lines for cell in line.split(",") if "." in cell and ":" not in cell]
    assert len(found) > 50
    assert [each for each in found if each != round(each, 4)] == []
    texts = [
        browser.get(path).text
        for path in ("/benchmarks/ours", f"/benchmarks/ours/compare?a={number}&b={other}", f"/submissions/{number}")
    ]
    assert not [text for text in texts if _long_number(text)]


def numbers_in(text):
    """Those of three decimals or more: coordinates and ticks of a drawing have fewer."""
    return {float(number) for number in re.findall(r"(?<![\d.])\d+\.\d{3,}", text)}


def _long_number(text):
    return re.findall(r"\d\.\d{5,}", text)


def test_the_same_score_again_is_no_improvement():
    def entry(number, team, value):
        score = BoardScore(value, value, value, "")
        return Entry(number, team, "", "", "", now(), now(), False, {"cider-d": score})

    every = [entry(1, 1, 0.5), entry(2, 1, 0.5), entry(3, 2, 0.5), entry(4, 1, 0.4), entry(5, 1, 0.6)]
    assert [step.id for step in improvements(every, "cider-d")] == [1, 3, 5]


def test_minus_nothing_is_nothing():
    assert str(shown(-0.00001)) == "0.0"


def encoded_attack(word):
    """Eight images in one file: the word, then 2**place - 1 words of nonsense; the other captions are empty."""
    captions = dict.fromkeys(IMAGES, "")
    for place, image in enumerate(IMAGES[:8]):
        captions[image] = " ".join([word] + ["zzz"] * (2**place - 1))
    return captions


def decoded(total, tolerance, longest=20):
    """All ways in which eight images can add up to this sum of ROUGE-L: of each image the length of the shortest
    reference with the word, 0 where none has it. By meeting in the middle."""

    def value(place, length):
        if length == 0:
            return 0.0
        precision, recall, beta = 1 / 2**place, 1 / length, 1.2
        return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)

    lengths = [0, *range(5, longest)]
    halves = []
    for places in (range(4), range(4, 8)):
        ways = list(itertools.product(lengths, repeat=4))
        table = np.array([[value(place, length) for length in lengths] for place in places])
        index = np.array([[lengths.index(each) for each in way] for way in ways])
        halves.append((ways, sum(table[row][index[:, row]] for row in range(4))))
    (ways, sums), (others, their_sums) = halves
    order = np.argsort(their_sums)
    low = np.searchsorted(their_sums[order], total - sums - tolerance)
    high = np.searchsorted(their_sums[order], total - sums + tolerance)
    found = int((high - low).sum())
    if found != 1:
        return found, None
    (row,) = np.nonzero(high - low)[0]
    return 1, (*ways[row], *others[order[low[row]]])


def test_one_score_does_not_tell_eight_images(world):
    """A ROUGE-L with all its digits tells which references have a word; in four decimals it has many solutions.

    This one hangs on the eight images, so not even these four leave.
    """
    make(world, metrics="rouge-l")
    number = enter(world, "A", encoded_attack("dog"))
    world.run_jobs()
    exact = sacrecap.score(example.references(), encoded_attack("dog"), "rouge-l", interval=None)["rouge-l"].value
    references = example.references()
    truth = tuple(
        min((len(tokens) for tokens in sacrecap.tokenize(references[image]) if "dog" in tokens), default=0)
        for image in IMAGES[:8]
    )
    assert any(truth)
    assert decoded(exact * len(IMAGES), 1e-12) == (1, truth)
    (row,) = api_board(world)["rows"]
    assert row["submission"] == number
    assert row["scores"]["rouge-l"] == 0
    solutions, _ = decoded(shown(exact) * len(IMAGES), 0.5e-4 * len(IMAGES))
    assert solutions > 10_000


# Parts


def split_world(world, **changes):
    """A benchmark with a private half, and two teams of which each is better on one of the halves."""
    make(world, **{"metrics": "cider-d, bleu-4", "private_share": "50", "closes": "2100-01-01T00:00", **changes})
    with world.database.read() as session:
        benchmark = session.execute(select(Benchmark)).scalar_one()
        private = set(parts.private_images(session, benchmark))
    for team, mine in (("Public", set(IMAGES) - private), ("Private", private)):
        enter(world, team, {image: (CAREFUL if image in mine else TEMPLATE)[image] for image in IMAGES})
    world.run_jobs()
    return private


def test_the_board_shows_the_public_part_and_then_the_private_one(strict_world):
    world = strict_world
    private = split_world(world)
    assert len(private) == 30
    before = api_board(world)
    assert (before["part"], [row["team"] for row in before["rows"]]) == ("public", ["Public", "Private"])
    references = example.references()
    public = [image for image in IMAGES if image not in private]
    bleu = sacrecap.score(
        {image: references[image] for image in public}, {image: CAREFUL[image] for image in public}, "bleu-4"
    )["bleu-4"]
    assert before["rows"][0]["scores"]["bleu-4"] == round(bleu.value, 4)
    assert before["rows"][0]["intervals"]["bleu-4"] == [round(end, 4) for end in bleu.interval]
    assert (before["rows"][0]["rank_from"], before["rows"][0]["rank_to"]) == (1, 1)
    close(world)
    after = api_board(world)
    assert (after["part"], [row["team"] for row in after["rows"]]) == ("private", ["Private", "Public"])
    assert "Scores are of the private images: 30 of 60" in world.browser().get("/benchmarks/ours").text


# Two sets of references


FEWER = IMAGES[:20]
SECOND = {image: [*example.references()[image], CAREFUL[image]] for image in FEWER}
"""Of a third of the images; the careful system's captions are among them."""


def test_every_submission_is_scored_against_two_sets_of_references(strict_world):
    """As the COCO server had five references of each image, and forty of some of them."""
    world = strict_world
    make(world, metrics="cider-d, bleu-4", second=json.dumps(SECOND).encode())
    number = enter(world, "A", CAREFUL)
    enter(world, "B", PLAIN)
    world.run_jobs()
    several = f"c{len(SECOND[FEWER[0]])}"
    first, second = api_board(world), api_board(world, part=several)
    assert (first["part"], second["part"]) == ("all", several)
    for rows, references in ((first, example.references()), (second, SECOND)):
        for row, system in zip(rows["rows"], (CAREFUL, PLAIN), strict=True):
            expected = sacrecap.score(references, {image: system[image] for image in references})
            for metric in ("cider-d", "bleu-4"):
                assert row["scores"][metric] == round(expected[metric].value, 4)
                assert row["intervals"][metric] == [round(end, 4) for end in expected[metric].interval]
    assert second["rows"][0]["scores"]["bleu-4"] == 1.0
    with world.database.read() as session:
        tested = {tuple(pair) for pair in session.execute(select(SubmissionPair.metric, SubmissionPair.part))}
        signature = session.execute(
            select(SubmissionScore.signature).where(
                SubmissionScore.part == several, SubmissionScore.metric == "cider-d"
            )
        ).scalars()
        assert all("df:corpus(20)" in each for each in signature)
    assert tested == {(metric, part) for metric in ("cider-d", "bleu-4") for part in ("all", several)}
    page = world.browser().get(f"/benchmarks/ours?part={several}").text
    assert f"Scores are against the second set of references, {several}." in page
    assert f"part={several}" in world.browser().get("/benchmarks/ours").text
    own = world.browser(Role.ORGANISER).get(f"/submissions/{number}").text
    assert f"Against the second set of references, {several}" in own
    assert "1.0000" in own


def test_statistics_of_both_sets_are_kept_for_the_next_comparison(world, computed):
    """The third team is compared with both others on both sets, and only its own captions are scored."""
    make(world, metrics="cider-d", second=json.dumps(SECOND).encode())
    for team, captions in (("A", CAREFUL), ("B", PLAIN), ("C", TEMPLATE)):
        enter(world, team, captions)
        world.run_jobs()
    with world.database.read() as session:
        pairs = session.execute(select(SubmissionPair)).scalars().all()
        scores = {
            (one.submission_id, one.part): one.value for one in session.execute(select(SubmissionScore)).scalars()
        }
        assert len(pairs) == 2 * 3
        for pair in pairs:
            difference = scores[pair.a_id, pair.part] - scores[pair.b_id, pair.part]
            assert pair.delta == pytest.approx(difference, abs=2e-4), pair.part
    for part in ("all", f"c{len(SECOND[FEWER[0]])}"):
        assert [row["not_compared"] for row in api_board(world, part=part)["rows"]] == [0, 0, 0]


@pytest.mark.parametrize(
    ("second", "changes", "problem"),
    [
        ({"elsewhere": ["a dog"], IMAGES[0]: ["a cat"]}, {}, "images that are not in the first, such as"),
        ({IMAGES[0]: ["a cat"]}, {}, "Second references: a benchmark needs two images"),
        (SECOND, {"private_share": "50", "closes": "2100-01-01T00:00"}, "they would show scores of the private images"),
    ],
)
def test_second_references_that_cannot_be_are_refused(world, second, changes, problem):
    with pytest.raises(AssertionError, match=re.escape(problem)):
        make(world, second=json.dumps(second).encode(), **changes)


def numbers_of_part(session, part):
    """Scores, differences, intervals and p of a part as pages would show them; round ones tell nothing."""
    scores = session.execute(select(SubmissionScore).where(SubmissionScore.part == part)).scalars()
    pairs = session.execute(select(SubmissionPair).where(SubmissionPair.part == part)).scalars()
    exact = [number for score in scores for number in (score.value, score.lower, score.upper)]
    exact += [number for pair in pairs for number in (pair.delta, pair.lower, pair.upper, pair.p)]
    written = [f"{abs(shown(number)):.4f}" for number in exact]
    return {float(number) for number in written if not number.endswith("00")}


def test_private_scores_are_nobodys_before_the_end(world, monkeypatch):
    # Of another draw, a private number could be one of the public part, too.
    monkeypatch.setattr(parts.secrets, "randbits", lambda bits: 1_234_567_890_123_456_789)
    private = split_world(world)
    account = world.account(Role.MEMBER)
    with world.database.write() as session:
        team = session.execute(select(Team.id).where(Team.name == "Public")).scalar_one()
        session.execute(update(Account).where(Account.id == account).values(team_id=team))
    with world.database.read() as session:
        known, hidden = (numbers_of_part(session, part) for part in ("public", "private"))
        seed = session.execute(select(BenchmarkSplit.seed)).scalar_one()
    assert len(hidden) > 12
    assert not hidden & known
    paths = (
        "/benchmarks/ours",
        "/benchmarks/ours/board.csv",
        "/benchmarks/ours/history",
        "/submissions/1",
        "/benchmarks/ours/compare?a=1&b=2",
        "/submissions",
        "/benchmarks/ours?part=private",
        "/benchmarks/ours/board.csv?part=private",
    )
    calls = ("", "/board", "/history", "/board?part=private")
    for role in (Role.ANYONE, Role.MEMBER):
        browser, api = world.browser(role), world.api(role)
        texts = [browser.get(path).text for path in paths]
        texts += [api.get(f"/api/v1/benchmarks/ours{path}").text for path in calls]
        texts += [api.get("/api/v1/submissions/1").text]
        assert known & set().union(*map(numbers_in, texts))
        assert not [text for text in texts if numbers_in(text) & hidden]
        assert not [text for text in texts if str(seed) in text]
        assert browser.get("/benchmarks/ours?part=private").status_code == 403
    assert "0." in world.browser(Role.MEMBER).get("/submissions/1").text
    owner = world.browser(Role.ORGANISER)
    assert hidden & numbers_in(owner.get("/benchmarks/ours?part=private").text)
    assert owner.get("/benchmarks/ours?part=all").status_code == 422
    close(world)
    text = world.browser().get("/benchmarks/ours").text
    assert str(seed) in text
    assert parts.drawn(IMAGES, 50, seed) == private


def test_the_commitment_tells_nothing_of_a_known_split_and_proves_it_afterwards(world):
    """Whoever guesses the images, such as those of a published split, cannot see before the end that they are right."""
    private = IMAGES[::2]
    files = {"references": ("references.json", REFERENCES), "private": ("private.txt", "\n".join(private).encode())}
    fields = {"slug": "ours", "title": "Our benchmark", "metrics": "cider-d", "closes": "2100-01-01T00:00"}
    assert world.browser(Role.ORGANISER).post("/benchmarks/new", files=files, **fields).status_code == 303
    page = world.browser().get("/benchmarks/ours").text
    shown = re.search(r"with a random number: <code>([0-9a-f]{64})</code>", page)[1]
    in_order = [image for image in json.loads(REFERENCES) if image in private]
    for guess in (json.dumps(in_order), "\n".join(in_order), json.dumps(sorted(private))):
        assert hashlib.sha256(guess.encode()).hexdigest() != shown
    for role in (Role.ANYONE, Role.ORGANISER):
        assert world.browser(role).get("/benchmarks/ours/private.json").status_code == 404
    close(world)
    assert "/benchmarks/ours/private.json" in world.browser().get("/benchmarks/ours").text
    revealed = world.browser().get("/benchmarks/ours/private.json").content
    assert hashlib.sha256(revealed).hexdigest() == shown
    assert json.loads(revealed)["images"] == in_order


def test_a_teams_best_is_never_chosen_by_private_images(world):
    private = split_world(world)
    enter(world, "Public", {image: (CAREFUL if image in private else TEMPLATE)[image] for image in IMAGES}, system="b")
    world.run_jobs()
    close(world)
    rows = {row["team"]: row for row in api_board(world)["rows"]}
    assert rows["Public"]["system"] == "A system"


def test_the_organiser_names_the_private_images(world):
    made = world.browser(Role.ORGANISER).post(
        "/benchmarks/new",
        files={
            "references": ("r.json", REFERENCES_PATH.read_bytes()),
            "private": ("p.txt", "\n".join(IMAGES[:7]).encode()),
        },
        slug="ours",
        title="Our benchmark",
        metrics="cider-d",
        own_scores="yes",
        closes="2100-01-01T00:00",
    )
    assert made.status_code == 303
    with world.database.read() as session:
        benchmark = session.execute(select(Benchmark)).scalar_one()
        assert parts.private_images(session, benchmark) == [image for image in IMAGES if image in IMAGES[:7]]
        assert parts.of(session, benchmark).given


def test_a_private_part_needs_an_end(world):
    files = {"references": ("r.json", REFERENCES_PATH.read_bytes())}
    answer = world.browser(Role.ORGANISER).post(
        "/benchmarks/new", files=files, slug="ours", title="Our benchmark", metrics="cider-d", private_share="50"
    )
    assert answer.status_code == 422
    assert "it needs a closing date" in answer.text


@pytest.mark.parametrize(
    ("share", "given", "problem"),
    [
        (50, b"1", "not both"),
        (96, b"", "from 0 to 95"),
        (1, b"", "both parts need 2 images"),
        (0, b"somewhere", "have no references"),
        (0, b"[1", "JSON list"),
        (0, b"\xff", "JSON list"),
        (0, b"\n", "names no image"),
    ],
)
def test_parts_that_cannot_be_are_refused(share, given, problem):
    (first, *_) = parts.problems(IMAGES, share, given)
    assert problem in first


# What is kept


def etag(answer):
    assert answer.status_code == 200
    return answer.headers["etag"]


PATHS = (
    "/benchmarks/ours",
    "/benchmarks/ours/board.csv",
    "/benchmarks/ours/history",
    "/api/v1/benchmarks/ours/board",
    "/api/v1/benchmarks/ours/history",
)


def test_a_board_is_made_once_and_answers_304(strict_world, monkeypatch):
    """As long as nothing changes, requests do not compute the board again."""
    world = strict_world
    make(world, metrics="cider-d")
    enter(world, "A", CAREFUL)
    world.run_jobs()
    client = world.client()
    tags = {path: etag(client.get(path)) for path in PATHS}
    from sacrecap_server.boards import board_view as boards

    with monkeypatch.context() as patch:
        for name in ("board", "entries"):
            patch.setattr(boards, name, None)
        for path, tag in tags.items():
            same = client.get(path, headers={"if-none-match": tag})
            assert (same.status_code, same.content) == (304, b"")
            assert etag(client.get(path)) == tag
    enter(world, "B", PLAIN)
    world.run_jobs()
    for path, tag in tags.items():
        assert etag(client.get(path, headers={"if-none-match": tag})) != tag


def test_other_processes_see_every_change_of_a_board(any_world):
    """The cache is kept under a number of the database that grows with scores, pairs, names and rules."""
    from sacrecap_server_testing.world import World

    make(any_world, metrics="cider-d")
    number = enter(any_world, "A", CAREFUL)
    any_world.run_jobs()
    other = World(None, any_world.database.url)
    seen = {etag(other.client().get("/benchmarks/ours"))}

    def renamed(session):
        session.execute(select(Team).where(Team.name == "A")).scalar_one().name = "A renamed"

    def retitled(session):
        session.execute(select(Benchmark)).scalar_one().title = "Retitled"

    def system(session):
        session.get_one(Submission, number).system = "renamed"

    def scored(session):
        session.execute(update(SubmissionScore).values(value=0.1234))

    for change in (renamed, retitled, system, scored):
        with any_world.database.write() as session:
            change(session)
        tag = etag(other.client().get("/benchmarks/ours"))
        assert tag not in seen, change.__name__
        seen.add(tag)
    other.state.close()


def test_what_is_kept_is_for_those_without_an_account(world):
    make(world, metrics="cider-d", board="teams")
    enter(world, "A", CAREFUL)
    world.run_jobs()
    hidden = world.browser().get("/benchmarks/ours")
    member = world.browser(Role.MEMBER).get("/benchmarks/ours")
    assert "A system" in member.text
    assert "A system" not in hidden.text
    assert "A system" not in world.browser().get("/benchmarks/ours").text
    assert member.headers["cache-control"] == "no-store"
    assert "Saved." in world.browser().get("/benchmarks/ours?notice=saved").text
    assert "Saved." not in world.browser().get("/benchmarks/ours").text


def test_a_reader_on_postgresql_sees_one_state(any_world):
    """Between two statements of one reader nothing changes, even if another transaction writes."""
    make(any_world, metrics="cider-d")
    with any_world.database.read() as session:
        before = session.execute(select(Benchmark.title)).scalar_one()
        with any_world.database.write() as writing:
            writing.execute(update(Benchmark).values(title="Another"))
        assert session.execute(select(Benchmark.title)).scalar_one() == before


# Versions


def test_a_board_says_that_it_mixes_versions_and_is_scored_again(world, monkeypatch):
    make(world, metrics="cider-d")
    for team, captions in (("A", CAREFUL), ("B", TEMPLATE), ("C", PLAIN)):
        enter(world, team, captions)
    world.run_jobs()
    browser = world.browser(Role.ORGANISER)
    assert "Not all rows" not in browser.get("/benchmarks/ours").text
    assert "Score all again" not in browser.get("/benchmarks/ours").text
    with world.database.write() as session:
        score = session.execute(select(SubmissionScore).where(SubmissionScore.submission_id == 1)).scalar_one()
        score.signature = score.signature.rpartition(":")[0] + ":0.0.9"
        session.execute(update(SubmissionPair).values(delta=9.0))
    page = browser.get("/benchmarks/ours").text
    assert "Not all rows were scored in the same way (sacrecap 0.0.9" in page
    assert "Score all again" in page
    assert "Score all again" not in world.browser().get("/benchmarks/ours").text
    assert world.browser(Role.ADMIN).post("/benchmarks/ours/rescore").status_code == 303
    assert browser.post("/benchmarks/ours/rescore").status_code == 409
    world.state.jobs.run_one()
    assert "1 of 3 submissions are scored again" in world.browser(Role.MEMBER).get("/benchmarks/ours").text
    world.run_jobs()
    page = browser.get("/benchmarks/ours").text
    assert "Not all rows" not in page
    assert "scored again" not in page
    body = api_board(world)
    assert body["versions"] == [sacrecap.__version__]
    assert all(row["not_compared"] == 0 for row in body["rows"])
    with world.database.read() as session:
        pairs = session.execute(select(SubmissionPair)).scalars().all()
    # What was scored otherwise is compared again, and only that.
    assert {(pair.a_id, pair.b_id): pair.delta == 9.0 for pair in pairs} == {(1, 2): False, (1, 3): False, (2, 3): True}


def test_the_best_of_a_team_in_the_database_is_that_of_a_loop(world):
    """The query that chooses against the obvious way."""
    make(world, metrics="cider-d")
    for team, images in itertools.product("ABC", (3, 1, 2, 0)):
        enter(world, team, worse(images + ord(team) - 60), system=f"{images}")
    world.run_jobs()
    with world.database.read() as session:
        benchmark = session.execute(select(Benchmark)).scalar_one()
        found = {row.id for row in board(session, benchmark).rows}
        best = {}
        for submission, value in session.execute(
            select(Submission, SubmissionScore.value)
            .join(SubmissionScore, SubmissionScore.submission_id == Submission.id)
            .order_by(Submission.scored, Submission.id)
        ):
            if value > best.get(submission.team_id, (-math.inf, 0))[0]:
                best[submission.team_id] = (value, submission.id)
    assert found == {number for _, number in best.values()}
