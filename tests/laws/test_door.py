"""One door in memory: whatever holds captions, and whatever stands for none, the same rows give the same bits."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import sacrecap
from sacrecap.errors import DataError, SacrecapWarning
from sacrecap.rewards import CaptionReward

pytestmark = [pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")]

METRICS = "bleu-1, rouge-l, cider-d"
REFERENCES = [["a dog runs", "the dog"], ["a cat sits", "one cat"], ["two birds fly", "birds"]]
CANDIDATES = ["a dog runs", "the cat", "two birds"]
OTHER = ["a dog", "a cat", "birds fly"]
PLACES = {"first": 0, "middle": 1, "last": 2}
HOLES: dict[str, Any] = {
    "None": None,
    "NaN": float("nan"),
    "NA": pandas.NA,
    '""': "",
    "[]": [],
    "[None]": [None],
    '[""]': [""],
}
IDS = ["0", "1", "2"]


def rows(values: list[Any]) -> list[dict[str, Any]]:
    return [{"image_id": image, "captions": value} for image, value in enumerate(values)]


def hf(values: list[Any]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(rows(values))


class Arrow:
    """A table of a library that has nothing but Arrow's interface."""

    def __init__(self, values: list[Any]) -> None:
        self.table = pyarrow.Table.from_pylist(rows(values))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def array(values: list[Any]) -> Any:
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = value
    return found


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "NumPy": array,
    "Series": pandas.Series,
    "dict": lambda values: dict(enumerate(values)),
    "annotations": lambda values: {n: {"caption": own} for n, own in enumerate(values)},
    "rows": rows,
    "generated rows": lambda values: iter(rows(values)),
    "columns": lambda values: {"image_id": [0, 1, 2], "captions": values},
    "NumPy columns": lambda values: {"image_id": np.arange(3), "captions": array(values)},
    "DataFrame": lambda values: pandas.DataFrame({"image_id": [0, 1, 2], "captions": values}),
    "float ids": lambda values: pandas.DataFrame({"image_id": [0.0, 1.0, 2.0], "captions": values}),
    "Arrow table": lambda values: pyarrow.Table.from_pylist(rows(values)),
    "Arrow column": lambda values: pyarrow.chunked_array([pyarrow.array(values)]),
    "Arrow interface": Arrow,
    "Polars": lambda values: polars.DataFrame({"image_id": [0, 1, 2], "captions": values}),
    "Polars column": polars.Series,
    "Hugging Face": hf,
    "Hugging Face column": lambda values: hf(values)["captions"],
    "Hugging Face stream": lambda values: hf(values).to_iterable_dataset(),
}
TYPED = {name for name in CONTAINERS if name.startswith(("Arrow", "Polars", "Hugging"))}
"""Whose values are all of one type: texts, or lists of them, or null."""


def with_hole(values: list[Any], hole: Any, place: int, container: str) -> list[Any]:
    """The values with a hole; lists where the hole is one and the container has one type."""
    if container in TYPED and isinstance(hole, list):
        values = [one if isinstance(one, list) else [one] for one in values]
    return [hole if n == place else one for n, one in enumerate(values)]


def can_hold(container: str, hole: Any, values: list[Any]) -> bool:
    if container == "annotations":
        return not isinstance(hole, list) and not isinstance(values[0], list)
    return (
        container not in TYPED or hole is None or isinstance(hole, list if isinstance(values[0], list) else str | list)
    )


def bits(references: Any, candidates: Any, **how: Any) -> Any:
    result = sacrecap.score(references, candidates, METRICS, interval=None, **how)
    assert all(len(score.per_image) == len(result.image_ids) == result.images for score in result.values())
    return result.image_ids, [(one.value.hex(), one.per_image.tolist()) for one in result.values()]


# The table, written by hand before the door was. A candidate is itself (dog, cat, bird), empty (·) or missing (-); an
# image without references is !, one of which a reference was left out has its other one.

