"""Files in the shapes of data sets and harnesses, made up: each is recognised, and read by its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from sacrecap.data import read_candidates, read_caption_sets, read_references
from sacrecap.data.captions import read_both
from sacrecap.data.recognise import recognised
from sacrecap.data.shapes import SHAPES
from sacrecap.data.tables import read_table
from sacrecap.data.unpack import Content
from sacrecap.errors import DataError, DataWarning, UsageError
from sacrecap.judgments.datasets.read import RATINGS, recognise

HORSE, BREAD = ["a man on a horse", "a person riding a horse"], ["a woman is cutting bread", "bread is cut"]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "MSR-VTT": (
        "msrvtt",
        json.dumps(
            {
                "info": {"contributor": "", "version": "1.0"},
                "videos": [
                    {"category": 9, "url": "", "video_id": "video7010", "start time": 1, "split": "test", "id": 7010},
                    {"category": 1, "url": "", "video_id": "video7011", "start time": 2, "split": "test", "id": 7011},
                ],
                "sentences": [
                    {"caption": caption, "video_id": video, "sen_id": number}
                    for video, captions in (("video7010", HORSE), ("video7011", BREAD))
                    for number, caption in enumerate(captions)
                ],
            }
        ),
        {"video7010": HORSE, "video7011": BREAD},
    ),
    "ActivityNet Captions' results": (
        "activitynet",
        json.dumps(
            {
                "version": "VERSION 1.0",
                "results": {"v_a": [{"sentence": one, "timestamp": [0, 4]} for one in ("A man.", "Ok.")]},
            }
        ),
        {"v_a": ["A man. Ok."]},
    ),
    "Clotho": (
        "rows",
        'file_name,caption_1,caption_2\nRain.wav,a man on a horse,a person riding a horse\nb.wav,"bread, cut",x\n',
        {"Rain.wav": HORSE, "b.wav": ["bread, cut", "x"]},
    ),
    "DCASE references": (
        "rows",
        "file_name,caption_reference_01,caption_reference_02\nRain.wav,it rains,rain\n",
        {"Rain.wav": ["it rains", "rain"]},
    ),
    "Flickr30k results.csv": (
        "rows",
        'image_name| comment_number| comment\n1.jpg| 0| A dog "runs" .\n1.jpg| 1   A dog runs across the grass .\n',
        {"1.jpg": ['A dog "runs" .', "A dog runs across the grass ."]},
    ),
    "Flickr8k captions.txt": (
        "rows",
        'image,caption\n1.jpg,A dog .\n1.jpg,"A dog , running ."\n',
        {"1.jpg": ["A dog .", "A dog , running ."]},
    ),
    "Flickr30k captions.txt": ("rows", "image_name,comment_number,comment\n1.jpg,0,A dog .\n", {"1.jpg": ["A dog ."]}),
    "flickr_annotations_30k.csv": (
        "rows",
        'raw,sentids,split,filename,img_id\n"[""a"", ""it\'s b""]","[0, 1]",train,1.jpg,0\n',
        {"1.jpg": ["a", "it's b"]},
    ),
    "LAVIS": (
        "rows",
        json.dumps([{"image": "val2014/COCO_val2014_000000391895.jpg", "caption": HORSE}]),
        {"val2014/COCO_val2014_000000391895.jpg": HORSE},
    ),
    "LAVIS training": (
        "list",
        json.dumps([{"caption": "a horse", "image": "val2014/COCO.jpg", "image_id": "coco_391895"}]),
        {"coco_391895": ["a horse"]},
    ),
    "lmms-eval": (
        "lmms-eval",
        lines(
            {"doc_id": 0, "doc": {"question_id": "a.jpg"}, "target": HORSE, "resps": [["x"]], "filtered_resps": ["x"]},
            {"doc_id": 1, "doc": {"question_id": "b.jpg"}, "target": str(BREAD), "filtered_resps": [["y"]]},
        ),
        {"a.jpg": HORSE, "b.jpg": BREAD},
    ),
    "lmms-eval, older": (
        "lmms-eval",
        json.dumps({"args": {"model": "m"}, "logs": [{"doc_id": 0, "target": "a horse", "filtered_resps": ["x"]}]}),
        {"0": ["a horse"]},
    ),
    "VLMEvalKit": (
        "rows",
        "index\tquestion\tanswer\tprediction\n0\tq\t ['a', \"it's b\"]\ta horse\n",
        {"0": ["a", "it's b"]},
    ),
    "predictions": ("rows", lines({"id": "a", "prediction": "a horse", "references": HORSE}), {"a": HORSE}),
    "imagefolder": ("rows", lines({"file_name": "1.jpg", "text": "a dog"}), {"1.jpg": ["a dog"]}),
    "wrapped and wordy": ("rows", json.dumps({"annotations": [{"image": "a", "caption": HORSE}]}), {"a": HORSE}),
    "capitals": ("rows", "Image_ID,Caption\n5,a horse\n", {"5": ["a horse"]}),
    "a list of captions in a row": ("list", json.dumps([{"image_id": 5, "caption": ["x"]}]), {"5": ["x"]}),
    "an id": ("rows", lines({"id": 7, "url": "x", "caption": "a dog"}), {"7": ["a dog"]}),
    "a reference beside a caption": (
        "rows",
        lines({"image_id": 7, "caption": "a dog", "references": HORSE}),
        {"7": HORSE},
    ),
    "one row": ("rows", json.dumps({"image": "a.jpg", "caption": HORSE}), {"a.jpg": HORSE}),
    "lists": ("lists", json.dumps([HORSE, BREAD]), {"1": HORSE, "2": BREAD}),
    "a list": ("lists", json.dumps(["x", "y"]), {"1": ["x"], "2": ["y"]}),
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.filterwarnings("ignore:.*looks like a candidate file")
@pytest.mark.parametrize("case", FILES)
def test_a_shape_is_recognised_and_read_by_name(case: str, write: Callable[[str | bytes], Path]) -> None:
    name, content, captions = FILES[case]
    path = write(content)
    assert read_references(path).to_dict() == captions
    assert read_references(path, format=name).to_dict() == captions
    assert recognised(Content("", content.encode())).name == name


def test_every_shape_is_tried() -> None:
    tried = {name for name, _, _ in FILES.values()}
    others = {"coco", "karpathy", "mapping", "jsonl", "csv", "tsv", "flickr", "parquet", "arrow"}
    untried = set(SHAPES) - tried - others
    assert untried == {"msvd", "pairs", "text", "webdataset"}, "these are files of projects, or have tests"


# Both parts in one file


@pytest.mark.parametrize(
    ("case", "candidates"),
    [
        ("lmms-eval", {"a.jpg": ["x"], "b.jpg": ["y"]}),
        ("VLMEvalKit", {"0": ["a horse"]}),
        ("predictions", {"a": ["a horse"]}),
    ],
)
def test_candidates_beside_references(
    case: str, candidates: dict[str, list[str]], write: Callable[[str | bytes], Path]
) -> None:
    _, content, references = FILES[case]
    path = write(content)
    assert read_candidates(path).to_dict() == candidates
    both = read_both(path)
    assert tuple(captions.to_dict() for captions in both) == (references, candidates)


@pytest.mark.parametrize("header", ["image_id{}caption\n", ""], ids=["header", "no header"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_are_separated_by_any_of_these(
    separator: str, header: str, write: Callable[[str | bytes], Path]
) -> None:
    others = ",;|".replace(separator, "")
    caption = f"a dog{others} a cat{others} a cow"
    path = write(f"{header.format(separator)}007{separator}{caption}\n8{separator}a red bus\n")
    assert read_candidates(path).to_dict() == {"007": [caption], "8": ["a red bus"]}


@pytest.mark.parametrize(
    ("text", "image", "caption"),
    [
        ("vid1|0,A man walks\n", "vid1|0", "A man walks"),
        ('"a;1","a dog"\n', "a;1", "a dog"),
        ("img;1.jpg,a dog\n", "img;1.jpg", "a dog"),
        ("1;A dog, running\n", "1", "A dog, running"),
        ("1;2,A dog runs\n", "1;2", "A dog runs"),
        ("image_id,caption,no\tes\n1,a dog,-\n", "1", "a dog"),
    ],
)
def test_other_signs_in_ids_and_captions_separate_nothing(
    text: str, image: str, caption: str, write: Callable[[str | bytes], Path]
) -> None:
    assert read_candidates(write(text)).to_dict() == {image: [caption]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_judgments_and_scores_are_separated_by_the_same(separator: str, tmp_path: Path) -> None:
    rows = [("image_id", "candidate", "references", "rating"), ("1", "a dog", "a cat", "0.5")]
    path = tmp_path / "ratings.csv"
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_table(path).columns == {name: [cell] for name, cell in zip(*rows, strict=True)}
    assert recognise(path) is RATINGS[0]


@pytest.mark.filterwarnings("ignore:.*looks like a candidate file")
def test_columns_by_name(write: Callable[[str | bytes], Path]) -> None:
    path = write("photo;human 1;human 2;model\nA.jpg;a;b;c\nB.jpg;d;e;f\n")
    given = read_references(path, id_column="photo", caption_column="human *")
    assert given.to_dict() == {"A.jpg": ["a", "b"], "B.jpg": ["d", "e"]}
    given = read_candidates(path, id_column=["no", "photo"], caption_column="model")
    assert given.to_dict() == {"A.jpg": ["c"], "B.jpg": ["f"]}
    both = read_both(path, id_column="photo", caption_column="model", references_column=["human 2", "human 1"])
    assert [captions.to_dict() for captions in both] == [
        {"A.jpg": ["b", "a"], "B.jpg": ["e", "d"]},
        {"A.jpg": ["c"], "B.jpg": ["f"]},
    ]
    with pytest.raises(DataError, match=r"file: has the columns photo, human 1, .*, and not x; name others"):
        read_references(path, id_column="photo", caption_column="x")
    with pytest.raises(UsageError, match="file: is the only file, but not known to hold references and"):
        read_both(path, id_column="photo", caption_column="model")


def test_columns_inside_objects_and_columns_that_are_known(write: Callable[[str | bytes], Path]) -> None:
    path = write(lines({"doc": {"name": "a", "no": 1}, "out": "x", "image_id": 7}))
    assert read_candidates(path, id_column="doc.name", caption_column="out").to_dict() == {"a": ["x"]}
    assert read_candidates(path, caption_column="out").to_dict() == {"7": ["x"]}
    path = write(lines({"image_id": 1, "caption": "[CLS] x", "refs [a]": str(HORSE)}))
    both = read_both(path, references_column="refs [a]")
    assert [captions.to_dict() for captions in both] == [{"1": HORSE}, {"1": ["[CLS] x"]}]
    path = write("file_name,nr,caption_1,caption_2\na.wav,1,x,y\n")
    assert read_references(path, id_column="nr").to_dict() == {"1": ["x", "y"]}
    assert read_candidates(path, caption_column="caption_2").to_dict() == {"a.wav": ["y"]}
    with pytest.raises(DataError, match="found a list of numbers, null, true or false; accepted are coco"):
        read_candidates(write("[5]"), caption_column="x")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("a dog\na cat\n", "text"),
        ("id,caption\n1,a dog\n2,a cat\n", "auto"),
        (json.dumps([{"id": 1, "caption": "a dog"}, {"id": 2, "caption": "a cat"}]), "auto"),
    ],
)
def test_a_path_that_leads_nowhere_makes_no_empty_captions(
    text: str, format: str, write: Callable[[str | bytes], Path]
) -> None:
    with pytest.raises(DataError, match=r"file: has nothing at caption\.fr in any row; name another by caption_column"):
        read_candidates(write(text), format=format, caption_column="caption.fr")


def test_a_path_in_a_file_without_rows_is_not_to_blame(write: Callable[[str | bytes], Path]) -> None:
    assert read_candidates(write("id,caption\n"), caption_column="caption.fr").to_dict() == {}


def test_a_path_that_leads_somewhere_in_one_row(write: Callable[[str | bytes], Path]) -> None:
    path = write(lines({"id": 1, "caption": {"en": None}}, {"id": 2, "caption": {"en": "a cat"}}))
    assert read_candidates(path, caption_column="caption.en").to_dict() == {"1": [""], "2": ["a cat"]}


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "predictions": [{"caption": ""}]},
        {"id": 1, "conversations": [{"from": "human", "value": "What is it?"}, {"from": "gpt", "value": ""}]},
    ],
)
def test_an_empty_caption_at_a_path_is_one(row: dict[str, Any], write: Callable[[str | bytes], Path]) -> None:
    assert read_candidates(write(json.dumps([row]))).to_dict() == {"1": [""]}


def test_what_is_not_recognised_is_told_with_the_options(write: Callable[[str | bytes], Path]) -> None:
    path = write("id,words\n1,a dog\n")
    with pytest.raises(
        DataError, match="file: has the columns id, words, of which none is known to hold references; name it by cap"
    ):
        read_references(path)
    path = write(json.dumps({"data": [{"id": 5, "words": "x"}], "version": 1}))
    with pytest.raises(DataError, match="file: has the columns id, words, of which none is known to hold references"):
        read_references(path)
    path = write(lines({"id": 5, "words": "x"}, {"id": 6, "words": "x"}))
    with pytest.raises(DataError, match="file: has the columns id, words, of which none is known to hold references"):
        read_references(path)
    with pytest.raises(DataError, match=r'file: is not of format msrvtt, which is \{"videos"'):
        read_references(path, format="msrvtt")


@pytest.mark.filterwarnings("ignore:.*looks like a candidate file")
def test_splits(write: Callable[[str | bytes], Path]) -> None:
    content = json.loads(FILES["MSR-VTT"][1])
    content["videos"][1]["split"] = "validate"
    path = write(json.dumps(content))
    assert read_references(path, split="validate").to_dict() == {"video7011": BREAD}
    with pytest.raises(UsageError, match="file: no image is in the split 'val'; the splits are test, validate$"):
        read_references(path, split="val")
    del content["videos"][0]["split"]
    path = write(json.dumps(content))
    assert read_references(path).to_dict() == {"video7010": HORSE, "video7011": BREAD}
    with pytest.raises(UsageError, match="file: no image is in the split 'test'; the splits are validate$"):
        read_references(path, split="test")
    path = write(FILES["Clotho"][1])
    with pytest.raises(UsageError, match="has no column split, and so no splits; leave the split out$"):
        read_references(path, split="val")
    path = write("image_id,words,split\n1,a,test\n2,b,val\n")
    assert read_references(path, split="val", caption_column="words").to_dict() == {"2": ["b"]}


# Lines


def test_text_files_line_by_line(write: Callable[[str | bytes], Path]) -> None:
    path = write("a man on a horse\ta person riding a horse\r\na woman is cutting bread\tbread is cut\r\n")
    assert read_references(path, format="text").to_dict() == {"1": HORSE, "2": BREAD}
    path = write("a horse\nsome bread")
    assert read_candidates(path, format="text").to_dict() == {"1": ["a horse"], "2": ["some bread"]}
    with pytest.raises(DataError, match='found a text that begins "a horse"'):
        read_candidates(path)
    path = write("a horse\n\nbread\n")
    assert read_candidates(path, format="text").to_dict() == {"1": ["a horse"], "2": [""], "3": ["bread"]}


# Missing captions


@pytest.mark.parametrize("word", ["", "nan", "NaN", "None", "null", "<NA>", " nan "])
def test_missing_captions_are_empty_and_no_words(word: str, write: Callable[[str | bytes], Path]) -> None:
    path = write(f"image_id,caption\n1,a dog\n2,{word}\n3,nan dog\n")
    assert read_candidates(path).to_dict() == {"1": ["a dog"], "2": [""], "3": ["nan dog"]}
    path = write(f"image,caption\n1,a dog\n2,{word}\n1,\n")
    assert read_references(path).to_dict() == {"1": ["a dog", ""], "2": [""]}


def test_a_null_beside_references_is_empty_and_alone_may_be_a_failure(write: Callable[[str | bytes], Path]) -> None:
    path = write(
        lines(
            {"image_id": 1, "caption": None, "references": HORSE}, {"image_id": 2, "caption": "x", "references": BREAD}
        )
    )
    assert read_candidates(path, format="jsonl").to_dict() == {"1": [""], "2": ["x"]}
    path = write(lines({"image_id": 1, "caption": None}, {"image_id": 2, "caption": "x"}))
    with pytest.raises(DataError, match="the caption of image 1 .row 1. is missing or null"):
        read_candidates(path)


def test_missing_captions_among_several(write: Callable[[str | bytes], Path]) -> None:
    path = write("file_name,caption_1,caption_2\na.wav,x,\nb.wav,,\n")
    assert read_references(path).to_dict() == {"a.wav": ["x"], "b.wav": [""]}
    with pytest.warns(DataWarning, match="one caption per image; taken as caption sets"):
        assert read_caption_sets(path).to_dict() == {"a.wav": ["x"], "b.wav": [""]}
    path = write('[{"image": "a", "caption": NaN}, {"image": "b", "caption": null}, {"image": "c", "caption": "x"}]')
    assert read_candidates(path).to_dict() == {"a": [""], "b": [""], "c": ["x"]}


# What a shape refuses


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('[{"image": 5.5, "caption": "x"}]', "the image id of row 1 is the number 5.5; image ids must be strings"),
        ('[{"image": "a", "caption": 5}]', "the caption of image a is of type int; it must be a string or a list"),
        ('[{"image": "a", "caption": "\\ud800"}]', "half a surrogate pair"),
        ("image,caption\na,b,c\n", "row 1 \\(line 2\\): has 3 fields where the header has 2; put a caption that"),
        ('image,caption\na,"b\n', "row 1 \\(line 2\\): a double quote is opened in this row and never closed"),
        ("index\tanswer\n0\t['a', \n", r"begins like a list of captions, but ends early: \"\['a', \""),
    ],
)
def test_what_is_wrong_is_told(content: str, sentence: str, write: Callable[[str | bytes], Path]) -> None:
    with pytest.raises(DataError, match=sentence):
        read_references(write(content))


# Several captions in one text

BARS = {"1": ["a dog|||a brown dog ||| ", "a cat"], "2": ["a bus"]}


def test_captions_are_cut_at_a_separator_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "bars.json"
    path.write_text(json.dumps(BARS))
    with pytest.raises(DataError) as refused:
        read_references(path)
    assert str(refused.value) == (
        f"{path}: 1 image (1) with a caption that holds |||, which mostly stands between several ('a dog|||a brown dog "
        '||| \'); cut captions there by separator="|||" of the readers in sacrecap.data, or take each as one by '
        'separator="none" of the readers in sacrecap.data'
    )
    assert read_references(path, separator="|||").to_dict() == {"1": ["a dog", "a brown dog", "a cat"], "2": ["a bus"]}
    assert read_references(path, separator="none").to_dict() == BARS
    assert read_references(path, separator="|||").source == str(path)
    with pytest.raises(DataError, match="1 image has more than one candidate: 1"):
        read_candidates(path, separator="|||")
    with pytest.raises(UsageError, match="separator is empty; name the text between captions, or none"):
        read_references(path, separator="")


@pytest.mark.parametrize("texts", [["|||"], [" ||| |||"], ["a /", "/ b"], ["a", "b / c/d"]])
def test_a_separator_leaves_no_empty_captions_but_one(texts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "texts.json"
    path.write_text(json.dumps({"1": texts, "2": ["x", "y"]}))
    for separator in ("|||", "/"):
        cut = [[one.strip() for one in text.split(separator)] if separator in text else [text] for text in texts]
        expected = [one for own in cut for one in ([one for one in own if one] or [""])]
        assert read_caption_sets(path, separator=separator).to_dict()["1"] == expected


def test_captions_as_values_are_taken_as_they_are() -> None:
    result = sacrecap.score({"1": BARS["1"]}, {"1": "a dog"}, "rouge-l", interval=None)
    assert [finding.kind for finding in result.findings] == ["list"]


@pytest.mark.parametrize("rule", ["|---|---|", "| :--- | ---: |", "--- | ---", "|-|-|\r", "|---------------------|"])
def test_the_line_of_dashes_below_a_header_is_no_row(rule: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(f"| image_id | caption |\n{rule}\n| 1 | a dog |\n| - | a dash |\n", newline="")
    assert read_candidates(path).to_dict() == {"1": ["a dog"], "-": ["a dash"]}


def test_a_long_row_of_dashes_takes_no_time(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(f"| image_id | caption |\n| {'-' * 400}x | a dog |\n")
    assert len(read_candidates(path)) == 1


@pytest.mark.parametrize("other", ["text", "title", "description"])
def test_a_likely_column_beside_a_doubtful_one_is_refused(other: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"image_id": "1", other: "a dog", "vlm_caption": "a brown dog"}) + "\n")
    with pytest.raises(DataError, match=f"could be the candidates, {other} and vlm_caption; name one by"):
        read_candidates(path)
    assert read_candidates(path, caption_column=other).to_dict() == {"1": ["a dog"]}


def test_a_separator_of_none_leaves_captions_that_hold_the_word_whole(write: Callable[[str | bytes], Path]) -> None:
    whole = ["a dog, none of them a cat", "red ||| blue"]
    path = write(json.dumps({"1": whole, "2": ["a bus"]}))
    assert read_references(path, separator="none").captions("1") == whole
    assert read_references(path, separator="|||").captions("1") == ["a dog, none of them a cat", "red", "blue"]
