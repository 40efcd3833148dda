"""What a host takes out of a benchmark: submitted files, a zip of all, and a study of the board's rows."""

from __future__ import annotations

import json

from sqlalchemy import select

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards.host_export import ABOUT_ROWS
from sacrecap_server.store.models import Study, StudyImage, StudyItem
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit, submitted
from sacrecap_server_testing.boards import enter

IMAGE = "https://images.example/{image_id}.jpg"


def test_a_file_goes_to_its_team_and_to_the_host_alone(strict_world):
    world = strict_world
    make(world)
    number = submitted(world, "careful")
    path = f"/submissions/{number}/captions"
    for role in (Role.MEMBER, Role.ORGANISER):
        got = world.browser(role).get(path)
        assert (got.status_code, got.content) == (200, SYSTEMS["careful"])
        assert got.headers["content-disposition"] == f'attachment; filename="{number}-careful.json"'
        assert got.headers["cache-control"] == "no-store"
    assert world.browser(Role.ANYONE).get(path).status_code in (303, 401)
    other = enter(world, "Another", json.loads(SYSTEMS["plain"]))
    assert world.browser(Role.MEMBER).get(f"/submissions/{other}/captions").status_code == 404


def test_the_name_of_a_saved_file_is_plain(world):
    make(world)
    sent = submit(world, SYSTEMS["plain"], system='A "system"/../x', name="evil.sh.JSON")
    number = sent.headers["location"].split("/")[-1]
    got = world.browser(Role.MEMBER).get(f"/submissions/{number}/captions")
    assert got.headers["content-disposition"].startswith(f'attachment; filename="{number}-A-system')
    assert got.headers["content-disposition"].endswith('.json"')
    assert not set('/\\"') & set(got.headers["content-disposition"].split('"')[1])


def only_of(system):
    """Captions that no other system has."""
    others = {text for name in SYSTEMS if name != system for text in json.loads(SYSTEMS[name]).values()}
    return set(json.loads(SYSTEMS[system]).values()) - others


def test_a_study_of_the_rows_asks_about_the_captions_that_count(strict_world):
    world = strict_world
    make(world, metrics="cider-d")
    for team, system in (("One", "careful"), ("Two", "plain"), ("Two", "template")):
        enter(world, team, json.loads(SYSTEMS[system]), system=system)
    world.run_jobs()
    organiser = world.browser(Role.ORGANISER)
    assert "A study of the board" in organiser.get("/benchmarks/ours/submissions").text
    for kind in ABOUT_ROWS:
        images = "" if kind == "triplet" else IMAGE
        made = organiser.post("/benchmarks/ours/study", kind=kind, items="20", images=images)
        assert made.status_code == 303, made.text
        with world.database.read() as session:
            study = session.execute(select(Study).order_by(Study.id.desc()).limit(1)).scalar_one()
            of_it = StudyItem.study_id == study.id
            asked = " ".join(session.execute(select(StudyItem.content).where(of_it)).scalars())
            shown = session.execute(select(StudyImage).where(StudyImage.study_id == study.id)).scalars().all()
        assert (study.kind, study.state) == (kind, "paused")
        assert any(json.dumps(caption) in asked for caption in only_of("plain")), kind
        assert not any(json.dumps(caption) in asked for caption in only_of("template")), kind
        assert bool(shown) == bool(images)


def test_a_study_that_cannot_be_made_is_refused_with_the_reason(world):
    make(world, metrics="cider-d")
    enter(world, "One", json.loads(SYSTEMS["careful"]))
    world.run_jobs()
    organiser = world.browser(Role.ORGANISER)
    for fields, told in (
        ({"kind": "collection"}, "Choose a kind of"),
        ({"kind": "pairwise", "items": "0", "images": IMAGE}, "1 to 2,000 questions"),
        ({"kind": "pairwise"}, "give the address of one"),
        ({"kind": "pairwise", "images": "/etc/{image_id}"}, "begins with https://"),
        ({"kind": "pairwise", "images": "https://host/a.jpg"}, "has {image_id}"),
        ({"kind": "pairwise", "images": IMAGE}, "No study can be made of these rows"),
    ):
        refused = organiser.post("/benchmarks/ours/study", **fields)
        assert refused.status_code == 422
        assert told in refused.text.replace("&#39;", "'")
    with world.database.read() as session:
        assert session.execute(select(Study)).first() is None


def test_only_the_host_makes_a_study_of_the_rows(world):
    make(world)
    assert world.browser(Role.MEMBER).post("/benchmarks/ours/study", kind="triplet").status_code in (403, 404)
