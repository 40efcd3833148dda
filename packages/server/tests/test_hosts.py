"""What hosts of a benchmark expect: drafts, phases, baselines, disqualification, rules to accept, times, Markdown."""

from __future__ import annotations

import csv
import json
import re

import pytest
from sqlalchemy import delete, select, update

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import scoring
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Account, Benchmark, BenchmarkSplit, Job, RulesAcceptance, Submission, Team
from sacrecap_server.web.format import markdown
from sacrecap_server_testing.benchmark import REFERENCES, SYSTEMS, make, submit, submitted


def scored(world, *numbers: int) -> None:
    """Stores scores of the submissions, the best first, as their jobs would, which take a second each."""
    with world.database.write() as session:
        for place, number in enumerate(numbers):
            session.execute(update(Job).where(Job.kind == scoring.KIND, Job.subject_id == number).values(state="done"))
            scores = {"all": {"cider-d": [1.0 - place / 10, 0.0, 1.0]}}
            scoring.store(session, number, {"scores": scores, "signatures": {"all": {"cider-d": ""}}, "statistics": ""})


def board_of(world, slug: str = "ours") -> list[tuple[str, str, bool]]:
    rows = world.api().get(f"/api/v1/benchmarks/{slug}/board").json()["rows"]
    return [(row["team"], row["system"], row["baseline"]) for row in rows]


def test_a_draft_is_its_owners_alone_until_it_is_published(strict_world):
    world = strict_world
    make(world, visibility="draft")
    strangers = (world.browser(), world.browser(Role.MEMBER))
    paths = ("", "/submit", "/images.txt", "/template.json", "/rules", "/history", "/board.csv", "/compare?a=1&b=2")
    for stranger in strangers:
        assert "Our benchmark" not in stranger.get("/benchmarks").text + stranger.get("/").text
        for path in paths:
            assert stranger.get(f"/benchmarks/ours{path}").status_code in (303, 404), path
    for path in ("", "/images", "/board", "/history", "/submissions"):
        assert world.api(Role.MEMBER).get(f"/api/v1/benchmarks/ours{path}").status_code == 404
    assert world.api().get("/api/v1/benchmarks").json() == {"benchmarks": []}
    assert submit(world, SYSTEMS["careful"]).status_code == 404
    owner = world.browser(Role.ORGANISER)
    assert "draft" in owner.get("/benchmarks").text
    page = owner.get("/benchmarks/ours").text
    assert "Next steps" in page
    assert "Publish" in page
    assert strangers[1].post("/benchmarks/ours/publish").status_code == 403
    assert owner.post("/benchmarks/ours/publish").status_code == 303
    for stranger in strangers:
        assert stranger.get("/benchmarks/ours").status_code == 200
        assert "Our benchmark" in stranger.get("/benchmarks").text


def test_an_unlisted_benchmark_is_found_by_its_address_alone(world):
    make(world, visibility="unlisted")
    assert "Our benchmark" not in world.browser(Role.MEMBER).get("/benchmarks").text
    assert submit(world, SYSTEMS["careful"]).status_code == 303
    assert "Our benchmark" in world.browser(Role.ADMIN).get("/benchmarks").text


