"""Pages in the language of the study, or of the browser, and the catalogues in step with the messages."""

import ast
import re
from pathlib import Path

import pytest
from study_world import Person, collection_file, make, triplet_file
from test_endings import answer

import sacrecap_server
from sacrecap_server.web.context import Role
from sacrecap_server.web.templates import CATALOGUES, Language, asked_for
from sacrecap_server_testing import translations

GERMAN = translations.read(CATALOGUES / "de.po")


def in_language(world, study, **settings):
    """The study with these settings, as its file would have them."""
    with world.database.write() as session:
        found = session.get_one(type(study), study.id)
        found.settings = {**found.settings, **settings}
    return study


@pytest.mark.parametrize("path", sorted(CATALOGUES.glob("*.po")), ids=lambda path: path.stem)
def test_catalogues_have_every_message_translated_and_compiled(path):
    catalog = translations.read(path)
    run = "in tests, run python -m sacrecap_server_testing.translations, and translate what it leaves empty"
    for wanted in translations.wanted():
        if not wanted.id:
            continue
        found = catalog.get(wanted.id)
        assert found is not None, f"{path.name} lacks {wanted.id!r}: {run}"
        texts = found.string if isinstance(found.string, tuple) else (found.string,)
        assert all(texts), f"{path.name} has no translation of {wanted.id!r}: {run}"
        assert not found.fuzzy
        for text in texts:
            assert sorted(re.findall(r"%\(\w+\)[sd]", text)) == sorted(re.findall(r"%\(\w+\)[sd]", one(wanted.id)))
    assert path.with_suffix(".mo").read_bytes() == translations.compiled(catalog), f"{path.stem}.mo is not of it: {run}"


def one(message):
    return message if isinstance(message, str) else message[1]


def test_every_page_is_in_german(world):
    """All pages name the study's language and direction, and none of them has an English text left."""
    study = make(world, triplet_file(consent="Einverstanden?", contact="uns@example.org", title="Vergleich"))
    in_language(world, study, language="de-AT")
    person = Person(world, study)
    pages = [person.browser.get(person.path).text]
    person.begin()
    pages += [person.page, person.browser.get(person.path + "/stop").text]
    wrong = person.post("/answer", assignment=person.assignment).text
    assert "Wählen Sie einen der beiden Sätze." in wrong
    assert "0 erledigt, von höchstens 8" in person.page
    person.post("/stop", how="keep")
    pages.append(person.look().page)
    assert "Sie haben aufgehört. 0 Antworten sind gespeichert." in person.page
    english = [message.id for message in GERMAN if isinstance(message.id, str) and len(message.id) > 8]
    for page in pages:
        assert '<html lang="de-AT" dir="ltr">' in page
        assert 'href="mailto:uns@example.org"' in page
        text = re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])
        assert [one for one in english if one in text] == []


def test_sentences_are_refused_in_german(world):
    study = in_language(world, make(world, collection_file()), language="de")
    person = Person(world, study).begin()
    refused = person.post("/answer", assignment=person.assignment, sentence="Ein Hund.")
    assert "Schreiben Sie einen ganzen Satz mit mindestens 4 Wörtern." in refused.text


def test_the_owners_words_stand_in_for_ours_and_are_only_text(world):
    study = make(world, triplet_file(instructions="100 % of <b>them</b> %(done)s"))
    texts = {"Next": "التالي", "%(done)s done, of at most %(most)s": "%(done)s / %(most)s", "I want to stop": "<b> 5 %"}
    in_language(world, study, language="ar", texts=texts, question="أي الجملتين أقرب؟ 5 %")
    person = Person(world, study).begin()
    assert '<html lang="ar" dir="rtl">' in person.page
    assert ">التالي<" in person.page
    assert "0 / 8" in person.page
    assert "أي الجملتين أقرب؟ 5 %" in person.page
    assert "100 % of &lt;b&gt;them&lt;/b&gt; %(done)s" in person.page
    assert "&lt;b&gt; 5 %</a>" in person.page
    for broken in ("%(other)s", "100 %", "%(done)d %z"):
        in_language(world, study, texts={"%(done)s done, of at most %(most)s": broken})
        assert "0 done, of at most 8" in person.look().page


@pytest.mark.parametrize(
    ("tag", "direction"),
    [("en", "ltr"), ("ar", "rtl"), ("AR-eg", "rtl"), ("he", "rtl"), ("az-Arab", "rtl"), ("ar-Latn", "ltr")],
)
def test_the_direction_follows_script_then_language(tag, direction):
    assert Language(tag).direction == direction
    assert Language(tag, writing="rtl").direction == "rtl"


@pytest.mark.parametrize("tag", ["", "xx", "../../etc/passwd", "de/../de", "."])
def test_a_language_without_a_catalogue_is_english(tag):
    assert Language(tag).gettext("Next") == "Next"
    assert Language(tag).gettext("%(num)s answer", "%(num)s answers", 1) == "%(num)s answer"


def test_an_answer_too_late_says_so_in_german(world):
    study = in_language(world, make(world, triplet_file()), language="de")
    person = answer(Person(world, study).begin())
    page = person.browser.get(person.path + "/task", params={"notice": "too-late"}).text
    assert "Diese Antwort wurde nicht gespeichert" in page


def test_refusals_of_an_annotator_are_in_their_language(world):
    german = {"Accept-Language": "de"}
    assert "Nicht gefunden: Studie." in world.client().get("/s/none", headers=german).text
    study = in_language(world, make(world, triplet_file(workers_only=True)), language="de")
    person = Person(world, study)
    person.browser.get(person.path)
    refused = person.browser.post(f"{person.path}/begin")
    assert refused.status_code == 403
    assert "Plattform" in refused.text
    assert world.api(Role.OWNER).get("/api/v1/studies/99", headers=german).json()["error"]["message"] == (
        "There is no such study."
    )


def test_the_owners_pages_are_english_whatever_the_browser_asks_for(world):
    study = make(world, triplet_file())
    for path in ("/studies", f"/studies/{study.id}", "/privacy"):
        page = world.browser(Role.OWNER).get(path, headers={"Accept-Language": "de"}).text
        assert '<html lang="en" dir="ltr">' in page
        assert "Sign out" in page


def test_no_refusal_has_values_that_translations_cannot_take_out():
    """A message with values is `Refused(422, "… %(most)s …", most=…)`: its text is a literal, which catalogues have."""
    for path in Path(sacrecap_server.__file__).parent.rglob("*.py"):
        if path.parent.name == "contest":  # whose pages are English
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in ("Refused", "Message")
            ):
                text = call.args[call.func.id == "Refused"]
                assert not isinstance(text, ast.JoinedStr | ast.BinOp), f"{path.name}:{call.lineno}"


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT, en", "de"),
        ("en-GB,en;q=0.9,de;q=0.8", "en"),
        ("fr,de;q=0.5,en;q=0.4", "de"),
        ("fr;q=1.0", "en"),
        ("de;q=0", "en"),
        ("de;q=x, ../../etc/passwd;q=1", "en"),
        ("en;q=0.1, DE;q=0.123", "de"),
    ],
)
def test_the_language_that_is_liked_best_of_those_that_there_are(header, tag):
    assert asked_for(header).tag == tag
