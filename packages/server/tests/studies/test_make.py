"""Studies from references and systems, read back by the reader of studies."""

import base64
import io
import json
from collections import Counter

import pytest
from PIL import Image

from sacrecap.errors import DataError, DataWarning, UsageError
from sacrecap_studies.design import read_design
from sacrecap_studies.make import SIDE, images_of, make_study

REFERENCES = {str(n): [f"a dog {n} {word}" for word in ("runs", "sits", "eats")] for n in range(6)}
ONE = {str(n): [f"one {n}"] for n in range(6)}
TWO = {str(n): [f"two {n}"] for n in range(6)}
SETS = {str(n): [f"set {n} {word}" for word in "xyz"] for n in range(6)}


def design(study, **more):
    return read_design(json.dumps({**study, **more}).encode())


def test_every_reference_of_a_pair_is_a_triplet():
    made = design(make_study("triplet", REFERENCES, {"one": ONE, "two": TWO}))
    assert len(made.pages) == 18
    assert made.judgments == 3
    assert {page.content["b_system"] for page in made.pages} == {"one", "two"}, "sides are drawn"
    assert all({page.content["b"][:3], page.content["c"][:3]} == {"one", "two"} for page in made.pages)


@pytest.mark.parametrize("category", ["HC", "HI", "HM", "MM"])
def test_an_image_whose_references_are_all_blank_has_no_pairs(category):
    with pytest.warns(DataWarning, match="the references: empty sentences are left out"):
        made = make_study("pairwise", {**REFERENCES, "0": [" "]}, {"one": ONE, "two": TWO}, categories=[category])
    assert {item["image_id"] for item in made["items"]} == {*REFERENCES} - {"0"}


@pytest.mark.parametrize("category", ["HC", "HI", "HM", "MM"])
def test_categories(category):
    made = make_study("triplet", REFERENCES, {"one": ONE, "two": TWO}, categories=[category])
    for item in made["items"]:
        systems = {item["b_system"], item["c_system"]}
        own = [item[side] in REFERENCES[item["image_id"]] for side in "bc"]
        assert item["category"] == category
        assert not {item["b"], item["c"]} & set(item["references"])
        assert sum(own) == {"HC": 2, "HI": 1, "HM": 1, "MM": 0}[category]
        assert ("human" in systems) == (category != "MM")
    assert len(made["items"]) == (12 if category == "HM" else 6)
    design(made)


def test_drawing_depends_on_the_seed_and_on_nothing_else():
    def drawn(seed):
        return make_study("triplet", REFERENCES, {"one": ONE, "two": TWO}, items=3, gold=2, attention=2, seed=seed)

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(drawn(1)["items"]) == 3
    made = design(drawn(1))
    assert {role: len(pages) for role, pages in made.known.items()} == {"gold": 2, "attention": 2}
    assert made.settings["rule"]["policy"] == "warn"


def many_systems(images=40, references=6):
    """References and three systems' captions, with enough pairs of every category."""
    names = ("x", "y", "z")
    people = {str(n): [f"a dog {n} {word}" for word in "abcdefgh"[:references]] for n in range(images)}
    return people, {name: {image: [f"{name} {image}"] for image in people} for name in names}


def test_a_design_with_as_many_pairs_of_every_category_and_system():
    """As many pairs of each kind, systems in roughly equal numbers, and some of the references (CIDEr, section 6)."""
    people, systems = many_systems()
    made = make_study(
        "triplet", people, systems, categories=["HC", "HI", "HM", "MM"], per_category=12, references_per_item=3, seed=4
    )
    items = made["items"]
    assert Counter(item["category"] for item in items) == dict.fromkeys(("HC", "HI", "HM", "MM"), 12)
    for category, times in (("HM", 4), ("MM", 8)):
        of_it = [item for item in items if item["category"] == category]
        used = Counter(item[side] for item in of_it for side in ("b_system", "c_system"))
        assert {used[name] for name in systems} == {times}
    assert {len(item["references"]) for item in items} == {3}
    assert all(set(item["references"]) < set(people[item["image_id"]]) for item in items)
    assert len(design(made).pages) == 48 * 3


def test_a_triplet_and_a_pairwise_study_of_the_same_pairs():
    """With one seed, both have the same pairs, known by the same ids (CIDEr, appendix III)."""
    people, systems = many_systems()
    options = {"categories": ["HM", "MM"], "per_category": 10, "seed": 3}
    first, second = (make_study(kind, people, systems, **options)["items"] for kind in ("triplet", "pairwise"))
    assert [item["pair"] for item in first] == [item["pair"] for item in second]
    assert len({item["pair"] for item in first}) == 20
    assert design({"study": "triplet", "items": first}).pages[0].content["pair"] == first[0]["pair"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categories": ["HC", "HI"], "per_category": 41}, "there are 40 pairs of HC; ask for fewer"),
        ({"references_per_item": 7}, "image 0 has 6 besides those of the pair"),
        ({"per_category": 1, "items": 1}, "leave one out"),
    ],
)
def test_what_is_too_few_for_a_design(options, message):
    people, systems = many_systems()
    with pytest.raises((DataError, UsageError), match=message):
        make_study("triplet", people, systems, **options)
    with pytest.raises(UsageError, match="for studies of pairs"):
        make_study("expert", people, systems, references_per_item=2)


