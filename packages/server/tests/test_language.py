"""Pages in the language of the study, or of the browser, and the catalogues in step with the messages."""

import ast
import json
import re
from pathlib import Path

import pytest
from study_world import Person, collection_file, diversity_file, make, pairwise_file, triplet_file
from test_endings import answer

import sacrecap_server
from sacrecap_server.accounts.access import Role
from sacrecap_server.store.models import Annotator
from sacrecap_server.studies.assignment import exclude
from sacrecap_server.web.language import CATALOGUES, Language, asked_for
from sacrecap_server_testing import benchmark as benchmarks
from sacrecap_server_testing import translations
from sacrecap_server_testing.boards import enter

GERMAN = translations.read(CATALOGUES / "de.po")


def in_language(world, study, **settings):
    """The study with these settings, as its file would have them."""
    with world.database.write() as session:
        found = session.get_one(type(study), study.id)
        found.settings = json.dumps({**json.loads(found.settings), **settings})
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
    assert Language(tag).ngettext("%(num)s answer", "%(num)s answers", 1) == "%(num)s answer"


def test_an_answer_too_late_says_so_in_german(world):
    study = in_language(world, make(world, triplet_file()), language="de")
    person = answer(Person(world, study).begin())
    page = person.browser.get(person.path + "/task", params={"notice": "too-late"}).text
    assert "Diese Antwort wurde nicht gespeichert" in page


HOSTS_PAGES = ["", "/edit", "/submissions", "/submit", "/webhooks", "/rules", "/history", "/delete", "/compare?a=1&b=2"]


def german_only(page):
    """The visible texts of a page of which the catalogue knows a translation; none should be left in English."""
    # A program, a command, and what the study itself says in its own language.
    other = r"<script.*?</script>|<pre.*?</pre>|<textarea.*?</textarea>"
    shown = " ".join(re.sub(r"<[^>]+>", " ", part) for part in re.split(other, page, flags=re.S))
    english = [one(message.id) for message in GERMAN if message.id and "%(" not in one(message.id)]
    plain = {re.sub(r"<[^>]+>", " ", each).replace("%%", "%") for each in english if " " in each and len(each) > 8}
    return [each for each in plain if each in shown]


def test_a_hosts_pages_are_in_the_language_that_the_browser_asks_for(world):
    benchmarks.make(world, rules="Sei fair.", closes="2100-01-01T00:00", private_share="50", description="Ein Test.")
    for system in ("careful", "plain"):
        enter(world, f"Team {system}", json.loads(benchmarks.SYSTEMS[system]))
    world.run_jobs()
    organiser = world.browser(Role.ORGANISER)
    german = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.8"}
    paths = [f"/benchmarks/ours{path}" for path in HOSTS_PAGES]
    for path in ["/", "/benchmarks", "/benchmarks/new", "/benchmarks/new?like=ours", "/submissions/1", "/none", *paths]:
        page = organiser.get(path, headers=german).text
        assert '<html lang="de" dir="ltr">' in page, path
        assert german_only(page) == [], path
        assert "Anmelden" in page or "Abmelden" in page
    refused = organiser.client.post(
        "/benchmarks/new", data={"csrf": organiser.csrf(), "slug": "x"}, headers=german
    ).text
    assert "Hier stimmt noch etwas nicht:" in refused
    board = world.browser().get("/benchmarks/ours", headers=german)
    assert "Die Werte sind von den öffentlichen Bildern: 30 von 60." in board.text
    assert "besser als 1." in board.text
    assert "Accept-Language" in board.headers["vary"]
    # What is kept for one language is not sent to another.
    assert "Scores are of the public images: 30 of 60." in world.browser().get("/benchmarks/ours").text
    assert world.browser().get("/benchmarks/ours", headers=german).text == board.text


def test_an_owners_pages_of_a_study_are_too(world):
    study = make(world, triplet_file(consent="Einverstanden?", title="Vergleich"))
    Person(world, study).begin()
    owner = world.browser(Role.ORGANISER)
    its = f"/studies/{study.id}"
    pages = ("edit", "people", "people/1/delete", "delete", "quality", "answers", "answers?state=rejected")
    for path in ["/studies", its, *(f"{its}/{page}" for page in pages)]:
        page = owner.get(path, headers={"Accept-Language": "de"}).text
        assert '<html lang="de" dir="ltr">' in page, path
        assert german_only(page) == [], path