TABLE = """
list                | None   | first  | candidates | ·   cat bird
list                | None   | middle | candidates | dog ·   bird
list                | None   | last   | candidates | dog cat ·
list                | ""     | first  | candidates | ·   cat bird
list                | NaN    | first  | candidates | ·   cat bird
list                | []     | first  | candidates | -   cat bird
list                | []     | middle | candidates | dog -   bird
list                | []     | last   | candidates | dog cat -
list                | [None] | first  | candidates | ·   cat bird
tuple               | None   | first  | candidates | ·   cat bird
tuple               | []     | last   | candidates | dog cat -
tuple               | [None] | middle | candidates | dog ·   bird
generator           | None   | first  | candidates | ·   cat bird
generator           | []     | first  | candidates | -   cat bird
generator           | NA     | last   | candidates | dog cat ·
NumPy               | None   | first  | candidates | ·   cat bird
NumPy               | NaN    | middle | candidates | dog ·   bird
NumPy               | []     | last   | candidates | dog cat -
Series              | None   | first  | candidates | ·   cat bird
Series              | NaN    | middle | candidates | dog ·   bird
Series              | NA     | last   | candidates | dog cat ·
Series              | []     | first  | candidates | -   cat bird
dict                | None   | first  | candidates | ·   cat bird
dict                | []     | first  | candidates | -   cat bird
dict                | []     | middle | candidates | dog -   bird
dict                | [""]   | last   | candidates | dog cat ·
annotations         | None   | first  | candidates | ·   cat bird
rows                | None   | first  | candidates | ·   cat bird
rows                | []     | first  | candidates | -   cat bird
rows                | [None] | last   | candidates | dog cat ·
generated rows      | None   | first  | candidates | ·   cat bird
columns             | None   | first  | candidates | ·   cat bird
columns             | []     | middle | candidates | dog -   bird
DataFrame           | None   | first  | candidates | ·   cat bird
DataFrame           | NaN    | last   | candidates | dog cat ·
DataFrame           | []     | first  | candidates | -   cat bird
float ids           | NaN    | middle | candidates | dog ·   bird
Arrow table         | None   | first  | candidates | ·   cat bird
Arrow table         | []     | first  | candidates | -   cat bird
Arrow table         | [None] | middle | candidates | dog ·   bird
Arrow column        | None   | first  | candidates | ·   cat bird
Arrow column        | []     | last   | candidates | dog cat -
Polars              | None   | first  | candidates | ·   cat bird
Polars              | []     | middle | candidates | dog -   bird
Polars column       | None   | first  | candidates | ·   cat bird
Hugging Face        | None   | first  | candidates | ·   cat bird
Hugging Face        | []     | last   | candidates | dog cat -
Hugging Face column | None   | first  | candidates | ·   cat bird
Hugging Face stream | None   | first  | candidates | ·   cat bird
list                | None   | first  | references | !   cat bird
list                | []     | first  | references | !   cat bird
list                | [None] | last   | references | dog cat !
list                | ""     | middle | references | dog !   bird
generator           | None   | first  | references | !   cat bird
dict                | None   | first  | references | !   cat bird
dict                | []     | middle | references | dog !   bird
Series              | NaN    | first  | references | !   cat bird
DataFrame           | None   | last   | references | dog cat !
Arrow table         | None   | first  | references | !   cat bird
Polars              | []     | last   | references | dog cat !
Hugging Face        | [None] | first  | references | !   cat bird
rows                | None   | middle | references | dog !   bird
"""
LINES = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("container", "hole", "place", "side", "expected"), LINES, ids=map("-".join, LINES))
def test_the_table(container: str, hole: str, place: str, side: str, expected: str) -> None:
    words = expected.split()
    values: list[Any] = list(CANDIDATES if side == "candidates" else REFERENCES)
    odd = with_hole(values, HOLES[hole], PLACES[place], container)

    def made() -> Any:
        return CONTAINERS[container](list(odd))

    if side == "references":
        [bare] = [IDS[n] for n, word in enumerate(words) if word == "!"]
        with pytest.raises(DataError, match=rf"no reference for 1 image \({bare}\)"):
            sacrecap.score(made(), CANDIDATES, METRICS, interval=None)
        left = {n: texts for n, texts in enumerate(REFERENCES) if words[n] != "!"}
        captions = {n: text for n, text in enumerate(CANDIDATES) if words[n] != "!"}
        assert bits(sacrecap.References(made()), captions) == bits(left, captions)
        return
    said = {n: "" if word in "·-" else CANDIDATES[n] for n, word in enumerate(words)}
    if "-" not in words:
        for on_missing in ("error", "skip", "zero"):
            assert bits(REFERENCES, made(), on_missing=on_missing) == bits(dict(enumerate(REFERENCES)), said)
        return
    missing = words.index("-")
    with pytest.raises(DataError, match=rf"no candidate for 1 image \({missing}\)"):
        bits(REFERENCES, made())
    assert bits(REFERENCES, made(), on_missing="zero") == bits(dict(enumerate(REFERENCES)), said)
    left = {n: texts for n, texts in enumerate(REFERENCES) if n != missing}
    del said[missing]
    assert bits(REFERENCES, made(), on_missing="skip") == bits(left, said)