@pytest.mark.parametrize("kind", ["expert", "likert", "adequacy-fluency"])
@pytest.mark.parametrize("together", [False, True])
def test_ratings_of_captions(kind, together):
    """A page has one caption, or all of an image; known answers are in the upper or the lower half of the scale."""
    people, systems = many_systems(images=4)
    made = make_study(kind, people, systems, together=together, gold=4)
    read = design(made, images=images_of("https://x.org/{image_id}.jpg", list(people)))
    assert len(read.pages) == (4 if together else 12)
    assert len(read.pages[0].content["sets"]) == (3 if together else 1)
    assert read.pages[0].content["references"] == people["0"]
    for page in read.known["gold"]:
        answer = page.answer["adequacy"] if kind == "adequacy-fluency" else page.answer
        points = read.kind.questions[0].points
        for shown, (low, high) in zip(page.content["sets"], answer, strict=True):
            is_own = shown["captions"][0] in people[page.content["image_id"]]
            assert (high == points[-1]) == is_own
            assert (low == points[0]) != is_own


def test_diversity():
    study = make_study("diversity", REFERENCES, {"one": SETS, "two": SETS}, gold=1)
    made = design(study, images=images_of("https://x.org/{image_id:03}.jpg", list(REFERENCES)))
    assert len(made.pages) == 6
    assert made.images["4"] == "https://x.org/004.jpg"
    page = made.known["gold"][0]
    assert sorted(filter(None, page.answer)) == [[0, 0.3]], "of the others, any rating is right"
    assert [len(one["captions"]) for one in page.content["sets"]] == [3, 3, 3], "as an item has them, people's too"
    assert [own["sets"][-1]["system"] for own in study["items"]] == ["human"] * 6
    alone = make_study("diversity", {}, {"one": SETS, "two": SETS})
    assert [len(own["sets"]) for own in alone["items"]] == [2] * 6


def test_collection(tmp_path):
    Image.new("RGB", (8, 6), "teal").save(tmp_path / "7.png")
    images = images_of(tmp_path, ["7"])
    made = design(make_study("collection", {image: [] for image in images}, {}), images=images)
    assert [page.content for page in made.pages] == [{"image_id": "7"}]
    assert made.judgments == 50


@pytest.mark.parametrize("kind", ["triplet", "pairwise", "diversity", "collection"])
@pytest.mark.parametrize("role", ["gold", "attention", "practice"])
def test_questions_with_known_answers_of_every_kind(kind, role):
    """They have the form of the study's items, and what they call right is right by the references."""
    systems = {"collection": {}, "diversity": {"one": SETS, "two": SETS, "three": SETS}}
    made = make_study(kind, REFERENCES, systems.get(kind, {"one": ONE, "two": TWO}), **{role: 4})
    images = {} if kind == "triplet" else images_of("https://x.org/{image_id}.jpg", list(REFERENCES))
    read = design(made, images=images)
    pages = read.known[role]
    assert len(pages) == 4
    for page in pages:
        shown, item = page.content, read.pages[0].content
        if kind == "diversity":
            assert [len(one["captions"]) for one in shown["sets"]] == [len(one["captions"]) for one in item["sets"]]
            same = [one["system"] for one in shown["sets"]].index("same")
            assert len(set(shown["sets"][same]["captions"])) == 1
            assert page.answer[same] == [0, 0.3]
            others = [one["captions"] for one in shown["sets"] if one["system"] != "same"]
            assert all(len(set(captions)) == 3 for captions in others)
            own = next(own for own in REFERENCES.values() if shown["sets"][same]["captions"][0] in own)
            assert role != "attention" or not any(set(captions) & set(own) for captions in others)
        elif kind == "collection":
            assert page.answer == ["runs", "sits", "eats"], "in the order of the sentences, in every process"
        else:
            right, wrong = (shown[side] for side in (page.answer, "bc".replace(page.answer, "")))
            number = shown["a"].split()[2] if kind == "triplet" else shown["image_id"]
            assert right in REFERENCES[number]
            assert wrong not in REFERENCES[number]
            if role == "attention":
                assert sorted(wrong.split()) in [sorted(one.split()) for own in REFERENCES.values() for one in own]
                assert (right == shown["a"]) if kind == "triplet" else True


