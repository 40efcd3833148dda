"""The Python interface, as users and outside checks rely on it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sacrecap
from sacrecap import Corpus, SacrecapError, SacrecapWarning
from sacrecap.choices import TOKENIZERS
from sacrecap.data import read_candidates, read_references
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import Bleu, CiderD, CiderPaper, RougeL
from sacrecap.metrics.registry import parse_metrics

COCO = ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d"]
REFERENCES = {"1": ["a man rides a horse", "a person riding a horse"], "2": ["a dog runs", "the dog ran"]}
CANDIDATES = {"1": "a man riding a brown horse", "2": "a dog ran in a field"}


def score(references: Any = None, candidates: Any = None, metrics: Any = "coco", **options: Any) -> sacrecap.Result:
    options.setdefault("interval", None)
    return sacrecap.score(references or REFERENCES, candidates or CANDIDATES, metrics, **options)


def values(result: sacrecap.Result) -> dict[str, float]:
    return {key: one.value for key, one in result.items()}


# The result


def test_a_result_maps_metric_keys_to_scores() -> None:
    result = score(metrics="coco, cider-d(sigma=5)", interval=0.95, samples=50)
    assert list(result) == [*COCO, "cider-d(sigma=5)"]
    assert len(result) == 8
    assert "cider-d" in result
    assert "rouge-1" not in result
    one = result["cider-d"]
    assert one.metric == CiderD()
    assert isinstance(one.value, float)
    assert float(one) == one.value
    assert one.interval is not None
    assert one.interval[0] <= one.value <= one.interval[1]
    with pytest.raises(KeyError, match="'rouge-1' was not scored; scored: bleu-1, bleu-2"):
        result["rouge-1"]


def test_per_image_scores_are_aligned_with_the_images() -> None:
    result = score()
    assert result.image_ids == ["1", "2"]
    per_image = result["rouge-l"].per_image
    assert per_image.dtype == np.float64
    assert per_image.shape == (2,)
    assert list(result["rouge-l"].per_image_values()) == per_image.tolist()
    assert per_image.mean() == pytest.approx(result["rouge-l"].value)
    turned = score(dict(reversed(REFERENCES.items())))
    assert turned.image_ids == ["2", "1"]
    assert turned["rouge-l"].per_image.tolist() == per_image[::-1].tolist()


def test_a_table_of_pandas() -> None:
    result = score()
    table = result.to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "image_id"
    assert list(table.index) == ["1", "2"]
    assert list(table.columns) == COCO
    assert table["cider-d"].to_numpy().tolist() == result["cider-d"].per_image.tolist()


def test_printing_shows_labels_scores_and_intervals() -> None:
    result = score(metrics="bleu-4, cider-d(sigma=5)", interval=0.9, samples=50)
    printed = str(result)
    assert "2 images, 2 references each, tokenizer ptb" in printed
    assert "90% interval" in printed
    for label, key in [("BLEU-4", "bleu-4"), ("CIDEr-D(sigma=5)", "cider-d(sigma=5)")]:
        line = next(line for line in printed.splitlines() if label in line)
        low, high = result[key].interval or (0, 0)
        assert f"{result[key].value:.4f}" in line
        assert f"{low:.4f} – {high:.4f}" in line
    assert "interval" not in str(score())
    assert "1 to 2 references each" in str(score({**REFERENCES, "2": ["a dog"]}))


# What is scored


def test_ids_are_text_so_that_numbers_meet_digits() -> None:
    expected = values(score())
    numbered = {int(image): captions for image, captions in REFERENCES.items()}
    assert values(score(numbered)) == expected
    assert values(score(numbered, {int(image): caption for image, caption in CANDIDATES.items()})) == expected


def test_paths_and_captions_read_before(tmp_path: Path) -> None:
    expected = values(score())
    references, candidates = tmp_path / "references.json", tmp_path / "candidates.csv"
    references.write_text(json.dumps(REFERENCES))
    with candidates.open("w", newline="") as file:
        csv.writer(file).writerows([("image_id", "caption"), *CANDIDATES.items()])
    assert values(score(references, candidates)) == expected
    assert values(score(str(references), str(candidates))) == expected
    assert values(score(read_references(references), read_candidates(candidates))) == expected
    assert values(score(references, CANDIDATES)) == expected


def test_a_corpus_is_encoded_once_and_scored_by_any_metric() -> None:
    corpus = Corpus(REFERENCES, CANDIDATES)
    assert len(corpus) == 2
    assert repr(corpus) == "<Corpus of 2 images with 2 references each, tokenizer ptb>"
    assert corpus.captions("2") == ("a dog ran in a field", ["a dog runs", "the dog ran"])
    for metric in (CiderD(), CiderD(sigma=3.0), RougeL(beta=2), Bleu(n=2)):
        assert sacrecap.score(corpus, metrics=metric, interval=None).to_dict() == score(metrics=metric).to_dict()
    with pytest.raises(UsageError, match="a corpus has candidates; leave the others out"):
        sacrecap.score(corpus, CANDIDATES)
    with pytest.raises(UsageError, match="the corpus was cut by the tokenizer ptb, and the call asks for whitespace"):
        sacrecap.score(corpus, tokenizer="whitespace")


@pytest.mark.parametrize(
    "metrics",
    [
        "bleu-2,rouge-l(beta=2)",
        ["bleu-2", "rouge-l(beta=2)"],
        [Bleu(n=2), RougeL(beta=2.0)],
        ("BLEU-2", RougeL(beta=2)),
        " bleu-2 , ROUGE-L( beta = 2.0 ), bleu-2",
    ],
)
def test_metrics_are_given_as_text_values_or_both(metrics: Any) -> None:
    assert list(score(metrics=metrics)) == ["bleu-2", "rouge-l(beta=2)"]


def test_images_without_candidate() -> None:
    references = {**REFERENCES, "3": ["a cat on a mat"]}
    skipped = score(references, on_missing="skip")
    assert skipped.image_ids == ["1", "2"]
    assert values(skipped) == values(score())
    zero = score(references, on_missing="zero")
    assert zero.image_ids == ["1", "2", "3"]
    assert values(zero) == values(score(references, {**CANDIDATES, "3": ""}))
    assert Corpus(references, CANDIDATES, on_missing="zero").captions("3") == (None, ["a cat on a mat"])


def test_tokens() -> None:
    assert sacrecap.tokenize(["a dog", ""], tokenizer="whitespace") == [["a", "dog"], []]
    assert sacrecap.tokenize(iter(["a dog"]), tokenizer="none", threads=2) == [["a", "dog"]]
    with pytest.raises(DataError, match="caption 1 is a int, expected a string"):
        sacrecap.tokenize(["a", 1])  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"caption 0 holds a lone surrogate.*'a\\ud800'"):
        sacrecap.tokenize(["a\ud800"])
    with pytest.raises(UsageError, match="must be one of ptb, ptb-stream, .*, flores200-lc, got 'moses'"):
        sacrecap.tokenize(["a"], tokenizer="moses")


# Warnings


def test_one_image_warns_where_document_frequencies_come_from_it() -> None:
    message = (
        "^one image is a corpus in which every n-gram is in every document, so every IDF and CIDEr-D is 0; give "
        'document frequencies of a larger corpus with document_frequency="coco-train", or a file of sacrecap df '
        "build"
    )
    with pytest.warns(SacrecapWarning, match=message) as caught:
        result = score({"1": ["a dog"]}, {"1": "a dog"})
    assert result["cider-d"].value == 0
    assert len(caught) == 1
    with pytest.warns(SacrecapWarning) as each:
        score({"1": ["a dog"]}, {"1": "a dog"}, [CiderPaper(), CiderD()])
    assert ["CIDEr-paper is 0" in str(one.message) for one in each] == [True, False]
    assert {one.filename for one in (*caught, *each)} == {__file__}
    score({"1": ["a dog"]}, {"1": "a dog"}, "rouge-l")


def test_swapped_arguments_fail() -> None:
    with pytest.raises(DataError, match="more than one candidate for 2 images"):
        score(CANDIDATES, REFERENCES)
    references = {"1": ["a dog"], "2": []}
    with pytest.raises(DataError, match=r"no reference for 1 image .* \(or are the two files swapped\?\)"):
        score(references, {"1": "a dog", "2": "a cat"})


# Errors

ALL_NAMES = "all names: sacrecap metrics (in Python: sacrecap.metrics)"


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("cidr-d", f"unknown metric 'cidr-d' (did you mean 'cider-d'?); {ALL_NAMES}"),
        ("polos", f"unknown metric 'polos'; {ALL_NAMES}"),
        ("tf-idf", f"unknown metric 'tf-idf'; {ALL_NAMES}"),
        ("clip", f"unknown metric 'clip' (did you mean 'clipscore'?); {ALL_NAMES}"),
        ("blue_4", f"unknown metric 'blue_4' (did you mean 'bleu-4'?); {ALL_NAMES}"),
        ("cidre-d(sigma=5)", f"unknown metric 'cidre-d(sigma=5)' (did you mean 'cider-d'?); {ALL_NAMES}"),
        ("bleu-5", f"unknown metric 'bleu-5' (did you mean 'bleu-4' or 'bleu-3' or 'bleu-2'?); {ALL_NAMES}"),
        ("bleu-4 cidr-d spice", f"unknown metric 'cidr-d' (did you mean 'cider-d'?); {ALL_NAMES}"),
        ("bleu-4(k=1) cidr-d(n=2)", f"unknown metric 'cidr-d(n=2)' (did you mean 'cider-d'?); {ALL_NAMES}"),
        ("spice my metric", f"unknown metric 'my metric'; {ALL_NAMES}"),
        ("cocoa", "did you mean 'coco'?"),
        ("xyzzy", f"unknown metric 'xyzzy'; {ALL_NAMES}"),
        ("coco(n=4)", "'coco(n=4)': coco is a group, which has no parameters; give them to a metric of it"),
        ("cider-d(sigma=5", "unknown metric 'cider-d(sigma=5'"),
        (
            "cider-d(sigma)",
            "cider-d: no parameter 'sigma'; its parameters: n, sigma, stem (as CIDEr-D(n=4, sigma=6, stem=no))",
        ),
        ("cider-d(beta=2)", "cider-d: no parameter 'beta'; its parameters: n, sigma"),
        ("rouge-2(n=3)", "rouge-2: no parameter 'n'; its parameters: stem (as ROUGE-2(stem=no))"),
        ("cider-d(sigma=0)", "CIDEr-D: sigma must be a number above 0, got 0"),
        ("cider-d(n=5)", "CIDEr-D: n must be a whole number from 1 to 4, got 5"),
        ("cider-d(n=2.5)", "CIDEr-D: n must be a whole number from 1 to 4, got 2.5"),
        ("cider-paper(stem=maybe)", "CIDEr-paper: stem must be yes or no, got 'maybe'"),
        ("cider-paper(pool=median)", "CIDEr-paper: pool must be one of mean, max, got 'median'"),
        ("bleu-4(smoothing=floor, k=-1)", "BLEU: k must be a number of at least 0, got -1"),
        ("", f"no metric given; for example: coco, or bleu-4, cider-d; {ALL_NAMES}"),
        ([], f"no metric given; for example: coco, or bleu-4, cider-d; {ALL_NAMES}"),
    ],
)
def test_unacceptable_metrics(metrics: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        score(metrics=metrics)
    assert message in str(caught.value)


def test_a_message_suggests_any_name_that_is_nearly_spelled() -> None:
    for metric in parse_metrics("all, diversity"):
        with pytest.raises(UsageError, match=rf"did you mean .*'{metric.name}'") as caught:
            parse_metrics(f"{metric.name}x")
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizer": "pbt"}, f"tokenizer must be one of {', '.join(TOKENIZERS)}, got 'pbt' (did you mean 'ptb'?)"),
        ({"on_missing": "ignore"}, "on_missing must be one of error, skip, zero, got 'ignore'"),
    ],
)
def test_unacceptable_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        score(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize("n", [-1, 0, 5, 1.5, True, "four"])
def test_unacceptable_orders(n: Any) -> None:
    with pytest.raises(UsageError, match="BLEU: n must be a whole number from 1 to 4, got"):
        Bleu(n=n)


MANY = {str(number): "a dog" for number in range(1, 8)}


@pytest.mark.parametrize(
    ("references", "candidates", "message"),
    [
        (
            REFERENCES,
            {"1": "a dog"},
            'the candidates: no candidate for 1 image (2); add them, or choose on_missing="skip" (leave such',
        ),
        (
            {image: [caption] for image, caption in MANY.items()},
            {"1": "a dog"},
            'the candidates: no candidate for 6 images (2, 3, 4, 5, 6, …); add them, or choose on_missing="skip"',
        ),
        (
            REFERENCES,
            {**CANDIDATES, "9": "a cat"},
            "the candidates: candidate for 1 image (9), not in the references; remove such candidates, or score",
        ),
        (
            REFERENCES,
            {"8": "a dog", "9": "a cat"},
            "none of its 2 images is in the references: it has 2 images (8, 9), the references have 2 images (1, 2)",
        ),
        (
            REFERENCES,
            {**CANDIDATES, "2": ["a dog", "a cat"]},
            "the candidates: more than one candidate for 1 image (2); keep one per image",
        ),
        (
            {**REFERENCES, "2": []},
            CANDIDATES,
            "the references: no reference for 1 image (2), but a candidate in the candidates; add references",
        ),
        (REFERENCES, {**CANDIDATES, "2": "a\x00b"}, "image '2': a caption with the control character U+0000"),
        (REFERENCES, {**CANDIDATES, "2": "dog " * 30_000}, "the candidates: image '2': a caption of 120000 bytes"),
        (REFERENCES, {**CANDIDATES, "2": 5}, "the caption of image 2 is of type int"),
        (REFERENCES, {**CANDIDATES, 2: "a dog"}, "the id of image 2 is given twice, as a number and as text"),
        (REFERENCES, {"1": "a dog", None: "a cat"}, "the image id of an image is None; image ids must be strings or"),
    ],
)
def test_unusable_captions(references: Any, candidates: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        score(references, candidates)
    assert message in str(caught.value)


def test_messages_name_the_files(tmp_path: Path) -> None:
    references, candidates = tmp_path / "references.json", tmp_path / "candidates.json"
    references.write_text(json.dumps(REFERENCES))
    candidates.write_text(json.dumps({"1": "a dog"}))
    with pytest.raises(DataError, match=r"candidates\.json: no candidate for 1 image \(2\)"):
        score(references, candidates)
    with pytest.raises(DataError, match=r"absent\.json"):
        score(tmp_path / "absent.json", candidates)


def test_nothing_to_score() -> None:
    with pytest.raises(DataError, match="no image to score"):
        sacrecap.score({}, {})
    with pytest.raises(DataError, match="no candidate for 2 images"):
        sacrecap.score(REFERENCES, {})
    with pytest.raises(DataError, match="no image to score"):
        sacrecap.score(REFERENCES, {}, on_missing="skip")


def test_errors_are_of_one_tree() -> None:
    assert issubclass(DataError, SacrecapError)
    assert issubclass(UsageError, SacrecapError)
    assert issubclass(SacrecapError, Exception)
    assert issubclass(SacrecapWarning, UserWarning)


# Names of the COCO suite


def test_the_suites_names_are_names_of_metrics_and_keys_of_results() -> None:
    own = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")
    names = ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr", "SPICE")
    assert parse_metrics(names) == parse_metrics(own)
    assert parse_metrics("CIDEr(sigma=5), Cider, cider, CIDEr_D") == (CiderD(sigma=5), CiderD())
    result = score(metrics="bleu-4, rouge-l, cider-d, cider-d(sigma=5), cider-paper", interval=None)
    for theirs, ours in (("Bleu_4", "bleu-4"), ("ROUGE_L", "rouge-l"), ("CIDEr", "cider-d"), ("CIDEr-D", "cider-d")):
        assert result[theirs] is result[ours]
        assert theirs in result
    assert result["CIDEr(sigma=5)"] is result["cider-d(sigma=5)"]
    assert list(result) == ["bleu-4", "rouge-l", "cider-d", "cider-d(sigma=5)", "cider-paper"]
    with pytest.raises(KeyError, match="'SPICE' was not scored; scored: bleu-4, rouge-l"):
        result["SPICE"]