# The same for all, by a rule: of an empty list there is no caption, of any other hole an empty one.


def cases(values: list[Any]) -> Iterator[tuple[str, Any, int, list[Any]]]:
    for name, container in CONTAINERS.items():
        for hole in HOLES.values():
            for place in range(3) if can_hold(name, hole, values) else ():
                yield name, container, place, with_hole(values, hole, place, name)


CANDIDATE_CASES = list(cases(CANDIDATES))
REFERENCE_CASES = list(cases(REFERENCES))


def meant(odd: list[Any], place: int) -> str | None:
    """The candidate that a hole stands for."""
    return None if isinstance(odd[place], list) and not odd[place] else ""


def by_id(odd: list[Any], place: int) -> dict[str, str]:
    """The candidates by id, without the missing one."""
    hole = meant(odd, place)
    return {IDS[n]: CANDIDATES[n] if n != place else hole for n in range(3) if n != place or hole is not None}  # type: ignore[misc]


@pytest.mark.parametrize("name", CONTAINERS)
def test_candidates_with_holes_are_the_same_for_score_and_compare(name: str) -> None:
    references = dict(zip(IDS, REFERENCES, strict=True))
    for container, make, place, odd in CANDIDATE_CASES:
        if container == name:
            for on_missing in ("error", "skip", "zero"):
                plain = by_id(odd, place)
                how: dict[str, Any] = {"on_missing": on_missing}
                expected = outcome(bits, references, plain, **how)
                assert outcome(bits, references, make(list(odd)), **how) == expected, (place, odd)
            assert outcome(compared, references, make(list(odd))) == outcome(compared, references, by_id(odd, place)), (
                place,
                odd,
            )


def compared(references: Any, candidates: Any) -> Any:
    systems = {"a": candidates, "b": dict(zip(IDS, OTHER, strict=True))}
    comparison = sacrecap.compare(references, systems, METRICS, interval=None, on_missing="zero")
    return [(pair.metric, pair.delta.hex(), pair.p) for pair in comparison.pairs]


