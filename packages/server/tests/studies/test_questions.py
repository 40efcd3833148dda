"""Questions, their answers, and what a study's file may say about them."""

import json
from dataclasses import replace

import pytest
from study_world import questions_file
from test_quality import answer as answered

from sacrecap_studies.answers import export, export_name
from sacrecap_studies.design import StudyFileError, read_design
from sacrecap_studies.quality import quality
from sacrecap_studies.questions import AnswerError, captions_of, images_of

CAPTIONS = ["a red dog runs", "a cat", "a dog", "a boat"]
PAGE = {
    "references": ["A dog runs."],
    "sets": [{"system": name, "captions": [text]} for name, text in zip("wxyz", CAPTIONS, strict=True)],
}
FLUENT = {"name": "fluent", "type": "scale", "text": "How fluent?", "labels": ["bad", "so-so", "good"]}
WRONG = {"name": "wrong", "type": "words", "text": "Which words are wrong?"}
ENDS = {"name": "ends", "type": "best-worst", "text": "Which is best?"}
ONE = {"name": "one", "type": "choice", "text": "Which?", "equal": "No difference"}
LIES = {"name": "lies", "type": "choice", "text": "Is it true?", "options": ["yes", "no"]}
NOTE = {"name": "note", "type": "text", "text": "Anything else?", "optional": True}


def read(*questions, items=(PAGE,), **more):
    return read_design(json.dumps(questions_file(list(items), *questions, **more)).encode())


FORM = {
    "fluent-1": "2", "fluent-2": "0", "fluent-3": "1", "fluent-4": "2",
    "wrong-1-1": "1", "wrong-4-0": "1",
    "ends-best": "4", "ends-worst": "2",
    "one": "tie",
    "lies-1": "0", "lies-2": "1", "lies-3": "0", "lies-4": "1",
}  # fmt: skip


def test_every_type_of_question_on_one_page():
    """Captions stand in another order than in the file; answers are in that of the file."""
    design = read(FLUENT, WRONG, ENDS, ONE, LIES, NOTE)
    content = design.pages[0].content
    order = [3, 2, 1, 0]
    assert len(captions_of(content)) == 4
    assert design.kind.read(content, FORM, order) == {
        "fluent": [3.0, 2.0, 1.0, 3.0],
        "wrong": [[0], [], [], [1]],
        "ends": {"best": "b", "worst": "d"},
        "one": "tie",
        "lies": ["no", "yes", "no", "yes"],
        "note": "",
    }


