"""`sacrecap study`: the file of a human study."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from runner import Runner

REFERENCES = {"beach": ["A dog runs.", "A wet dog."], "kitchen": ["A woman cuts bread.", "Bread is cut."]}


@pytest.fixture
def files(run: Runner) -> Runner:
    contents = {
        "references.json": REFERENCES,
        "one.json": {"beach": "a dog", "kitchen": "a woman"},
        "two.json": {"beach": "some dog", "kitchen": "some bread"},
        "sets.json": {"beach": ["a dog", "sand"], "kitchen": ["a woman", "bread"]},
        "study.json": {"study": "triplet", "items": [{"image_id": 1}], "judgements": 3},
    }
    for name, content in contents.items():
        (run.folder / name).write_text(json.dumps(content), encoding="utf-8")
    (run.folder / "images").mkdir()
    for name in REFERENCES:
        Image.new("RGB", (8, 6), "teal").save(run.folder / "images" / f"{name}.png")
    return run


def test_a_triplet_study_to_standard_output(files: Runner) -> None:
    command = ("study", "make", "triplet", "--references", "references.json", "--systems", "one.json", "two.json")
    made = json.loads(files.ok(*command, "--title", "Which?"))
    assert made["title"] == "Which?"
    assert [len(item["references"]) for item in made["items"]] == [2, 2]
    assert {made["items"][0]["b_system"], made["items"][0]["c_system"]} == {"one", "two"}
    assert made == json.loads(files.ok(*command, "--title", "Which?", "--seed", "0"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairwise", "--references", "references.json", "--systems", "one.json", "two.json", "--images", "images"),
        ("pairwise", "--references", "references.json", "--categories", "HI", "--images", "images", "--gold", "1"),
        ("diversity", "--systems", "a=sets.json", "b=sets.json", "--images", "https://x.org/{image_id}.jpg"),
        ("collection", "--images", "images"),
    ],
)
def test_studies_with_images(files: Runner, arguments: tuple[str, ...]) -> None:
    files.ok("study", "make", *arguments, "-o", "made.json", "--quiet")
    checked = files.here("study", "check", "made.json").stdout
    assert checked.startswith(f"{arguments[0]}: 2 questions")
    assert checked.endswith("2 images\n")


def test_questions_and_examples_of_ones_own(files: Runner) -> None:
    asked = [{"name": "true", "type": "choice", "text": "Is it true?", "options": ["yes", "no"]}]
    examples = [{"text": "a dog", "good": True}]
    for name, content in {"asked.json": asked, "examples.json": examples, "wrong.json": {"name": "true"}}.items():
        (files.folder / name).write_text(json.dumps(content), encoding="utf-8")
    command = ("study", "make", "questions", "--systems", "one.json", "two.json")
    made = json.loads(files.ok(*command, "--questions", "asked.json", "--examples", "examples.json", "--together"))
    assert (made["questions"], made["examples"]) == (asked, examples)
    assert [[one["system"] for one in item["sets"]] for item in made["items"]] == [["one", "two"]] * 2
    for more, message in (
        ((), "--questions FILE and the kind questions go together"),
        (("--questions", "wrong.json"), "wrong.json: the questions must be a list of objects"),
        (("--questions", "examples.json"), "questions[0].type must be one of choice, scale"),
    ):
        ended = files.here(*command, *more)
        assert ended.status == 2
        assert message in " ".join(ended.stderr.split())


def test_two_studies_of_the_same_pairs_are_compared(files: Runner) -> None:
    """What stands as B in one study may be C in the other; a tie is no winner."""

    def line(pair: str, winner: str, b: str = "a dog", c: str = "sand") -> str:
        pairs = {"pair": pair, "image_id": 1, "references": ["A dog."], "b": b, "c": c, "category": "HM"}
        return json.dumps({**pairs, "winner": winner})

    triplets = [line("1", "b"), line("2", "b"), line("3", "tie"), line("4", "c"), line("9", "b")]
    choices = [line("1", "c", "sand", "a dog"), line("2", "c"), line("3", "b"), line("4", "c")]
    for name, lines in (("triplets", triplets), ("choices", choices), ("others", [line("8", "b")])):
        (files.folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = files.ok("study", "compare", "triplets.jsonl", "choices.jsonl", "-o", "joined.jsonl")
    assert [row.split()[:4] for row in told.splitlines()[1:]] == [["HM", "3", "2", "0.667"], ["all", "3", "2", "0.667"]]
    joined = [json.loads(row) for row in (files.folder / "joined.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["pair"], one["human_like"], one["humans_like"]) for one in joined] == [
        ("1", "b", "b"),
        ("2", "b", "c"),
        ("3", "tie", "b"),
        ("4", "c", "c"),
    ]
    ended = files.here("study", "compare", "triplets.jsonl", "others.jsonl")
    assert (ended.status, "have no pair in common" in ended.stderr.replace("\n", " ")) == (2, True)


def test_too_few_checks_are_said_before_the_start(files: Runner) -> None:
    """`study make` and `study check` both say it, with what would suffice."""
    many = {str(n): [f"a dog {n} runs", f"a dog {n} sits"] for n in range(20)}
    contents = {"many.json": many, "a.json": dict.fromkeys(many, "a dog"), "b.json": dict.fromkeys(many, "b")}
    for name, content in contents.items():
        (files.folder / name).write_text(json.dumps(content), encoding="utf-8")
    command = ("study", "make", "triplet", "--references", "many.json", "--systems", "a.json", "b.json", "--gold", "3")
    made = files.here(*command, "-o", "many-study.json")
    assert "for 40 questions a person needs 4 checks, but the study has 3" in made.stderr.replace("\n", " ")
    checked = files.here("study", "check", "many-study.json").stderr.replace("\n", " ")
    assert "set most_per_person to 30 or less" in checked
    assert "come again" not in files.here(*command[:-1], "4", "-o", "many-study.json").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("make", "triplets"), "'triplets' is not one of"),
        (("make",), "Missing argument 'KIND'. Choose from: triplet, pairwise, pairwise-equal, diversity, collection"),
        (("make", "triplet"), "needs --references"),
        (("make", "triplet", "--references", "references.json", "--systems", "one.json"), "two systems or more, got 1"),
        (
            ("make", "triplet", "--references", "references.json", "--systems", "x=one.json", "x=two.json"),
            "two systems are called 'x'",
        ),
        (("make", "pairwise", "--references", "references.json", "--categories", "HI"), "give --images DIR"),
        (("make", "collection"), "a collection needs its images"),
        (("make", "collection", "--images", "images", "--systems", "one.json"), "it has no systems"),
        (("make", "collection", "--images", "x/{image_id}.jpg"), "does not say which images there are"),
        (("check", "study.json"), "judgements: no such field"),
        (("check", "none.json"), "none.json"),
    ],
)
def test_what_is_refused(files: Runner, arguments: tuple[str, ...], message: str) -> None:
    ended = files.here("study", *arguments)
    assert ended.status == 2
    assert ended.stdout == ""
    assert message in ended.stderr.replace("\n", " ")


def test_a_plan_of_assumed_and_of_piloted_answers(files: Runner) -> None:
    """The rows have the width that was asked for; a study of one's own gets a row with the width that it reaches."""
    shown = files.ok("study", "plan", "mean", "--between", "0.2", "--within", "0.25", "--width", "0.05").splitlines()
    assert shown[0] == "mean, assumed: between 0.2, within 0.25"
    assert shown[2].split() == ["1", "630", "630", "32", "–", "0.050"]
    lines = [
        {"image_id": n, "system": system, "rating": [0.1 * n + 0.2 * more, 0.1 * n, 0.15 * n], "people": [1, 2, 3]}
        for n in range(6)
        for more, system in enumerate("ab")
    ]
    (files.folder / "pilot.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    files.ok("study", "make", "collection", "--images", "images", "-o", "own.json", "--quiet")
    command = ("study", "plan", "difference", "--pilot", "pilot.jsonl", "--study", "own.json", "--format", "json")
    made = json.loads(files.ok(*command))
    assert [need["judgments"] for need in made["needs"]] == [1, 3, 5, 7, 11]
    assert all(need["width"] <= made["width"] for need in made["needs"])
    assert (made["study"]["items"], made["study"]["judgments"], made["per_person"]) == (2, 50, 2)
    assert made["assumed"]["within"] > 0
    assert "--pilot FILE, or --between" in files.here("study", "plan", "tau").stderr
    assert "needs more than 10,000,000 items" in files.here("study", "plan", "accuracy", "--width", "1e-6").stderr


IMAGES = [f"image {number}" for number in range(40)]


@pytest.fixture
def contest(run: Runner) -> Runner:
    """A contest of two teams with half of its images private; each reference and caption names its image."""
    folder = run.folder / "contest"
    (run.folder / "hidden").mkdir()
    references = {image: [f"a reference {word} of {image}." for word in ("one", "two")] for image in IMAGES}
    (run.folder / "hidden" / "c2.json").write_text(json.dumps(references), encoding="utf-8")
    for team, files in {"careful": ("001-good", "002-worse"), "plain": ("001-only",)}.items():
        (folder / "submissions" / team).mkdir(parents=True)
        for name in files:
            said = {image: f"a {'reference' if 'good' in name else team} of {image} {name}" for image in IMAGES}
            (folder / "submissions" / team / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    declare(run, "2099-01-01T00:00:00Z")
    return run


def declare(run: Runner, ends: str) -> None:
    text = f'references = "../hidden/c2.json"\nmetrics = "rouge-l"\nends = {ends}\n[private]\nshare = 50\n'
    (run.folder / "contest" / "contest.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("kind", ["triplet", "pairwise", "likert", "collection"])
def test_a_study_of_an_open_contest_has_nothing_of_private_images(contest: Runner, kind: str) -> None:
    """The default kind printed references of private images to annotators, who may be participants."""
    command = ("study", "make", kind, "--contest", "contest", "--gold", "2", "--images", "https://x.org/{image_id}")
    if kind == "collection":
        command = ("study", "make", kind, "--contest", "contest", "--images", "https://x.org/{image_id}")
        ended = contest.here(*command)
        assert (ended.status, "give --images in place of --contest" in ended.stderr) == (2, True)
        return
    ended = contest.here(*command)
    assert ended.status == 0, ended.stderr
    assert "the contest is not over" in ended.stderr
    private = json.loads((contest.folder / "hidden" / "c2.private.json").read_text())["images"]
    assert len(private) == 20
    assert [image for image in private if f"{image}." in ended.stdout or f'"{image}"' in ended.stdout] == []
    made = json.loads(ended.stdout)
    assert {item["image_id"] for item in made["items"]} == {*IMAGES} - {*private}
    systems = {item[name] for item in made["items"] for name in ("b_system", "c_system", "system") if name in item}
    assert systems == {"careful/001-good", "plain/001-only"}, "the files that count"
    declare(contest, "2020-01-01T00:00:00Z")
    over = contest.here(*command)
    assert {item["image_id"] for item in json.loads(over.stdout)["items"]} == {*IMAGES}
    assert "not over" not in over.stderr


def test_a_contest_has_its_references_and_systems(contest: Runner) -> None:
    ended = contest.here("study", "make", "triplet", "--contest", "contest", "--references", "hidden/c2.json")
    assert (ended.status, "leave --references and --systems out" in ended.stderr) == (2, True)