def outcome(call: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
    """What a call gives: its value, or the images of its error."""
    try:
        return call(*arguments, **how)
    except DataError as error:
        return str(error).partition("no ")[2]


@pytest.mark.parametrize("name", CONTAINERS)
def test_references_with_holes_are_the_same(name: str) -> None:
    for container, make, place, odd in REFERENCE_CASES:
        if container == name:
            plain = {IDS[n]: [] if n == place else texts for n, texts in enumerate(REFERENCES)}
            captions = dict(zip(IDS, CANDIDATES, strict=True))
            assert outcome(bits, make(list(odd)), captions) == outcome(bits, plain, captions)
            del captions[IDS[place]]
            expected = bits({image: texts for image, texts in plain.items() if texts}, captions)
            assert bits(make(list(odd)), captions) == expected, (place, odd)
            assert bits(sacrecap.References(make(list(odd))), captions) == expected


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_reference_that_is_missing_is_left_out(name: str) -> None:
    for hole in (None, ""):
        odd = [[hole, *texts] if n == 0 else [*texts, hole] for n, texts in enumerate(REFERENCES)]
        if can_hold(name, [hole], odd):
            with pytest.warns(SacrecapWarning, match="3 references are empty or missing"):
                found = bits(CONTAINERS[name](odd), dict(zip(IDS, CANDIDATES, strict=True)))
            assert found == bits(REFERENCES, CANDIDATES)


@pytest.mark.parametrize("name", CONTAINERS)
def test_caption_sets_with_holes_are_the_same(name: str) -> None:
    for container, make, place, odd in REFERENCE_CASES:
        if container == name:
            plain = dict(zip(IDS, REFERENCES, strict=True)) | {IDS[place]: [] if odd[place] == [] else [""]}  # type: ignore[comparison-overlap]
            assert outcome(sets, make(list(odd))) == outcome(sets, plain), (place, odd)


def sets(source: Any) -> Any:
    [system] = sacrecap.diversity(source, metrics="div-1, mbleu-1", interval=None).values()
    return system.image_ids, [(one.value.hex(), one.per_image.tolist()) for one in system.values()]


def metric_of_torch() -> Any:
    pytest.importorskip("torchmetrics")
    from sacrecap.torchmetrics import CaptionScores

    return CaptionScores(metrics=METRICS, on_missing="zero")


@pytest.mark.parametrize(
    "make_metric", [lambda: sacrecap.Accumulator(metrics=METRICS, on_missing="zero"), metric_of_torch]
)
def test_batches_with_holes_are_the_same(make_metric: Callable[[], Any]) -> None:
    for container, make, place, odd in CANDIDATE_CASES:
        metric = make_metric()
        metric.update(make(list(odd)), make(REFERENCES) if container != "annotations" else dict(enumerate(REFERENCES)))
        found = {name: float(value) for name, value in metric.compute().items()}
        plain = sacrecap.score(REFERENCES, by_id(odd, place), METRICS, interval=None, on_missing="zero")
        assert found == {name: float(score) for name, score in plain.items()}, (container, place, odd)


@pytest.mark.parametrize("kind", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_scorer_is_the_same(kind: Any) -> None:
    typed = "" if kind in (dict, pandas.DataFrame) else "Arrow column"
    scorer = sacrecap.Scorer("rouge-l", on_bad_row="null")
    for hole in HOLES.values():
        for place in range(3) if can_hold(typed, hole, CANDIDATES) else ():
            odd = with_hole(list(CANDIDATES), hole, place, typed)
            batch = kind({"caption": odd, "references": REFERENCES})
            found = np.array(pyarrow.array(scorer(batch)["rouge-l"], from_pandas=True).to_pylist(), dtype=float)
            plain = sacrecap.score(REFERENCES, by_id(odd, place), "rouge-l", interval=None, on_missing="zero")
            expected = plain["rouge-l"].per_image.copy()
            expected[place] = np.nan if meant(odd, place) is None else expected[place]
            assert np.array_equal(found, expected, equal_nan=True), (odd, found)


@pytest.mark.parametrize("name", CONTAINERS)
def test_rewards_take_references_as_scores_do(name: str) -> None:
    plain = CaptionReward(dict(zip(IDS, REFERENCES, strict=True)))
    expected = plain(CANDIDATES, IDS)
    if name != "annotations":
        reward = CaptionReward(CONTAINERS[name](REFERENCES))
        for ids in (IDS, [0, 1, 2], [0.0, 1.0, 2.0], np.arange(3), pyarrow.array([0, 1, 2])):
            assert reward(CANDIDATES, ids) == expected
    for container, make, place, odd in REFERENCE_CASES:
        if container == name:
            reward, others = CaptionReward(make(list(odd))), [n for n in range(3) if n != place]
            left = CaptionReward({IDS[n]: REFERENCES[n] for n in others})
            captions, ids = [CANDIDATES[n] for n in others], [IDS[n] for n in others]
            assert reward(captions, ids) == left(captions, ids)
            with pytest.raises(DataError, match=rf"no references for 1 image \({place}\)"):
                reward(CANDIDATES, IDS)


def test_rewards_of_a_column_of_references_leave_out_what_is_missing() -> None:
    reward = CaptionReward(None, "rouge-l", reference_column="about")
    expected = reward(CANDIDATES, about=REFERENCES)
    assert reward(CANDIDATES, about=[[None, *texts, ""] for texts in REFERENCES]) == expected
    with pytest.raises(DataError, match="row 1"):
        reward(CANDIDATES, about=[REFERENCES[0], [None], REFERENCES[2]])
    with pytest.raises(DataError, match="of type bytes"):
        reward(CANDIDATES, about=[REFERENCES[0], [b"a cat"], REFERENCES[2]])


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_a_file_whose_format_has_nulls_is_the_same(format_: str, tmp_path: Path) -> None:
    path = tmp_path / f"captions.{format_}"
    for hole in (None, "", []):
        for place in range(3):
            odd = with_hole(list(CANDIDATES), hole, place, "")
            values = {IDS[n]: value for n, value in enumerate(odd) if value != []}
            if format_ == "csv":
                with path.open("w", newline="") as file:
                    csv.writer(file).writerows([("image_id", "caption"), *values.items()])
            else:
                pyarrow.parquet.write_table(pyarrow.table({"image_id": [*values], "caption": [*values.values()]}), path)
            references = dict(zip(IDS, REFERENCES, strict=True))
            for on_missing in ("skip", "zero"):
                assert bits(references, odd, on_missing=on_missing) == bits(
                    references, str(path), on_missing=on_missing
                )


# Labels, ids, and what is no caption.


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 2, 0], [2, 1, 0]])
def test_a_series_beside_a_list_is_taken_by_place(order: list[int]) -> None:
    table = pandas.DataFrame({"references": REFERENCES, "caption": CANDIDATES, "other": OTHER}).iloc[order]
    expected = bits([REFERENCES[n] for n in order], [CANDIDATES[n] for n in order])[1]
    about, captions = table.references, table.caption
    for references, candidates in [
        (about.tolist(), captions),
        (about, captions.tolist()),
        (about, captions),
        (about.to_numpy(), captions),
        (polars.Series(about.tolist()), captions),
        (sacrecap.References(about.tolist()), captions),
        (sacrecap.References(about), captions.tolist()),
        (about.tolist(), captions.set_axis([7, 9, 8])),
    ]:
        assert bits(references, candidates)[1] == expected
    two = [
        sacrecap.compare(about.tolist(), {"a": table.caption, "b": own}, METRICS)
        for own in (table.other, [*table.other])
    ]
    assert two[0].to_dict() == two[1].to_dict()
    accumulator = sacrecap.Accumulator(metrics=METRICS)
    accumulator.update(captions, about.tolist())
    assert [one.value.hex() for one in accumulator.compute().values()] == [value for value, _ in expected]


