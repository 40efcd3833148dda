"""Recorded and live behaviour of the originals on the cases and captions of the shared folder."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacrecap
from oracle import suite
from reference.rouge import rouge_l
from sacrecap.compat.encoded_captions import encoded
from sacrecap.metrics import Meteor

METEOR = Meteor().key
BREAKS = set("\n\r\v\f\u2028\u2029")


def cases(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def test_meteor_cases(shared: Path) -> None:
    """The original's 23 statistics exactly, its scores within 1e-12. (An empty reference is one of no words.)"""
    recorded = list(cases(shared / "facts" / "meteor-cases.jsonl"))
    corpus = encoded([case["hyp"] for case in recorded], [case["refs"] for case in recorded])
    score = sacrecap.score(corpus, metrics="meteor", interval=None)[METEOR]
    rows = np.frombuffer(score.statistics.values()).reshape(len(recorded), -1)
    # Tokens are split at blanks here and joined again: where that changes the text, the case is the core's to check.
    same = [number for number, case in enumerate(recorded) if all(map(plain, [case["hyp"], *case["refs"]]))]
    assert len(same) > 300
    for number in same:
        assert rows[number, :23].tolist() == recorded[number]["stats"], recorded[number]
        assert score.per_image[number] == pytest.approx(recorded[number]["score"], abs=1e-12)


def plain(text: str) -> bool:
    return " ".join(text.split(" ")) == text.strip(" ") and "  " not in text and "|||" not in text


def test_meteor_corpora(shared: Path) -> None:
    for batch in cases(shared / "facts" / "meteor-batches.jsonl"):
        if batch["name"].startswith("adversarial"):
            continue  # raw text that splitting at blanks would change: the core's to check
        corpus = encoded([item["hyp"] for item in batch["items"]], [item["refs"] for item in batch["items"]])
        score = sacrecap.score(corpus, metrics="meteor", interval=None)[METEOR]
        assert score.value == pytest.approx(batch["corpus"], abs=1e-12), batch["name"]


def test_tokenizer_cases(shared: Path) -> None:
    for case in cases(shared / "facts" / "ptb-cases.jsonl"):
        if not BREAKS & set(case["input"]):  # the suite cuts a caption there; here they are blanks
            assert sacrecap.tokenize([case["input"]]) == [case["tokens"]], case["input"]
    for case in cases(shared / "facts" / "ptb-batch-cases.jsonl"):
        if not BREAKS & set("".join(case["captions"])):
            streamed = sacrecap.tokenize(case["captions"], tokenizer="ptb-stream")
            assert [" ".join(tokens) for tokens in streamed] == case["tokenized"], case["captions"]


def test_rouge_l_of_raw_captions(shared: Path) -> None:
    """As people wrote them, line ends and all. Where blanks meet or stand outside, the suite has empty tokens."""
    captions: dict[str, list[str]] = {}
    for row in json.loads((shared / "data/coco-val2017/captions_val2017.json").read_text())["annotations"]:
        captions.setdefault(str(row["image_id"]), []).append(row["caption"])
    chosen = {image: own for image, own in captions.items() if not any("" in one.split(" ") for one in own)}
    assert sum(one.split() != one.split(" ") for own in chosen.values() for one in own) > 5
    # All images are scored, and those with empty tokens are not looked at: what stands in them stays there.
    found = sacrecap.score(
        {image: own[1:] for image, own in captions.items()},
        {image: own[0] for image, own in captions.items()},
        "rouge-l",
        tokenizer="none",
        interval=None,
    )["rouge-l"]
    scores = dict(zip(captions, found.per_image.tolist(), strict=True))
    _, wanted = rouge_l([own[0] for own in chosen.values()], [own[1:] for own in chosen.values()])
    assert [scores[image] for image in chosen] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.java
def test_twenty_thousand_real_captions_against_the_live_tokenizer(shared: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java")
    coco = json.loads((shared / "data/coco-val2017/captions_val2017.json").read_text())["annotations"]
    flickr = (shared / "data/flickr8k/Flickr8k.token.txt").read_text(encoding="utf-8").splitlines()
    captions = [row["caption"].strip() for row in coco] + [line.split("\t")[1] for line in flickr if "\t" in line]
    chosen = random.Random(0).sample(captions, 20_000)
    [wanted] = suite.tokens({"all": chosen}).values()
    streamed = sacrecap.tokenize(chosen, tokenizer="ptb-stream")
    assert [" ".join(tokens) for tokens in streamed] == wanted
