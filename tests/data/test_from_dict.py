"""Captions from Python objects: what is taken, and what is said of the rest."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas
import pytest

from sacrecap._core import Captions
from sacrecap.errors import DataError

MEND = (
    "write the whole character, or mend the text in Python with "
    'text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")'
)


@pytest.mark.parametrize(
    "captions",
    [
        {"1": "a", "2": ["b", "c"]},
        {1: ("a",), 2: np.array(["b", "c"])},
        {np.int64(1): ["a"], np.uint8(2): iter(["b", "c"])},
        MappingProxyType({1: "a", 2: ["b", "c"]}),
        OrderedDict([(1, "a"), (2, ["b", "c"])]),
    ],
)
def test_mappings_are_taken(captions: Any) -> None:
    assert Captions.from_dict(captions).to_dict() == {"1": ["a"], "2": ["b", "c"]}


def test_what_is_missing_is_empty() -> None:
    captions: Any = {1: None, 2: float("nan"), 3: np.float32("nan"), 4: pandas.NA, 5: ["a", None], 6: {"caption": None}}
    empty = {str(number): [""] for number in (1, 2, 3, 4, 6)}
    assert Captions.from_dict(captions).to_dict() == {**empty, "5": ["a", ""]}


def test_big_ids_and_empty_lists() -> None:
    captions: Any = {10**30: [], "é": ""}
    assert Captions.from_dict(captions).to_dict() == {str(10**30): [], "é": [""]}


@pytest.mark.parametrize(
    ("captions", "sentence"),
    [
        ([("1", "a")], "captions must be a mapping from image id to a caption or a list of captions, not of type list"),
        (None, "captions must be a mapping from image id to a caption or a list of captions, not None"),
        ({5: 1.5}, "the caption of image 5 is of type float; it must be a string or a list of strings"),
        ({5: b"a"}, "the caption of image 5 is of type bytes; it must be a string or a list of strings"),
        ({5: {"a": 1}}, "the caption of image 5 is of type dict; it must be a string or a list of strings"),
        (
            {5: ["a", 1, None], 6: [2]},
            ("the caption of image 5 is of type int; captions must be strings (also image 6)"),
        ),
        (
            {1.5: "a"},
            (
                "the image id of an image is the number 1.5; image ids must be strings or whole numbers: make them such"
                ' by .astype("int64") or .astype(str)'
            ),
        ),
        ({True: "a"}, "the image id of an image is of type bool; image ids must be strings or whole numbers"),
        ({5: "a", "5": "b"}, "the id of image 5 is given twice, as a number and as text; keep one of them"),
        ({5: "a\ud800"}, "the caption of image 5 is not text: it holds half a surrogate pair; " + MEND),
        ({"\ud800": "a"}, "the image id of an image is not text: it holds half a surrogate pair; " + MEND),
    ],
)
def test_what_is_no_caption_is_told(captions: object, sentence: str) -> None:
    with pytest.raises(DataError) as raised:
        Captions.from_dict(captions)  # type: ignore[arg-type]
    assert str(raised.value) == sentence


def test_the_advised_mending_mends() -> None:
    for broken, whole in [("a\ud800", "a\ufffd"), ("\ud83d\ude00", "😀")]:
        mended = broken.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert Captions.from_dict({1: mended}).to_dict() == {"1": [whole]}