def test_phases_stand_beside_each_other_with_what_is_their_own(strict_world):
    world = strict_world
    make(
        world,
        challenge="The Contest",
        phase="dev",
        closes="2100-01-01T00:00",
        quota_day=7,
        rules="Be fair.",
        private_share=40,
    )
    organiser = world.browser(Role.ORGANISER)
    form = organiser.get("/benchmarks/new?like=ours").text
    for value in ("The Contest", 'value="7"', 'value="40"', "Be fair.", "Our benchmark", 'name="like" value="ours"'):
        assert value in form
    fields = {"slug": "test-phase", "title": "The test", "metrics": "cider-d", "like": "ours"}
    made = organiser.post(
        "/benchmarks/new",
        **fields,
        challenge="The Contest",
        phase="test",
        opens="2100-01-01T00:00",
        closes="2101-01-01T00:00",
        private_share=40,
        own_scores="yes",
    )
    assert made.status_code == 303, made.text
    tabs = re.search(r'<nav class="tabs".*?</nav>', world.browser().get("/benchmarks/ours").text, re.DOTALL)[0]
    assert re.findall(r'href="/benchmarks/([^"]+)"', tabs) == ["ours", "test-phase"]
    assert "opens <time>2100-01-01 00:00 UTC" in tabs
    images = [world.browser().get(f"/benchmarks/{slug}/images.txt").text for slug in ("ours", "test-phase")]
    assert images[0] == images[1]
    body = world.api().get("/api/v1/benchmarks/test-phase").json()
    assert (body["challenge"], body["phase"], body["stage"]) == ("The Contest", "test", "soon")
    cards = world.browser().get("/benchmarks").text
    assert "opens <time>2100-01-01" in cards
    assert "closed" not in cards
    # A phase that becomes a draft leaves the pages of the others, also the ones that are kept.
    for visibility, shown in (("draft", False), ("public", True)):
        with world.database.write() as session:
            phase = session.execute(select(Benchmark).where(Benchmark.slug == "test-phase")).scalar_one()
            phase.visibility = visibility
        assert ("test-phase" in world.browser().get("/benchmarks/ours").text) is shown
        assert "test-phase" in organiser.get("/benchmarks/ours").text
    # Nobody joins a contest of somebody else by its name.
    somebody = world.account(Role.ADMIN)
    with world.database.write() as session:
        session.execute(update(Benchmark).where(Benchmark.slug == "test-phase").values(owner_id=somebody))
    assert "test-phase" not in world.browser().get("/benchmarks/ours").text
    assert organiser.post("/benchmarks/new", **fields, challenge="Half").status_code == 422
    assert world.browser(Role.ORGANISER).get("/benchmarks/new?like=test-phase").status_code == 403
    sent = world.browser(Role.ORGANISER).post("/benchmarks/new", slug="mine", title="Mine", like="test-phase")
    assert sent.status_code == 403, "refused in words, rather than by the same form again"


def test_a_phase_on_the_same_images_has_the_same_private_ones(world):
    """Scores of one phase would otherwise tell of images that are private in another that is still open."""
    make(world, challenge="The Contest", phase="dev", closes="2100-01-01T00:00", private_share=40)
    made = world.browser(Role.ORGANISER).post(
        "/benchmarks/new",
        slug="second",
        title="Second",
        metrics="cider-d",
        like="ours",
        private_share=20,
        closes="2100-01-01T00:00",
    )
    assert made.status_code == 303, made.text
    with world.database.read() as session:
        splits = session.execute(select(BenchmarkSplit)).scalars().all()
    assert len({split.benchmark_id for split in splits}) == 2
    assert len({(split.private_sha, split.private_images, split.seed) for split in splits}) == 1


@pytest.mark.parametrize(
    ("first", "second", "files", "told"),
    [
        ({}, {"private_share": 50}, {}, "its board scores all images"),
        ({"private_share": 50}, {}, {}, "this board would score images that are private in Our benchmark"),
        ({"private_share": 50}, {}, {"private": "beach-01\n"}, "Leave the field empty"),
    ],
)
@pytest.mark.parametrize("is_again", [True, False])
def test_no_benchmark_scores_what_is_private_in_another(world, first, second, files, told, is_again):
    """As a phase of the other, or with the same references sent again."""
    make(world, closes="2100-01-01T00:00", **first)
    sent = {name: (f"{name}.txt", data) for name, data in files.items()}
    if is_again:
        sent["references"] = ("references.json", REFERENCES)
    fields = {"slug": "second", "title": "Second", "metrics": "cider-d", "closes": "2100-01-01T00:00", **second}
    answer = world.browser(Role.ORGANISER).post(
        "/benchmarks/new", files=sent, **fields, **({} if is_again else {"like": "ours"})
    )
    assert answer.status_code == 422
    assert told in answer.text


