"""Releases of judgments, each tried on a small file of the shape that its documentation or code shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Pairs, Ratings, meta, read_judgments
from sacrecap.judgments.datasets.read import recognise
from sacrecap.judgments.datasets.releases import RELEASES
from sacrecap.judgments.meta import PROTOCOLS

REFERENCES = [f"A dog number {n} runs along the long sandy beach." for n in range(6)]
GOOD = [f"a dog number {n} runs along the beach" for n in range(6)]
POOR = [f"{n} people eat" for n in range(6)]

MSVD = {
    f"vid{n}": {
        "vname": f"video_{n}.avi",
        "ref": [REFERENCES[n]],
        "candidate": GOOD[n] if n % 2 else POOR[n],
        "human_score": [[4, 3, 4, 5, 4.0], [n % 5 + 1, 1, 1, 1, 2.0]],
    }
    for n in range(6)
}
FOIL = {
    "info": {},
    "annotations": [
        {"caption": GOOD[n].replace("dog", "cat"), "foil": True, "foil_word": "cat", "target_word": "dog"}
        | {"image_id": n, "foil_id": n}
        for n in range(4)
    ]
    + [{"caption": GOOD[0], "foil": False, "foil_word": "ORIG", "target_word": "ORIG", "image_id": 0, "foil_id": 0}],
}
CORRECTED = [
    {"image_id": "1", "caption": REFERENCES[0], "hall_caption": POOR[0], "human_corrected_hall_caption": GOOD[0]}
]
LABELLED = {
    category: [{"image": f"{n}.jpg", "captions": [GOOD[n], POOR[n]], "label": n % 2, "references": [REFERENCES[n]]}]
    for n, category in enumerate(("HC", "HI", "HM", "MM"))
}
EXPERTS = {
    str(n): {
        "human_judgement": [
            {"image_id": str(n), "image_path": f"{n}.jpg", "caption": caption, "rating": rating}
            for caption, own in ((GOOD[n], (4.0, 3.0, 4.0)), (POOR[n], (1.0, 1.0, 2.0)))
            for rating in own
        ],
        "image_path": f"{n}.jpg",
        "ground_truth": [REFERENCES[n], "A beach ."],
    }
    for n in range(3)
}
DOCUMENTS: dict[str, Any] = {
    "pascal-50s": LABELLED,
    "flickr8k-expert": EXPERTS,
    "msvd-eval": MSVD,
    "foil": FOIL,
    "d-foil": CORRECTED,  # more of it in test_meta
}


NAMES = [form.dataset for form in RELEASES]


def written(folder: Path, name: str, document: Any = None) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(DOCUMENTS[name] if document is None else document, indent=4))
    return path


def read(folder: Path, name: str, **how: Any) -> Pairs | Ratings:
    return read_judgments(written(folder, name), **how)


def captions(folder: Path) -> Path:
    path = folder / "references.json"
    path.write_text(json.dumps({str(n): [GOOD[n], REFERENCES[n]] for n in range(4)}))
    return path


def test_every_release_is_tried_recognised_and_has_a_protocol(tmp_path: Path) -> None:
    assert {*DOCUMENTS} == {*NAMES}
    assert {*NAMES} <= {*PROTOCOLS}
    for form in RELEASES:
        assert recognise(str(written(tmp_path, form.dataset))) is form


def test_ratings_of_videos_by_aspect(tmp_path: Path) -> None:
    found, accuracy = read(tmp_path, "msvd-eval"), read(tmp_path, "msvd-eval", rating="accuracy")
    assert isinstance(found, Ratings)
    assert isinstance(accuracy, Ratings)
    assert (found.aspect, found.ratings) == ("mean", [(4.0, 2.0)] * 6)
    assert accuracy.ratings == [(4.0, float(n % 5 + 1)) for n in range(6)]
    assert [row.image_id for row in found.rows] == [f"video_{n}.avi" for n in range(6)]
    with pytest.raises(UsageError, match="rating must be one of mean, accuracy, .*, relevance, got 'beauty'"):
        read(tmp_path, "msvd-eval", rating="beauty")


def test_pascal_50s_and_flickr8k_as_one_json(tmp_path: Path) -> None:
    pairs, rated = read(tmp_path, "pascal-50s"), read(tmp_path, "flickr8k-expert", dataset="flickr8k-expert")
    assert isinstance(pairs, Pairs)
    assert isinstance(rated, Ratings)
    assert (pairs.categories, pairs.preferred) == (["HC", "HI", "HM", "MM"], [1, -1, 1, -1])
    assert (pairs.b, pairs.c) == (GOOD[:4], POOR[:4])
    assert rated.captions == [text for n in range(3) for text in (GOOD[n], POOR[n])]
    assert rated.ratings == [(4.0, 3.0, 4.0), (1.0, 1.0, 2.0)] * 3
    assert rated.rows[0].references == [REFERENCES[0], "A beach ."]
    with pytest.raises(DataError, match="human_judgement must be a list of ratings, got 3"):
        read_judgments(written(tmp_path, "flickr8k-expert", {"1": {**EXPERTS["1"], "human_judgement": 3}}))


def test_foils_take_their_references_from_a_file(tmp_path: Path) -> None:
    found = read(tmp_path, "foil", captions=captions(tmp_path))
    assert isinstance(found, Pairs)
    assert (found.b, found.preferred) == (GOOD[:4], [1] * 4)
    assert found.c == [text.replace("dog", "cat") for text in GOOD[:4]]
    assert [row.references for row in found.rows] == [[text] for text in REFERENCES[:4]]
    assert [row.place for row in found.rows] == [0, 1, 2, 3]
    left_out = "captions without a foil word, which their foils give, left out: 1"
    assert (found.in_file, found.notes[0]) == (5, left_out)
    with pytest.raises(DataError, match=r"foil\.json: has no references; name a file of them with"):
        read(tmp_path, "foil")


def test_meta_measures_them_beside_published_figures(tmp_path: Path) -> None:
    names = [name for name in NAMES if name != "foil"]
    judged = {name: read(tmp_path, name) for name in names}
    document = meta(judged, "rouge-l", results=tmp_path / "kept").to_dict()["datasets"]
    assert set(document) == set(names)
    for name in names:
        assert document[name]["protocol"] == PROTOCOLS[name]
        assert document[name]["metrics"]["rouge-l"]["n"] > 0
    assert next(one["metric"] for one in document["flickr8k-expert"]["published"]) == "CLIPScore"


def changed(name: str, **fields: Any) -> Any:
    document = json.loads(json.dumps(DOCUMENTS[name]))
    first = next(iter(document.values())) if isinstance(document, dict) else document[0]
    first.update(fields)
    return document


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("flickr8k-expert", {"human_judgement": [{"image_id": "1"}]}, "line 1: no field 'caption'; it has image_id"),
        ("msvd-eval", {"human_score": [[1, 2]]}, "line 1: human_score must have a list of five numbers"),
    ],
)
def test_unusable_records_are_named(tmp_path: Path, name: str, fields: dict[str, Any], message: str) -> None:
    path = written(tmp_path, name, changed(name, **fields))
    with pytest.raises(DataError, match=message):
        read_judgments(path)


def test_a_file_of_a_release_without_a_judgment_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "d-foil", [{**CORRECTED[0], "hall_caption": GOOD[0]}])
    with pytest.raises(DataError, match=r"no judgment of d-foil in it"):
        read_judgments(path)
    path.write_text("[1, 2]")
    with pytest.raises(DataError, match=r"record 1: expected a JSON object, got 1"):
        read_judgments(path, dataset="d-foil")