@pytest.mark.parametrize(
    ("question", "form", "problem"),
    [
        (FLUENT, {"fluent-1": "3"}, "every question"),
        (FLUENT, {"fluent-1": "-1"}, "every question"),
        (LIES, {"lies-1": "²"}, "every question"),
        (ENDS, {"ends-best": "1"}, "best and the worst"),
        (ENDS, {"ends-best": "1", "ends-worst": "1"}, "two different"),
        (ENDS, {"ends-best": "5", "ends-worst": "1"}, "best and the worst"),
        (ONE, {"one": "unsure"}, "one of the answers"),
        (ONE, {"one": "0"}, "one of the answers"),
        ({**NOTE, "optional": False}, {"note": "  "}, "every question"),
        (NOTE, {"note": "x" * 2001}, "At most 2000"),
    ],
)
def test_answers_that_are_none(question, form, problem):
    design = read(question)
    with pytest.raises(AnswerError, match=problem):
        design.kind.read(design.pages[0].content, form, [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("questions", "items", "problem"),
    [
        ([], [PAGE], "questions must be a list of at least 1"),
        ([{**FLUENT, "name": "Fluent"}], [PAGE], "questions[0].name must be up to 30 small letters"),
        ([{**NOTE, "name": "csrf"}], [PAGE], "none of csrf"),
        ([NOTE, NOTE], [PAGE], "each with a name of its own"),
        ([{**NOTE, "type": "essay"}], [PAGE], "type must be one of choice, scale, best-worst, words, text, sentence"),
        ([{**FLUENT, "labels": ["bad", "good"], "most": 500}], [PAGE], "500 points; a scale has 2 to 21"),
        ([{**LIES, "options": ["yes", "yes"]}], [PAGE], "options must be at most 20 different texts"),
        ([ENDS], [{"b": "a dog", "c": "a cat", "references": ["a dog"]}], "ends is about 3 to 25 captions"),
        ([WRONG], [{"a": "Hello."}], "wrong is about 1 to 100 captions"),
        ([{**NOTE, "lables": []}], [PAGE], "questions[0].lables: no such field"),
    ],
)
def test_what_a_file_may_not_say(questions, items, problem):
    with pytest.raises(StudyFileError) as refused:
        read(*questions, items=items)
    assert problem in str(refused.value)


def test_a_protocol_has_its_own_questions():
    file = {"study": "likert", "questions": [NOTE], "items": [{"image_id": 1, "caption": "a dog"}]}
    with pytest.raises(StudyFileError, match="questions: no such field"):
        read_design(json.dumps({**file, "images": {"1": "https://x.org/1"}}).encode())


def test_checks_of_several_questions():
    """A check knows the answers to some of the questions; of the others, any is right."""
    item = {**PAGE, "answer": {"fluent": {"w": [3, 3]}, "wrong": {"w": ["Red"]}, "ends": {"best": "b", "worst": "e"}}}
    del item["references"]
    design = read(FLUENT, WRONG, ENDS, LIES, gold={"items": [item]})
    (check,) = design.known["gold"]
    right = {"fluent": [3.0, 1.0, 1.0, 1.0], "wrong": [[1], [0], [], []], "ends": {"best": "b", "worst": "e"}}
    assert design.kind.is_correct(check.answer, right)
    page = read(LIES, FLUENT, gold={"items": [{"a": "Hm.", "answer": {"lies": "yes", "fluent": [2, 3]}}]})
    (known,) = page.known["gold"]
    assert page.kind.is_correct(known.answer, {"lies": "yes", "fluent": 3.0})
    assert not page.kind.is_correct(known.answer, {"lies": "yes", "fluent": 1.0})
    assert page.kind.luck(known.content, known.answer) == pytest.approx(1 / 3)
    assert page.kind.explain(known.content, known.answer) == ["Is it true? yes", "How fluent? 2 – 3"]
    others = {"fluent": [2.0, 1.0, 1.0, 1.0], "wrong": [[], [], [], []], "ends": {"best": "c", "worst": "e"}}
    for name, wrong in others.items():
        assert not design.kind.is_correct(check.answer, {**right, name: wrong})
    assert len(design.kind.explain(check.content, check.answer)) == 4
    item["answer"] = {"wrong": {"w": ["kettle"]}}
    with pytest.raises(StudyFileError, match="words of the caption"):
        read(WRONG, FLUENT, gold={"items": [item]})


def test_the_luck_of_whoever_answers_at_random():
    """Over every answer that there is to a question, as many are right as its luck says."""
    pair = {"b": "a dog", "c": "a cat", "answer": "b"}
    design = read(ONE, items=[{**PAGE}], gold={"items": [pair]})
    assert design.kind.luck(pair, "b") == 1 / 3
    item = {**PAGE, "answer": {"fluent": {"w": [2, 3], "x": [1, 1]}, "lies": {"w": "yes"}}}
    del item["references"]
    design = read(FLUENT, LIES, gold={"items": [item]})
    (check,) = design.known["gold"]
    every = [
        {"fluent": [w, x, 1, 1], "lies": [lie, "no", "no", "no"]}
        for w in (1, 2, 3)
        for x in (1, 2, 3)
        for lie in ("yes", "no")
    ]
    right = [design.kind.is_correct(check.answer, one) for one in every]
    assert design.kind.luck(check.content, check.answer) == pytest.approx(sum(right) / len(right))


def test_the_luck_of_best_and_worst_and_of_whoever_marks_no_word():
    known = [({"ends": {"best": "b", "worst": "e"}}, 1 / 12), ({"wrong": {"w": ["red"]}}, 0), ({"wrong": {"w": []}}, 1)]
    for answer, luck in known:
        item = {"sets": PAGE["sets"], "answer": answer}
        (check,) = read(ENDS, WRONG, gold={"items": [item]}).known["gold"]
        assert read(ENDS, WRONG).kind.luck(check.content, check.answer) == pytest.approx(luck)


def said(design, *answers):
    one = answered(0, 0, "b")
    return [
        replace(one, person=person, content=design.pages[0].content, answer=each)
        for person, each in enumerate(answers, 1)
    ]


def test_ratings_of_several_questions_are_aspects_and_other_answers_stay():
    design = read(FLUENT, WRONG, LIES, NOTE)
    answers = said(
        design,
        {"fluent": [3, 1, 2, 2], "wrong": [[1], [], [], []], "lies": ["no"] * 4, "note": "hm"},
        {"fluent": [2, 1, 2, 3], "wrong": [[0, 1], [], [], []], "lies": ["yes"] * 4, "note": ""},
    )
    assert export_name(design.kind) == "ratings.jsonl"
    first, *_ = lines = [json.loads(line) for line in export(design.kind, answers, 2)]
    assert len(lines) == 4
    assert first["rating"] == {"fluent": [3, 2], "wrong": [-1, -2]}
    assert first["answers"] == {"wrong": [[1], [0, 1]], "lies": ["no", "yes"], "note": ["hm", ""]}
    assert (first["system"], first["caption"], first["complete"]) == ("w", "a red dog runs", True)
    found = quality(design.kind, answers)
    assert {one.system: one.mean for one in found.ratings} == {"w": 2.5, "x": 1.0, "y": 2.0, "z": 2.5}


def test_best_worst_and_choices_among_many_are_ratings():
    design = read(ENDS)
    lines = export(design.kind, said(design, {"best": "b", "worst": "d"}, {"best": "c", "worst": "d"}), 2)
    assert [json.loads(line)["rating"] for line in lines] == [[1, 0], [0, 1], [-1, -1], [0, 0]]
    design = read(ONE)
    lines = export(design.kind, said(design, "e", "tie"), 2)
    assert [json.loads(line)["rating"] for line in lines] == [[0], [0], [0], [1]]


def test_exports_have_the_inclusion_of_their_items():
    design = read(ENDS, items=[{**PAGE, "inclusion": 2.5}])
    lines = map(json.loads, export(design.kind, said(design, {"best": "b", "worst": "d"}), 1))
    assert [line["inclusion"] for line in lines] == [2.5] * 4
    design = read(ONE, items=[{"b": "a dog", "c": "a cat", "references": ["a dog runs"], "inclusion": 0.25}])
    (line,) = map(json.loads, export(design.kind, said(design, {"one": "b"}), 1))
    assert line["inclusion"] == 0.25


def test_a_choice_between_two_is_a_pair_and_ties_are_no_votes():
    pair = {"b": "a dog", "c": "a cat", "references": ["a dog runs"]}
    design = read(ONE, NOTE, items=[pair])
    answers = said(design, *({"one": one, "note": one} for one in ("b", "tie", "b", "c")))
    (line,) = map(json.loads, export(design.kind, answers, 4))
    assert (line["winner"], line["votes"], line["people"]) == ("b", [1, 1, -1], [[2, 1]])
    assert line["said"] == [{"b": [1, 3], "c": [4], "tie": [2]}]
    assert line["answers"] == {"note": ["b", "tie", "b", "c"]}
    found = quality(design.kind, answers)
    assert (found.unanimous, found.majority, found.undecided) == (0, 1, 0)
    only_ties = said(read(ONE, items=[pair]), "tie", "tie")
    (line,) = map(json.loads, export(read(ONE, items=[pair]).kind, only_ties, 2))
    assert line["winner"] == "tie"
    assert "votes" not in line


def test_pages_without_captions_have_their_answers():
    design = read(LIES, NOTE, items=[{"a": "The earth is flat."}])
    content = design.pages[0].content
    assert design.kind.read(content, {"lies": "1", "note": "really"}, []) == {"lies": "no", "note": "really"}
    (line,) = map(json.loads, export(design.kind, said(design, {"lies": "no", "note": ""}), 1))
    assert line["answers"] == {"lies": ["no"], "note": [""]}


BEACH = {"image_id": "beach", "system": "w", "captions": ["A dog runs."]}
KITCHEN = {"image_id": "kitchen", "system": "w", "captions": ["A woman cuts bread."]}
SHOWN = {name: f"https://x.org/{name}.jpg" for name in ("beach", "kitchen")}


def test_captions_of_a_page_may_have_images_of_their_own():
    """They are told apart by their images then, so that one system may have several."""
    check = {"sets": [BEACH, KITCHEN], "answer": {"kitchen": [2, 3]}}
    design = read(FLUENT, items=[{"sets": [BEACH, KITCHEN]}], images=SHOWN, gold={"items": [check]})
    (page,), (known,) = design.pages, design.known["gold"]
    assert images_of(page.content) == ["beach", "kitchen"]
    assert known.answer == [None, [2, 3]]
    said = ([1.0, 3.0], [2.0, 3.0])
    answers = [replace(answered(0, person, own), content=page.content) for person, own in enumerate(said)]
    lines = [json.loads(line) for line in export(design.kind, answers, 2)]
    assert [(line["image_id"], line["system"], line["rating"]) for line in lines] == [
        ("beach", "w", [1.0, 2.0]),
        ("kitchen", "w", [3.0, 3.0]),
    ]


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        ([BEACH, BEACH], "each set needs a system of its own, or each an image_id of its own"),
        ([BEACH, {"system": "v", "captions": ["Bread."]}], "or each an image_id of its own"),
        ([BEACH, {**KITCHEN, "image_id": "hall"}], "no image 'hall', which an item shows"),
    ],
)
def test_images_of_a_page_that_are_refused(sets, problem):
    with pytest.raises(StudyFileError) as refused:
        read(FLUENT, items=[{"sets": sets}], images=SHOWN)
    assert problem in str(refused.value)
