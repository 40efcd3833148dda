"""What the readers of JSON share: each check with what it takes, and what it says of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sacrecap.data import fields, read_objects
from sacrecap.data.objects import count_labels
from sacrecap.errors import DataError
from sacrecap.resources.objects_of_images import objects_by_image


@pytest.mark.parametrize(
    ("check", "value", "read"),
    [
        (fields.text, " a dog ", " a dog "),
        (fields.text, "狗 🐕", "狗 🐕"),
        (fields.name, 391895, "391895"),
        (fields.name, "391895", "391895"),
        (fields.number, 3, 3.0),
        (fields.whole, 2.0, 2),
        (fields.texts, ["a", "b"], ["a", "b"]),
        (fields.listed, [None], [None]),
    ],
)
def test_what_is_taken(check: Callable[[object], Any], value: object, read: object) -> None:
    found = check(value)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("check", "value", "options", "sentence"),
    [
        (fields.text, 3, {}, "x must be text, got 3"),
        (fields.text, None, {}, "x must be text, got nothing"),
        (fields.text, " ", {"accepted": "a caption"}, "x must be a caption, got ' '"),
        (fields.text, "abc", {"most": 2}, "x must be text of at most 2 characters, got 3"),
        (fields.text, "\ud800", {}, "x must be text, got half a surrogate pair in '\\ud800'; correct the text"),
        (fields.text, "a\0", {}, "x must be text, got a zero character in 'a\\x00'; remove it"),
        (fields.name, True, {}, "x must be text or a whole number, got True"),
        (fields.name, 1.5, {}, "x must be text or a whole number, got 1.5"),
        (fields.name, "", {}, "x must be text or a whole number, got ''"),
        (fields.name, "\ud800", {}, "x must be text or a whole number, got half a surrogate pair"),
        (fields.number, "3", {}, "x must be a finite number, got '3'"),
        (fields.number, float("inf"), {}, "x must be a finite number, got inf"),
        (fields.number, float("nan"), {"least": 0, "most": 1}, "x must be a number from 0 to 1, got nan"),
        (fields.number, False, {"least": 0}, "x must be a number of at least 0, got False"),
        (fields.number, 1.01, {"least": 0, "most": 1}, "x must be a number from 0 to 1, got 1.01"),
        (fields.whole, 1.5, {}, "x must be a whole number, got 1.5"),
        (fields.whole, float("inf"), {}, "x must be a whole number, got inf"),
        (fields.whole, True, {}, "x must be a whole number, got True"),
        (fields.whole, 2000, {"least": 1, "most": 1000}, "x must be a whole number from 1 to 1,000, got 2000"),
        (fields.one_of, "d", {"accepted": ("b", "c")}, "x must be one of b, c, got 'd'"),
        (fields.listed, {}, {"least": 2}, "x must be a list of at least 2, got {}"),
        (fields.texts, [], {}, "x must be a list of at least 1, each text, got []"),
        (fields.texts, ["a", 3], {}, "x[1] must be text, got 3"),
        (fields.text, ["a" * 100], {}, f"x must be text, got ['{'a' * 57}…"),
    ],
)
def test_what_is_said_of_the_rest(
    check: Callable[..., Any], value: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(fields.Invalid) as raised:
        check(value, **options)
    assert raised.value.about("x").startswith(sentence)
    with pytest.raises(DataError) as refused:
        fields.checked("file, line 3: x", check, value, **options)
    assert str(refused.value).startswith(f"file, line 3: {sentence}")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "missing or null"),
        (True, "true or false"),
        (3, "the number 3"),
        ("a", "a string"),
        ({}, "an object"),
        ([], "a list"),
    ],
)
def test_json_has_names_for_its_types(value: object, name: str) -> None:
    assert fields.json_type(value) == name


@pytest.mark.parametrize("labels", [*({"dog": count} for count in (0.5, -1, True, float("nan"), "2")), "dog", 3, [""]])
def test_objects_follow_one_rule_in_files_and_in_python(tmp_path: Path, labels: Any) -> None:
    with pytest.raises(DataError, match="image 7: ") as given:
        objects_by_image({"7": labels}, None)
    if "nan" not in repr(labels):  # JSON has no NaN
        (tmp_path / "o.json").write_text(json.dumps({"7": labels}))
        with pytest.raises(DataError) as read:
            read_objects(tmp_path / "o.json")
        assert str(read.value).endswith(str(given.value))


def test_counts_that_are_whole_are_taken_however_they_are_written() -> None:
    assert count_labels({"dog": 2.0, "cat": 0, "cow": 1}, "image 7") == {"dog": 2, "cow": 1}
    assert count_labels(iter(["dog", "dog"]), "image 7") == {"dog": 2}