def test_a_series_with_names_beside_a_list_is_refused() -> None:
    captions = pandas.Series(CANDIDATES, index=["dog.jpg", "cat.jpg", "bird.jpg"])
    for references, candidates in ((REFERENCES, captions), (pandas.Series(REFERENCES, captions.index), CANDIDATES)):
        with pytest.raises(DataError, match=r"its index has 3 images \(dog.jpg, .*\.tolist\(\)"):
            sacrecap.score(references, candidates, METRICS)


def test_labels_of_a_part_of_a_table_are_its_places() -> None:
    captions = pandas.Series(CANDIDATES).drop(1)
    assert bits(REFERENCES, captions, on_missing="skip") == bits(
        {0: REFERENCES[0], 2: REFERENCES[2]}, {0: CANDIDATES[0], 2: CANDIDATES[2]}
    )


WHOLE: list[Callable[[int], Any]] = [
    int,
    str,
    float,
    np.int32,
    np.uint64,
    np.float32,
    np.float64,
    np.array,
    Decimal,
    pyarrow.scalar,
    lambda number: pyarrow.scalar(str(number)),
    lambda number: pytest.importorskip("torch").tensor(number),
    lambda number: pytest.importorskip("torch").tensor([number]),
    lambda number: pytest.importorskip("torch").tensor(float(number)),
]


@pytest.mark.parametrize("kind", WHOLE)
def test_ids_follow_one_rule(kind: Callable[[int], Any], tmp_path: Path) -> None:
    numbers = [1, 2, 10]
    references = dict(zip(numbers, REFERENCES, strict=True))
    expected = bits(references, dict(zip(numbers, CANDIDATES, strict=True)))
    ids = [kind(number) for number in numbers]
    made = [{"image_id": one, "caption": text} for one, text in zip(ids, CANDIDATES, strict=True)]
    shapes: list[Any] = [made, iter(made), {"image_id": ids, "caption": CANDIDATES}, pandas.DataFrame(made)]
    if getattr(ids[0], "__hash__", None) is not None:
        shapes.append(dict(zip(ids, CANDIDATES, strict=True)))
    for candidates in shapes:
        assert bits(references, candidates) == expected
    reward = CaptionReward(references)
    assert reward(CANDIDATES, ids) == reward(CANDIDATES, numbers)


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_files_with_floats_for_ids_are_the_same(format_: str, tmp_path: Path) -> None:
    path = tmp_path / f"captions.{format_}"
    made = [{"image_id": one, "caption": text} for one, text in zip([1.0, 2.0, 10.0], CANDIDATES, strict=True)]
    if format_ == "csv":
        path.write_text("image_id,caption\n" + "".join(f"{row['image_id']},{row['caption']}\n" for row in made))
    elif format_ == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in made))
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(made), path)
    references = dict(zip([1, 2, 10], REFERENCES, strict=True))
    result = sacrecap.score(references, str(path), METRICS, interval=None)
    assert result.image_ids == ["1", "2", "10"]
    assert not result.findings


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (1.5, "1.5; image ids must be strings or whole numbers: make them such by .astype"),
        (float("nan"), "NaN, so there is none; drop such rows"),
        (None, "None; image ids must be"),
        (True, "of type bool"),
        (np.True_, "of type bool"),
        (b"1", "of type bytes"),
        (6.67e18, "lost the last digits; read ids as text or int64"),
        ((1, 2), "of type tuple"),
    ],
)
def test_what_is_no_id_is_told_with_its_row(odd: Any, words: str) -> None:
    for candidates in (
        [{"image_id": "0", "caption": "a"}, {"image_id": odd, "caption": "b"}],
        {"image_id": ["0", odd], "caption": ["a", "b"]},
    ):
        with pytest.raises(DataError) as raised:
            sacrecap.score(REFERENCES, candidates, METRICS)
        assert "the candidates: the image id of row 1 is " in str(raised.value)
        assert words in str(raised.value)
    with pytest.raises(DataError, match="image id 1 is"):
        CaptionReward(REFERENCES)(CANDIDATES[:2], ["0", odd])