def test_baselines_are_outside_quotas_and_all_stand(strict_world):
    world = strict_world
    make(world, quota_total=1, opens="2100-01-01T00:00", most_same="5", metrics="cider-d")
    owner = world.browser(Role.ORGANISER)
    assert 'name="baseline"' in owner.get("/benchmarks/ours/submit").text
    same = json.dumps(dict.fromkeys(json.loads(SYSTEMS["careful"]), "a man on a horse")).encode()
    for name, data in (("plain", SYSTEMS["plain"]), ("template", SYSTEMS["template"]), ("same", same)):
        sent = owner.post("/benchmarks/ours/submit", files={"file": ("a", data)}, system=name, baseline="yes")
        assert sent.status_code == 303, sent.text
    again = owner.post("/benchmarks/ours/submit", files={"file": ("a", same)}, system="again", baseline="yes")
    assert "same-file" in again.headers["location"]
    url = "/api/v1/benchmarks/ours/submissions?system=x&baseline=true"
    assert world.api(Role.MEMBER).post(url, content=SYSTEMS["careful"]).status_code == 403
    assert world.api(Role.ADMIN).post(url, content=SYSTEMS["careful"]).json()["baseline"] is True
    scored(world, 1, 2, 3, 4)
    assert {row[1:] for row in board_of(world)} == {(name, True) for name in ("plain", "template", "same", "x")}
    assert world.browser().get("/benchmarks/ours").text.count(">baseline<") == 4
    table = csv.DictReader(world.browser().get("/benchmarks/ours/board.csv").text.splitlines())
    assert [row["baseline"] for row in table] == ["yes"] * 4
    with world.database.read() as session:
        team = session.execute(select(Team).where(Team.name == "Baseline").limit(1)).scalar_one()
        # Names that people choose are folded, so nobody takes this key before us.
        assert team.name_key != team.name_key.casefold()


def test_a_disqualified_submission_leaves_the_board_and_its_team_reads_why(strict_world):
    world = strict_world
    make(world, metrics="cider-d")
    number, other = submitted(world, "careful"), submitted(world, "plain")
    scored(world, number, other)
    path = f"/submissions/{number}"
    assert world.browser(Role.MEMBER).post(f"{path}/disqualify", reason="me").status_code == 403
    owner = world.browser(Role.ORGANISER)
    assert owner.post(f"{path}/disqualify", reason="It was trained on <the> test set.").status_code == 303
    assert board_of(world) == [("Team MEMBER", "plain", False)]
    page = world.browser(Role.MEMBER).get(path).text
    assert "It was trained on &lt;the&gt; test set." in page
    assert "Let this one count" not in page
    assert ">disqualified<" in world.browser(Role.MEMBER).get("/submissions").text
    assert world.browser().get(f"/benchmarks/ours/compare?a={number}&b={other}").status_code == 404
    assert "careful" not in world.browser().get("/benchmarks/ours/history").text
    assert owner.post(f"{path}/disqualify").status_code == 303
    assert board_of(world) == [("Team MEMBER", "careful", False)]


def test_a_team_chooses_which_submission_counts(strict_world):
    world = strict_world
    make(world, quota_total=2, metrics="cider-d")
    best, other = submitted(world, "careful"), submitted(world, "plain")
    third = submitted(world, "template", role=Role.ADMIN)
    scored(world, best, other, third)
    member = world.browser(Role.MEMBER)
    assert "Let this one count" in member.get(f"/submissions/{other}").text
    assert world.browser(Role.ORGANISER).post(f"/submissions/{other}/choose", chosen="yes").status_code == 403
    with world.database.write() as session:
        session.execute(delete(Job).where(Job.kind == scoring.COMPARE))
    assert member.post(f"/submissions/{other}/choose", chosen="yes").status_code == 303
    assert board_of(world)[0] == ("Team MEMBER", "plain", False)
    assert ">chosen<" in member.get("/submissions").text
    # It is not compared with the other team's, which is the newer of the two.
    with world.database.read() as session:
        assert session.execute(select(Job.subject_id).where(Job.kind == scoring.COMPARE)).scalars().all() == [third]
    for number in (best, other):
        assert member.post(f"/submissions/{number}/choose", chosen="yes").status_code == 303
        assert world.api(Role.MEMBER).get(f"/api/v1/submissions/{number}").json()["chosen"]
    with world.database.read() as session:
        assert session.execute(select(Submission.id).where(Submission.chosen)).scalars().all() == [other]
    assert member.post(f"/submissions/{other}/choose").status_code == 303
    assert board_of(world)[0] == ("Team MEMBER", "careful", False)


