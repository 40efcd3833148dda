"""The preview walks the whole study, and changes nothing."""

import re

from study_world import PIXEL, make, pairwise_file, triplet_file
from test_annotating import GOLD, rows

from sacrecap_server.store.schema import Annotator, Assignment, StudyItem
from sacrecap_server.web.context import Role


def walk(world, study):
    """Every page of the preview, from the first by its links."""
    owner, number, pages = world.browser(Role.OWNER), "0", []
    while number is not None:
        pages.append(owner.get(f"/studies/{study.id}/preview", params={"page": number}).text)
        found = re.search(r'<a href="\?page=(\d+)" rel="next">', pages[-1])
        number = found and found[1]
    return pages


def test_the_preview_walks_the_whole_study_and_saves_nothing(world):
    checks = {
        "gold": {"every": 4, "items": GOLD[:2]},
        "attention": {"every": 4, "items": [{"a": "Look here.", "b": "Look here!", "c": "A bus.", "answer": "b"}]},
    }
    study = make(world, triplet_file(pairs=2, references=2, consent="Do you agree to this?", **checks), "paused")
    with world.database.write() as session:  # as the file's `practice` makes them
        session.add(
            StudyItem(
                study_id=study.id,
                role="practice",
                number=0,
                group=0,
                shuffle=0,
                because="",
                answer="b",
                content={"a": "For practice.", "b": "One.", "c": "Two."},
            )
        )
    pages = walk(world, study)
    text = "\n".join(pages)
    assert "Do you agree to this?" in pages[0]
    assert "I do not agree" in pages[0]
    for word in ("For practice.", "a dog number 1 runs away", "A dog 1.", "Look here."):
        assert word in text
    for name in ("Practice", "Questions 4 of 4", "Gold questions 2 of 2", "Attention checks", "Stopping"):
        assert f"</strong> {name}." in text
    for end in (
        "Thank you, that is all",
        "goes on without you",
        "You do not take part",
        "The study is paused",
        "All questions are answered",
        "Your answers are deleted",
        "The study is over",
    ):
        assert end in text
    assert len(pages) == 1 + 1 + 4 + 2 + 1 + 1 + 11
    for page in pages:
        assert "A preview; nothing is saved." in page
        assert f"/s/{study.code}" not in page
        for button in re.findall(r"<button[^>]*>", page):
            assert " disabled" in button
    assert rows(world, Annotator) == rows(world, Assignment) == []
    owner = world.browser(Role.OWNER)
    assert owner.get(f"/studies/{study.id}/preview", params={"page": len(pages)}).status_code == 404


def test_the_preview_shows_images_and_the_codes_of_each_ending(world):
    completion = {"code": "C1", "screened_out": {"code": "C2", "url": "https://platform.example/out"}}
    file = pairwise_file(pairs=1, completion=completion, platform="prolific")
    file["images"] = {"0": "https://images.example/0.jpg"}
    study = make(world, file)
    owner = world.browser(Role.OWNER)
    page = owner.get(f"/studies/{study.id}/preview?page=1")
    assert "img-src https://images.example " in page.headers["content-security-policy"]
    text = "\n".join(walk(world, study))
    assert "cc=C1" in text
    assert "https://platform.example/out" in text
    assert PIXEL not in text