@pytest.mark.parametrize("kind", ["triplet", "pairwise"])
@pytest.mark.parametrize("role", ["gold", "attention"])
def test_the_right_side_is_drawn(kind, role):
    """A script that always says `b`, or always `c`, is right about half of the time."""
    many = {str(n): [f"a dog {n} {word}" for word in ("runs", "sits")] for n in range(60)}
    one, two = ({image: [f"{name} {image}"] for image in many} for name in ("one", "two"))
    made = make_study(kind, many, {"one": one, "two": two}, **{role: 60}, seed=5)
    b = sum(item["answer"] == "b" for item in made[role]["items"])
    assert 20 <= b <= 40


def test_roles_take_different_images_while_there_are_enough():
    made = make_study("triplet", REFERENCES, {"one": ONE, "two": TWO}, gold=3, attention=2, practice=1)
    first = [item["a"].split()[2] for role in ("gold", "attention", "practice") for item in made[role]["items"]]
    assert len(set(first)) == 6


def test_what_cannot_be_made():
    with pytest.raises(UsageError, match="need two systems or more, got 1"):
        make_study("triplet", REFERENCES, {"one": ONE})
    with pytest.raises(UsageError, match="did you mean 'triplet'"):
        make_study("triplets", REFERENCES, {})
    with pytest.raises(UsageError, match="must be one of HC, HI, HM, MM"):
        make_study("triplet", REFERENCES, {}, categories=["XX"])
    with pytest.raises(DataError, match="nothing to ask"):
        make_study("triplet", REFERENCES, {"one": ONE, "two": {"9": ["x"]}})
    with pytest.raises(DataError, match="got 6"):
        make_study("triplet", REFERENCES, {"one": ONE, "two": TWO}, gold=7)
    with pytest.raises(DataError, match="two sentences or more of each of 2 images; got 0"):
        make_study("collection", dict.fromkeys(REFERENCES, ()), {}, gold=1)


@pytest.mark.parametrize("kind", ["likert", "triplet", "pairwise", "diversity"])
@pytest.mark.parametrize("nothing", ["", " \n\t", "a" * 2001])
def test_what_a_page_cannot_show_is_left_out_and_said(kind, nothing):
    """A system that said nothing of an image, or all too much: the study is made of the rest."""
    many = kind == "diversity"
    one, two = (SETS, {image: list(texts) for image, texts in SETS.items()}) if many else (ONE, dict(TWO))
    two["3"] = [nothing, *two["3"][2:]] if many else [nothing]
    references = {**REFERENCES, "4": ["a dog 4 runs", nothing]}
    told = "sentences of more than 2,000 characters" if nothing.strip() else "empty sentences"
    with pytest.warns(DataWarning) as said:
        made = design(
            make_study(kind, references, {"one": one, "two": two}), images=dict.fromkeys(ONE, "https://x.org/")
        )
    messages = [str(one.message) for one in said]
    assert messages == [
        f"{whose}: {told} are left out, of 1 image ({image})" for whose, image in (("the references", 4), ("two", 3))
    ]
    shown = json.dumps([page.content for page in made.pages])
    assert "one 2" in shown or "set 2 x" in shown
    assert "aaaa" not in shown
    images = [page.content["image_id"] for page in made.pages]
    assert images.count("3") == {"likert": 1}.get(kind, 0), "a pair, or sets, need both systems"


def test_a_system_that_said_nothing_at_all():
    with pytest.warns(DataWarning, match="6 images"), pytest.raises(DataError, match="nothing to ask"):
        make_study("pairwise", REFERENCES, {"one": ONE, "two": {image: [""] for image in ONE}})


def test_images(tmp_path):
    camera = Image.Exif()
    camera[0x0110] = "a camera"
    Image.new("RGB", (2 * SIDE, SIDE), "teal").save(tmp_path / "COCO_val2014_000000000001.jpg", exif=camera)
    head, _, content = images_of(tmp_path, ["1"])["1"].partition(",")
    copy = Image.open(io.BytesIO(base64.b64decode(content)))
    assert (head, copy.size, dict(copy.getexif())) == ("data:image/webp;base64", (SIDE, SIDE // 2), {})
    assert images_of("https://x.org/{image_id}", ["a b"]) == {"a b": "https://x.org/a%20b"}
    with pytest.raises(UsageError, match="a pattern has {image_id} in the place of the id"):
        images_of("https://x.org/", ["1"])
    with pytest.raises(DataError, match="no file was found for 1 image \\(2\\)"):
        images_of(tmp_path, ["1", "2"])
    (tmp_path / "2.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match="2.png: cannot be shown"):
        images_of(tmp_path, ["2"])
    with pytest.raises(DataError, match="no such file"):
        images_of(tmp_path / "none", ["2"])