def test_rules_are_accepted_once_for_each_version_and_kept(any_world):
    world = any_world
    make(world, rules="**Be fair.**\r\nOne account each.")
    api, member = world.api(Role.MEMBER), world.browser(Role.MEMBER)
    url = "/api/v1/benchmarks/ours/submissions?system=x"
    refused = api.post(url, content=SYSTEMS["careful"])
    assert refused.status_code == 403
    assert "/benchmarks/ours/submit" in refused.json()["error"]["message"]
    page = member.get("/benchmarks/ours/submit").text
    assert "<strong>Be fair.</strong>" in page
    assert 'type="file"' not in page
    assert submit(world, SYSTEMS["careful"]).status_code == 403
    assert member.post("/benchmarks/ours/rules").status_code == 422
    assert member.post("/benchmarks/ours/rules", accept="2").status_code == 409
    for _ in range(2):
        assert member.post("/benchmarks/ours/rules", accept="1").headers["location"].startswith("/benchmarks/ours/subm")
    assert 'type="file"' in member.get("/benchmarks/ours/submit").text
    assert api.post(url, content=SYSTEMS["careful"]).status_code == 201
    # The form sends other ends of lines; that is no new version. Other words are.
    organiser = world.browser(Role.ORGANISER)
    form = {"title": "Our benchmark", "own_scores": "yes"}
    organiser.post("/benchmarks/ours/edit", **form, rules="**Be fair.**\nOne account each.\r\n")
    assert api.post(url, content=SYSTEMS["plain"]).status_code == 201
    organiser.post("/benchmarks/ours/edit", **form, rules="Be quick.")
    assert api.get("/api/v1/benchmarks/ours").json()["rules_version"] == 2
    assert api.post(url, content=SYSTEMS["template"]).status_code == 403
    assert "Accepted by" in organiser.get("/benchmarks/ours/rules").text
    assert "Accepted by" not in member.get("/benchmarks/ours/rules").text
    with world.database.read() as session:
        kept = session.execute(select(RulesAcceptance)).scalar_one()
        assert (kept.version, kept.account_id) == (1, world.account(Role.MEMBER))
        assert kept.team_id is not None
        assert blobs.fetch(session, kept.text_sha) == b"**Be fair.**\nOne account each."


def test_what_keeps_somebody_from_submitting_is_said_before_they_try(world):
    """The pages name the times, or the missing team, and then offer no upload."""
    make(world)
    make(world, slug="later", opens="2100-01-01T00:00")
    make(world, slug="over", closes="2020-01-01T00:00")
    for slug, words in (("later", "opens <time>2100-01-01 00:00"), ("over", "closed since <time>2020-01-01 00:00")):
        page = world.browser(Role.MEMBER).get(f"/benchmarks/{slug}/submit").text
        assert words in page
        assert 'type="file"' not in page
    cards = world.browser().get("/benchmarks").text
    assert "opens <time>2100-01-01 00:00 UTC" in cards
    member = world.browser(Role.MEMBER)
    with world.database.write() as session:
        session.get_one(Account, world.account(Role.MEMBER)).team_id = None
    page = member.get("/benchmarks/ours/submit").text
    assert "Only teams submit" in page
    assert 'type="file"' not in page
    assert "Submit captions" not in member.get("/benchmarks/ours").text
    refused = world.api(Role.MEMBER).post("/api/v1/benchmarks/ours/submissions?system=x", content=b"[")
    assert refused.status_code == 403
    assert "in no team" in refused.json()["error"]["message"]


def test_after_making_a_benchmark_the_page_tells_the_next_steps(world):
    """They are there for organisers only, until a submission is scored."""
    make(world, metrics="cider-d")
    page = world.browser(Role.ORGANISER).get("/benchmarks/ours?notice=benchmark-made").text
    for part in (
        "The benchmark is made.",
        "Next steps",
        f"{world.state.settings.url}/benchmarks/ours",
        "/benchmarks/ours/submit",
        "/benchmarks/ours/images.txt",
        "/benchmarks/ours/template.json",
    ):
        assert part in page
    assert "Next steps" not in world.browser(Role.MEMBER).get("/benchmarks/ours").text
    template = json.loads(world.browser().get("/benchmarks/ours/template.json").text)
    assert template == [{"image_id": image, "caption": ""} for image in json.loads(SYSTEMS["careful"])]
    scored(world, submitted(world, "careful"))
    assert "Next steps" not in world.browser(Role.ORGANISER).get("/benchmarks/ours").text


