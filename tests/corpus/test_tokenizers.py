"""Tokenizers of sacreBLEU: its tokens, in every call, and its version in signatures."""

from __future__ import annotations

import json
import pickle
import sys

import pytest
import sacrebleu

import sacrecap
from command_line import run
from runner import Runner
from sacrecap import Corpus, DocumentFrequency
from sacrecap.choices import OWN_TOKENIZERS, TOKENIZERS, XM3600
from sacrecap.corpus import tokenizers
from sacrecap.errors import DataError, MissingDependencyError

__all__ = ["run"]

CAPTIONS = [
    "Ein Hund läuft am Strand, nicht wahr?",
    "一只狗在 beach 上跑。",
    "कुत्ता दौड़ता है।",
    "Two-year-old  twins' flag: 3.5 ft.\u00a0wide!",
    "&quot;a&quot; <skipped>",
    "",
    "İstanbul’da",
    "a train at platform 3. ",
]
OUTSIDE = [name for name in TOKENIZERS if name not in OWN_TOKENIZERS]
PLAIN = ["13a", "intl", "char", "zh"]
"""Those that need nothing beside sacreBLEU."""


def theirs(name: str, text: str) -> list[str]:
    """The tokens that sacreBLEU counts: its scores are of texts without blanks at their end."""
    return sacrebleu.BLEU(tokenize=name)._preprocess_segment(text).split()


@pytest.mark.parametrize("name", PLAIN)
def test_the_tokens_are_those_of_sacrebleu(name: str) -> None:
    assert sacrecap.tokenize(CAPTIONS, tokenizer=name) == [theirs(name, text) for text in CAPTIONS]
    lower = [theirs(name, text.lower()) for text in CAPTIONS]
    assert sacrecap.tokenize(CAPTIONS, tokenizer=f"{name}-lc") == lower


def test_japanese_words() -> None:
    pytest.importorskip("MeCab")
    pytest.importorskip("ipadic")
    text = "犬が海岸を走っている。"
    assert sacrecap.tokenize([text], tokenizer="ja-mecab") == [theirs("ja-mecab", text)]
    assert "犬" in theirs("ja-mecab", text)
    assert tokenizers.signed("ja-mecab-lc").startswith("ja-mecab-0.")


@pytest.mark.parametrize("name", PLAIN)
def test_every_call_cuts_alike(name: str) -> None:
    references = {str(number): [text, "ein Hund 狗"] for number, text in enumerate(CAPTIONS) if text}
    candidates = {image: CAPTIONS[(int(image) + 1) % 5] for image in references}
    cut = [
        {image: " ".join(theirs(name, text)) for image, text in candidates.items()},
        {image: [" ".join(theirs(name, text)) for text in own] for image, own in references.items()},
    ]
    metrics = "bleu-4, rouge-l, cider-d"
    expected = sacrecap.score(cut[1], cut[0], metrics, tokenizer="none", interval=None)
    corpus = Corpus(references, candidates, tokenizer=name)
    described = sacrecap.References(references, tokenizer=name)
    frequencies = DocumentFrequency.build(references, tokenizer=name)
    assert frequencies.tokenizer == name
    for given in (
        {"references": references, "candidates": candidates, "tokenizer": name},
        {"references": described, "candidates": candidates},
        {"references": references, "candidates": candidates, "tokenizer": name, "document_frequency": frequencies},
        {"references": pickle.loads(pickle.dumps(corpus))},
    ):
        found = sacrecap.score(metrics=metrics, interval=None, **given)
        assert {key: score.value for key, score in found.items()} == {
            key: score.value for key, score in expected.items()
        }
        assert f"|tok:{name}@sacrebleu-{sacrebleu.__version__}|" in found["cider-d"].signature
    sets = {image: [text, "Hund 狗"] for image, text in candidates.items()}
    set_cut = {image: [" ".join(theirs(name, text)) for text in own] for image, own in sets.items()}
    ours, plain = (
        sacrecap.diversity({"a": own}, about, metrics="self-cider, mbleu-4", tokenizer=tokenizer, interval=None)["a"]
        for own, about, tokenizer in ((sets, references, name), (set_cut, cut[1], "none"))
    )
    assert [ours[key].value for key in ("self-cider", "mbleu-4")] == [
        plain[key].value for key in ("self-cider", "mbleu-4")
    ]


def test_the_stream_and_the_preset(run: Runner) -> None:
    (run.folder / "r.json").write_text(
        json.dumps({"1": ["Ein Hund läuft.", "Ein Tier"], "2": ["Zwei Männer."]}), encoding="utf-8"
    )
    (run.folder / "c.json").write_text(json.dumps({"1": "ein Hund, läuft!", "2": "Ein Mann."}), encoding="utf-8")
    score = ["score", "r.json", "c.json", "--metrics", "rouge-l,cider-d", "--interval", "none", "--format", "json"]
    expected = json.loads(run.ok(*score, "--tokenizer", "intl-lc"))
    assert f"tok:intl-lc@sacrebleu-{sacrebleu.__version__}" in expected["signatures"]["rouge-l"]
    for more in (["xm3600-de"], ["intl-lc", "--engine", "stream"]):
        assert json.loads(run.ok(*score, "--tokenizer", *more))["scores"] == expected["scores"]
    assert "'xm3600-xx' is not one of" in run.refused(*score, "--tokenizer", "xm3600-xx")


def test_crossmodal_3600_has_36_languages() -> None:
    assert len(XM3600) == 36
    assert set(XM3600.values()) <= set(OUTSIDE)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline() -> None:
        raise OSError("no network")

    def without_mecab() -> None:
        raise RuntimeError("install it")

    tokenizers._tokenizer.cache_clear()
    for made, error, message in (
        (
            without_mecab,
            MissingDependencyError,
            r"ja-mecab needs the extra 'languages': pip install 'sacrecap\[languages\]'",
        ),
        (offline, DataError, "sacreBLEU cannot fetch its model .no network.; .* set SACREBLEU to a folder"),
    ):
        monkeypatch.setattr("sacrebleu.metrics.bleu._get_tokenizer", lambda _, made=made: made)
        with pytest.raises(error, match=message):
            sacrecap.tokenize(["a"], tokenizer="ja-mecab")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingDependencyError, match="the tokenizer zh needs the extra 'languages'"):
        sacrecap.tokenize(["a"], tokenizer="zh")
    tokenizers._tokenizer.cache_clear()