@pytest.mark.parametrize(
    ("file", "choice"),
    [(pairwise_file(title="Vergleich"), {"choice": "b"}), (diversity_file(title="Vielfalt"), {"sets": (1, 2, 3)})],
)
def test_what_was_answered_and_how_well_is_told_in_german(world, file, choice):
    """With all that a page of quality can show: strengths, ratings, people who are excluded, warned, odd."""
    study = make(world, file)
    owner, german = world.browser(Role.ORGANISER), {"Accept-Language": "de"}
    for place in range(3):
        person = Person(world, study, f"W{place}").begin()
        person.answer(**choice)
    with world.database.write() as session:
        for one in session.query(Annotator):
            one.pasted, one.away, one.place, one.warned = one.pages, one.pages, "here", True
        exclude(session, session.get_one(type(study), study.id), session.get_one(Annotator, 1), "checks right: 1/6")
    owner.post(f"/studies/{study.id}/answers/2/reject", reason="Nein.")
    for path in ("/quality", "/answers", "/answers?person=1"):
        page = owner.get(f"/studies/{study.id}{path}", headers=german).text
        assert german_only(page) == [], path
        assert "Kontrollen richtig: 1/6" in page
    assert "fügte in 1 von 1 Antworten Text ein" in owner.get(f"/studies/{study.id}/quality", headers=german).text


def test_the_pages_of_an_account_and_its_team_are_in_german(world):
    german = {"Accept-Language": "de"}
    for role in (Role.MEMBER, Role.ORGANISER):
        browser = world.browser(role)
        team = ["/team", "/team/delete"] if role is Role.MEMBER else []
        for path in ["/account", "/account/delete", "/forgot", *team]:
            page = browser.get(path, headers=german).text
            assert '<html lang="de" dir="ltr">' in page, path
            assert german_only(page) == [], path
        csrf = browser.csrf()
        wrong = browser.client.post("/account/password", data={"csrf": csrf, "old": "?", "new": "?"}, headers=german)
        assert "Das bisherige Passwort ist falsch." in wrong.text
        token = browser.client.post("/account/tokens", data={"csrf": csrf, "name": "Mein"}, headers=german).text
        assert german_only(token) == []
    assert german_only(world.browser(Role.ADMIN).get("/admin/teams/1", headers=german).text) == []


def test_the_remarks_on_a_study_are_in_german(world):
    gold = {"every": 5, "items": [{"a": "A dog.", "b": "The dog.", "c": "A kettle.", "answer": "b"}]}
    study = make(world, triplet_file(20, gold=gold, checks={"policy": "exclude"}))
    page = world.browser(Role.ORGANISER).get(f"/studies/{study.id}", headers={"Accept-Language": "de"}).text
    assert re.search(r"Kontrollen werden wiederkommen: für \d+ Fragen braucht eine Person \d+ Kontrollen", page)
    assert re.search(r"Von den Personen, die zufällig antworten, werden \d+ % gefunden", page)
    assert german_only(page) == []


def test_refusals_are_in_german(world):
    german = {"Accept-Language": "de"}
    browser = world.browser(Role.ORGANISER)
    assert "Nicht gefunden: Studie." in browser.get("/studies/99", headers=german).text
    assert "Diese Seite gibt es nicht." in browser.get("/none", headers=german).text
    study = make(world, triplet_file())
    path, csrf = f"/studies/{study.id}/delete", browser.csrf()
    refused = browser.client.post(path, data={"csrf": csrf, "title": "?"}, headers=german).text
    assert "Das ist nicht der Titel der Studie. Nichts wurde gelöscht." in refused
    assert world.api(Role.ORGANISER).get("/api/v1/studies/99", headers=german).json()["error"]["message"] == (
        "There is no such study."
    )


_NO_WORDS = {"CSV", "JSON", "SHA", "Prolific", "Tab", "required", "aria", "label"}


def test_no_translated_page_has_text_that_asks_for_no_translation():
    for path in (Path(sacrecap_server.__file__).parent / "templates").glob("*.html"):
        source = path.read_text()
        if "_(" in source:
            other = r"\{% trans\b.*?\{% endtrans %\}|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}|<(script|pre|code)\b.*?</\1>"
            left = re.sub(other, " ", source, flags=re.S)
            shown = re.findall(r'(?:aria-label|placeholder|alt|title)="([^"]*)"', left)
            words = re.sub(r"<[^>]*>|[a-z]+\.(csv|txt)", " ", " ".join([left, *shown]))
            assert set(re.findall(r"[^\W\d_]{2,}", words)) <= _NO_WORDS, path.name


def test_no_refusal_has_values_that_translations_cannot_take_out():
    """A message with values is `Refused(422, "… %(most)s …", most=…)`: its text is a literal, which catalogues have."""
    for path in Path(sacrecap_server.__file__).parent.rglob("*.py"):
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


def test_pages_without_translations_are_english_as_a_whole(world):
    page = world.browser(Role.ADMIN).get("/admin", headers={"Accept-Language": "de"}).text
    assert '<html lang="en" dir="ltr">' in page
    assert "Sign out" in page