def test_host_and_prize_stand_at_the_top_of_the_board(world):
    make(world)
    assert "<dt>Host</dt><dd>sacrecap</dd>" in world.browser().get("/benchmarks/ours").text
    organiser = world.browser(Role.ORGANISER)
    fields = {"title": "Ours", "host": "Lab of  Images", "prize": "<b>A dog</b>", "own_scores": "yes"}
    assert organiser.post("/benchmarks/ours/edit", **{**fields, "prize": "x" * 201}).status_code == 422
    assert organiser.post("/benchmarks/ours/edit", **fields).status_code == 303
    top = world.browser().get("/benchmarks/ours").text.partition("<h2")[0]
    assert "<dt>Host</dt><dd>Lab of Images</dd>" in top
    assert "<dt>Prize</dt><dd>&lt;b&gt;A dog&lt;/b&gt;</dd>" in top
    told = world.api().get("/api/v1/benchmarks/ours").json()
    assert (told["host"], told["prize"]) == ("Lab of Images", "<b>A dog</b>")


def test_the_form_proposes_cider_d_first(world):
    """The proposal also has BLEU-1, BLEU-4 and ROUGE-L."""
    page = world.browser(Role.ORGANISER).get("/benchmarks/new").text
    proposed = re.search(r'name="metrics"[^>]* value="([^"]*)"', page)[1]
    make(world, metrics=proposed)
    metrics = world.api().get("/api/v1/benchmarks/ours").json()["metrics"]
    assert metrics[0] == "cider-d"
    assert set(metrics) > {"bleu-1", "bleu-4", "rouge-l"}


def test_times_with_an_offset_mean_what_they_say_and_others_are_refused_in_words(world):
    make(world)
    owner, form = world.browser(Role.ORGANISER), {"title": "Our benchmark", "own_scores": "yes"}
    for written, meant in (
        ("2030-01-01T12:00", "2030-01-01T12:00:00Z"),
        ("2030-01-01T12:00+05:00", "2030-01-01T07:00:00Z"),
        ("2030-01-01T12:00:00Z", "2030-01-01T12:00:00Z"),
        ("2029-12-31", "2029-12-31T00:00:00Z"),
    ):
        assert owner.post("/benchmarks/ours/edit", **form, closes=written).status_code == 303
        assert world.api().get("/api/v1/benchmarks/ours").json()["closes"] == meant
        assert f'value="{meant[:16]}"' in owner.get("/benchmarks/ours/edit").text
    for written in ("tomorrow", "2030-13-01T00:00", "0001-01-01T00:00+05:00", "9999-12-31T23:59-05:00"):
        refused = owner.post("/benchmarks/ours/edit", **form, opens=written)
        assert refused.status_code == 422
        assert "is not a time; write it as 2026-01-31T12:00" in refused.text


def test_markdown_does_no_harm():
    html = markdown(
        "# Title\n\n<script>alert(1)</script> <b onclick=x>b</b> [a](javascript:alert(1)) [b](https://x.org) **bold**"
        "\n![picture](https://evil.example/x.png) <https://auto.example> [d](data:text/html,x)\n\n|a|\n|-|\n|1|"
    )
    assert "<h3>Title</h3>" in html
    assert '<a href="https://x.org" rel="nofollow noopener">b</a>' in html
    assert '<a href="https://auto.example" rel="nofollow noopener">' in html
    assert "<strong>bold</strong>" in html
    assert "<td>1</td>" in html
    assert not re.search(r'<script|<img|<b |href="(javascript|data)', html)
    elsewhere = markdown(r"[a](//evil.example) [b](<\/\/evil.example>) [c](</\evil.example>) [d](<\\\\evil.example>)")
    assert not re.search(r'href="[/\\]{2}', elsewhere)
    assert 'href="/benchmarks"' in markdown("[a](/benchmarks)")


def test_descriptions_are_markdown(world):
    make(world, description="See [our paper](https://example.org/paper).\nSecond line.")
    page = world.browser().get("/benchmarks/ours").text
    assert '<a href="https://example.org/paper" rel="nofollow noopener">our paper</a>.<br' in page


def test_metrics_with_several_parameters_have_one_name_in_lists(world):
    make(world, metrics="bleu-4(smoothing=floor, k=0.2), cider-d(sigma=5)")
    for path in ("/", "/benchmarks"):
        page = world.browser().get(path)
        assert page.status_code == 200
        assert "BLEU-4(smoothing=floor, k=0.2), CIDEr-D(sigma=5)" in page.text