ODD: list[Any] = [
    b"a cat",
    {"a cat"},
    {"text": "a cat"},
    5,
    1.5,
    True,
    [["a"], ["b"]],
    pandas.DataFrame({"a": ["b"]}),
    np.array(5),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_what_is_no_caption_is_refused_with_its_place(odd: Any) -> None:
    for make in ("list", "tuple", "generator", "dict", "rows", "columns", "NumPy"):
        for side in (0, 1):
            parts: list[Any] = [list(REFERENCES), list(CANDIDATES)]
            parts[side][1] = odd
            parts[side] = CONTAINERS[make](parts[side])
            with pytest.raises(DataError, match="the caption of image 1 is of type") as raised:
                sacrecap.score(*parts, METRICS)
            assert str(raised.value).startswith(("the references: ", "the candidates: ")[side])
    with pytest.raises(DataError, match="completion 1 is a|of image 1"):
        CaptionReward(REFERENCES)([CANDIDATES[0], odd], [0, 1])


TEXTS: dict[str, Callable[[str], str]] = {
    "list": lambda text: str([text]),
    "tuple": lambda text: str((text,)),
    "bytes": lambda text: str(text.encode()),
    "bytes in a list": lambda text: str([text.encode()]),
    "set": lambda text: str({text}),
    "JSON": lambda text: json.dumps([text]),
    "array": lambda text: repr(np.array([text])),
    "string of array": lambda text: str(np.array([text])),
    "nested": lambda text: str([[text]]),
    "tuple of a tuple": lambda text: str(((text,),)),
    "list of objects": lambda text: str([{"caption": text}]),
}


@pytest.mark.parametrize("way", TEXTS)
def test_texts_of_objects_are_read_as_what_they_are(way: str) -> None:
    spoken = ["a dog's toy", 'the "cat"', "two birds"]
    expected = bits(REFERENCES, spoken)
    texts = [TEXTS[way](text) for text in spoken]
    for name, make in CONTAINERS.items():
        if name != "annotations":
            assert bits(REFERENCES, make(texts)) == expected, name
    about = [str(tuple(own)) for own in REFERENCES]
    assert bits(about, spoken) == bits([str(own) for own in REFERENCES], spoken) == expected


@pytest.mark.parametrize("way", TEXTS)
@pytest.mark.parametrize("format_", ["json", "jsonl", "csv"])
def test_texts_of_objects_in_files_are_read_alike(way: str, format_: str, tmp_path: Path) -> None:
    path = tmp_path / f"captions.{format_}"
    texts = dict(zip(IDS, map(TEXTS[way], CANDIDATES), strict=True))
    made = [{"image_id": image, "caption": text} for image, text in texts.items()]
    if format_ == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("image_id", "caption"), *texts.items()])
    else:
        path.write_text(json.dumps(made) if format_ == "json" else "".join(json.dumps(row) + "\n" for row in made))
    references = dict(zip(IDS, REFERENCES, strict=True))
    assert bits(references, str(path)) == bits(references, dict(zip(IDS, CANDIDATES, strict=True)))


@pytest.mark.parametrize("text", ["[a dog runs]", "[['a'], ['b']]", '("a dog" he said)'])
def test_texts_that_may_be_anything_are_found(text: str) -> None:
    result = sacrecap.score(REFERENCES, [text, *CANDIDATES[1:]], METRICS, interval=None)
    assert "list" in [finding.kind for finding in result.findings]


@pytest.mark.parametrize("text", ["a dog (left)", "(a) dog", "b'", "'a dog'", "[CLS] a dog [SEP]", "array of dogs"])
def test_captions_with_brackets_stay(text: str) -> None:
    from sacrecap.data.cells import written

    assert written(text) is None
