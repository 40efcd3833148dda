"""Releases of judgments, each tried on a small file of the shape that its documentation or code shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Pairs, Ratings, agreement, meta, read_judgments
from sacrecap.judgments.datasets.read import recognise
from sacrecap.judgments.datasets.released import RELEASES
from sacrecap.judgments.published import PROTOCOLS

REFERENCES = [f"A dog number {n} runs along the long sandy beach." for n in range(6)]
GOOD = [f"a dog number {n} runs along the beach" for n in range(6)]
POOR = [f"{n} people eat" for n in range(6)]

CAPARENA = [
    {
        "img": f"test_{n}.jpg",
        "source1": "GPT" if n else "human",
        "source2": "LLaVA",
        "caption1": GOOD[n],
        "caption2": POOR[n],
        "ref": REFERENCES[n],
        "winner": {1: "LLaVA", 2: "equal", 3: "bad"}.get(n, "GPT" if n else "human"),
        "cluster": f"level {n % 2}",
    }
    for n in range(6)
]
LABELS = ("1_much_better", "2_slightly_better", "equal", "1_slightly_better", "2_much_better", "1_much_better")
DOCENT = [
    {
        "uuid": f"painting-{n}",
        "model1": "a",
        "model2": "b",
        "model1_generation": GOOD[n],
        "model2_generation": POOR[n],
        "reference": REFERENCES[n],
        "mistakes": "2_much_better",
        "omissions": "equal" if n else "1_much_better",
        "overall_quality": LABELS[n],
    }
    for n in range(6)
]


def heard(**name: str) -> list[dict[str, Any]]:
    references = [REFERENCES[0], "A dog barks.", "Waves and a dog."]
    return [
        {
            "HC": [references[0], references[1], "human_1", "human_2", [1, -1, 1, 0]],
            "HI": [references[1], "Rain.", "human_2", "x_human_1", [1, 1, 1, 1]],
            "HM": None,
            "MM_1": [POOR[0], GOOD[0], "rl", "fc", 0, [0, -1, -1, -1]],
            "MM_2": [POOR[1], GOOD[0], "rl", "fc", [1, -1]],
            **name,
            "references": references,
        }
    ]


LONG = [
    {
        "file_name": f"{n}.jpg",
        "refs": [REFERENCES[n], "A beach."],
        "cand": GOOD[n] if n % 2 else POOR[n],
        "score": n / 5,
    }
    for n in range(6)
]
MSVD = {
    f"vid{n}": {
        "vname": f"video_{n}.avi",
        "ref": [REFERENCES[n]],
        "candidate": GOOD[n] if n % 2 else POOR[n],
        "human_score": [[4, 3, 4, 5, 4.0], [n % 5 + 1, 1, 1, 1, 2.0]],
    }
    for n in range(6)
}
DETAILS = [
    {
        "GT_Caption_GPT4O": REFERENCES[n],
        "GT_Caption_GPT4V": f"A wet dog {n}.",
        "GT_Caption_Gemini15Pro": "A beach.",
        "CogVLM": GOOD[n],
        "ShareCaptioner": POOR[n],
        "LLaVA_v15": "a beach",
        "GPT4_Eval": json.dumps({"CogVLM": 5, "ShareCaptioner": 1, "LLaVA_v15": n % 3}) if n else None,
        "image": f"{n}.jpg",
        "source": "COCO",
    }
    for n in range(4)
]
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
    "caparena": CAPARENA,
    "docent": DOCENT,
    "audiocaps-eval": heard(audio_id="6BJ455B1aAs", raw_name="6BJ455B1aAs_0.wav"),
    "clotho-eval": heard(raw_name="birds.wav"),
    "longcap-arena": LONG,
    "msvd-eval": MSVD,
    "detailcaps": DETAILS,
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


def test_battles_of_caparena(tmp_path: Path) -> None:
    found = read(tmp_path, "caparena")
    assert isinstance(found, Pairs)
    assert found.preferred == [-1, 0, 0, 1, 1]
    assert (found.b, found.c) == (GOOD[1:], POOR[1:])
    assert [row.references for row in found.rows] == [[text] for text in REFERENCES[1:]]
    assert (found.b_system, found.c_system) == (["GPT"] * 5, ["LLaVA"] * 5)
    assert [row.place for row in found.rows] == [1, 2, 3, 4, 5]
    assert (found.in_file, found.notes[0]) == (6, "pairs with a caption of people, which is the reference, left out: 1")


def test_choices_of_docent_by_aspect(tmp_path: Path) -> None:
    by_aspect = {aspect: read(tmp_path, "docent", rating=aspect) for aspect in (None, "mistakes", "omissions")}
    signs = {aspect: found.preferred for aspect, found in by_aspect.items() if isinstance(found, Pairs)}
    assert signs == {None: [1, -1, 0, 1, -1, 1], "mistakes": [-1] * 6, "omissions": [1, 0, 0, 0, 0, 0]}
    with pytest.raises(UsageError, match="rating must be one of overall_quality, mistakes, omissions, got 'beauty'"):
        read(tmp_path, "docent", rating="beauty")


@pytest.mark.parametrize("name", ["audiocaps-eval", "clotho-eval"])
def test_pairs_of_sounds(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, name)
    assert isinstance(found, Pairs)
    assert found.categories == ["HC", "HI", "MM", "MM"]
    assert found.preferred == [1, 1, -1, 0]
    assert found.votes == [[1, -1, 1], [1] * 4, [-1, -1, -1], [1, -1]]
    own = DOCUMENTS[name][0]["references"]
    assert [row.references for row in found.rows] == [own[2:], [own[0], own[2]], own, own]
    assert {row.image_id for row in found.rows} == {"6BJ455B1aAs" if name == "audiocaps-eval" else "birds.wav"}


def test_ratings_of_long_captions_also_from_parquet(tmp_path: Path) -> None:
    from_json = read(tmp_path, "longcap-arena")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {name: [row[name] for row in LONG] for name in LONG[0]}
    parquet.write_table(arrow.table({**columns, "image": [b"x"] * 6}), tmp_path / "dci.parquet")
    for found in (from_json, read_judgments(tmp_path / "dci.parquet")):
        assert isinstance(found, Ratings)
        assert found.dataset == "longcap-arena"
        assert found.ratings == [(n / 5,) for n in range(6)]
        assert [tuple(row.references) for row in found.rows] == [(text, "A beach.") for text in REFERENCES]


def test_ratings_of_videos_by_aspect(tmp_path: Path) -> None:
    found, accuracy = read(tmp_path, "msvd-eval"), read(tmp_path, "msvd-eval", rating="accuracy")
    assert isinstance(found, Ratings)
    assert isinstance(accuracy, Ratings)
    assert (found.aspect, found.ratings) == ("mean", [(4.0, 2.0)] * 6)
    assert accuracy.ratings == [(4.0, float(n % 5 + 1)) for n in range(6)]
    assert [row.image_id for row in found.rows] == [f"video_{n}.avi" for n in range(6)]


def test_scores_of_gpt_4_are_a_rating_for_each_of_three_models(tmp_path: Path) -> None:
    found = read(tmp_path, "detailcaps")
    assert isinstance(found, Ratings)
    assert found.ratings == [(5.0,), (1.0,), (1.0,), (5.0,), (1.0,), (2.0,), (5.0,), (1.0,), (0.0,)]
    assert found.system == ["CogVLM", "ShareCaptioner", "LLaVA_v15"] * 3
    assert len(found.rows[0].references) == 3
    assert found.notes[0] == "images that GPT-4 did not rate, left out: 1"
    assert agreement(found, "rouge-l", interval=None).primary == "pearson"


def test_pascal_50s_and_flickr8k_as_one_json(tmp_path: Path) -> None:
    pairs, rated = read(tmp_path, "pascal-50s"), read(tmp_path, "flickr8k-expert", dataset="flickr8k-expert")
    assert isinstance(pairs, Pairs)
    assert isinstance(rated, Ratings)
    assert (pairs.categories, pairs.preferred) == (["HC", "HI", "HM", "MM"], [1, -1, 1, -1])
    assert (pairs.b, pairs.c) == (GOOD[:4], POOR[:4])
    assert rated.captions == [text for n in range(3) for text in (GOOD[n], POOR[n])]
    assert rated.ratings == [(4.0, 3.0, 4.0), (1.0, 1.0, 2.0)] * 3
    assert rated.rows[0].references == [REFERENCES[0], "A beach ."]


def test_foils_take_their_references_from_a_file(tmp_path: Path) -> None:
    found = read(tmp_path, "foil", captions=captions(tmp_path))
    assert isinstance(found, Pairs)
    assert (found.b, found.preferred) == (GOOD[:4], [1] * 4)
    assert found.c == [text.replace("dog", "cat") for text in GOOD[:4]]
    assert [row.references for row in found.rows] == [[text] for text in REFERENCES[:4]]
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
    assert [one["metric"] for one in document["detailcaps"]["published"]][-1] == "CAPTURE"


def changed(name: str, **fields: Any) -> Any:
    document = json.loads(json.dumps(DOCUMENTS[name]))
    first = next(iter(document.values())) if isinstance(document, dict) else document[0]
    first.update(fields)
    return document


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("flickr8k-expert", {"human_judgement": [{"image_id": "1"}]}, "line 1: no field 'caption'; it has image_id"),
        ("caparena", {"winner": "Claude"}, "line 1: winner must be one of .*'LLaVA', 'human', got 'Claude'"),
        ("caparena", {"source1": "GPT", "winner": "GPT", "caption1": ""}, "line 1: caption1 must be a caption"),
        ("docent", {"overall_quality": "3"}, "line 1: overall_quality must be one of 1_much_better, .*, got '3'"),
        ("clotho-eval", {"MM_1": ["a", "b"]}, "line 1: MM_1 must be a list of two captions"),
        ("clotho-eval", {"MM_1": ["a", "b", "c", "d", [2]]}, "line 1: MM_1 must be a number from -1 to 1"),
        ("longcap-arena", {"score": "good"}, "line 1: score must be a number"),
        ("msvd-eval", {"human_score": [[1, 2]]}, "line 1: human_score must have a list of five numbers"),
        ("detailcaps", {"GPT4_Eval": "{"}, "line 1: GPT4_Eval must have a number for CogVLM"),
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
