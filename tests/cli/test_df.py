"""`sacrecap df`: what is built, imported and merged is what the library makes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable

import pytest

import sacrecap
from runner import Runner
from sacrecap import DocumentFrequency, example

Write = Callable[[str, object], str]


def test_build_and_info(run: Runner, references: str) -> None:
    assert run.ok("df", "build", references, "-o", "a.df") == ""
    built = DocumentFrequency.build(example.references())
    assert DocumentFrequency.load(run.folder / "a.df") == built
    assert json.loads(run.ok("df", "info", "a.df", "--format", "json")) == {
        "images": 60,
        "n-grams": built.ngrams,
        "words": built.words,
        "n": 4,
        "tokenizer": "ptb",
        "stem": False,
    }
    assert run.ok("df", "info", "a.df").splitlines() == [
        "images     60",
        f"n-grams    {built.ngrams:,}",
        f"words      {built.words}",
        "n          4",
        "tokenizer  ptb",
        "stem       no",
    ]


def test_build_on_an_engine(run: Runner, references: str) -> None:
    pytest.importorskip("pyarrow")
    for given in ([], ["--stem", "--n", "2"]):
        run.ok("df", "build", references, "-o", "a.df", *given)
        run.ok("df", "build", references, "-o", "b.df", "--engine", "stream", *given)
        assert (run.folder / "a.df").read_bytes() == (run.folder / "b.df").read_bytes()


def test_build_with_options(run: Runner, references: str) -> None:
    run.ok("df", "build", references, "-o", "a.df", "--n", "2", "--stem", "--tokenizer", "whitespace", "--threads", "2")
    expected = DocumentFrequency.build(example.references(), n=2, stem=True, tokenizer="whitespace")
    assert DocumentFrequency.load(run.folder / "a.df") == expected
    for n in ("0", "5", "x"):
        assert "'--n'" in run.refused("df", "build", references, "-o", "b.df", "--n", n)
    for command in ("build", "import", "merge"):
        assert run.refused("df", command, references) == "give -o FILE, the file to write"


def test_build_from_standard_input_to_standard_output(run: Runner, references: str) -> None:
    run.ok("df", "build", references, "-o", "a.df")
    process = run.start("df", "build", references, "--output", "-")
    assert process.communicate()[0] == (run.folder / "a.df").read_bytes()
    run.ok("df", "build", "-", "-o", "b.df", stdin=example.references_path().read_bytes())
    assert (run.folder / "b.df").read_bytes() == (run.folder / "a.df").read_bytes()


def test_build_from_a_split(run: Runner, write: Write) -> None:
    images = [
        {"cocoid": number, "split": split, "sentences": [{"raw": f"{split} words"}, {"raw": "and more"}]}
        for number, split in enumerate(["train", "train", "val"])
    ]
    run.ok("df", "build", write("dataset.json", {"images": images}), "--split", "train", "-o", "a.df")
    frequencies = DocumentFrequency.load(run.folder / "a.df")
    assert (frequencies.documents, frequencies.count(["train"]), frequencies.count(["val"])) == (2, 2, 0)


def test_merging_shards_is_counting_all(run: Runner, write: Write, references: str) -> None:
    rows = list(example.references().items())
    for name, shard in (("a", rows[:20]), ("b", rows[20:45]), ("c", rows[45:])):
        run.ok("df", "build", write(f"{name}.json", dict(shard)), "-o", f"{name}.df")
    run.ok("df", "merge", "a.df", "b.df", "c.df", "-o", "merged.df")
    run.ok("df", "build", references, "-o", "whole.df")
    assert DocumentFrequency.load(run.folder / "merged.df") == DocumentFrequency.load(run.folder / "whole.df")
    run.ok("df", "merge", "a.df", "-o", "copy.df")
    assert DocumentFrequency.load(run.folder / "copy.df").documents == 20


def test_an_imported_pickle_scores(run: Runner, write: Write, references: str, candidates: str) -> None:
    counts: dict[tuple[str, ...], float] = {}
    for captions in example.references().values():
        tokens = sacrecap.tokenize(captions)
        grams = {tuple(t[i : i + n]) for t in tokens for n in range(1, 5) for i in range(len(t) - n + 1)}
        for gram in grams:
            counts[gram] = counts.get(gram, 0.0) + 1.0
    content = pickle.dumps({"document_frequency": counts, "ref_len": 60})
    assert run.ok("df", "import", write("coco.p", content), "-o", "coco.df") == ""
    facts = json.loads(run.ok("df", "info", "coco.df", "--format", "json"))
    assert (facts["images"], facts["n-grams"], facts["tokenizer"]) == (60, len(counts), "unknown")
    score = ["score", references, candidates, "--format", "json", "--interval", "none"]
    own, given = (json.loads(run.ok(*score, *df))["scores"] for df in ([], ["--df", "coco.df"]))
    assert given == own


def test_each_metric_takes_the_frequencies_that_fit(run: Runner, references: str, candidates: str) -> None:
    """Those of word forms and those of stems, together: Vedantam et al. (2015), Fig. 6."""
    run.ok("df", "build", references, "-o", "forms.df")
    run.ok("df", "build", references, "--stem", "-o", "stems.df")
    both = ["--df", "stems.df", "--df", "forms.df"]
    names = ["--metrics", "cider-d(n=1), cider-paper(only=1), bleu-1(stem=yes)", "--format", "json"]
    for command in (["score", references, candidates, "--interval", "none"], ["score", references, "--rank", "all"]):
        own, given = (json.loads(run.ok(*command, *names, *df)) for df in ([], both))
        assert given == own or given["scores"] == own["scores"]
    signatures = json.loads(run.ok("score", references, candidates, *names, *both, "--interval", "none"))["signatures"]
    for name, metric in (("forms", "cider-d(n=1)"), ("stems", "cider-paper(only=1)")):
        checksum = sacrecap.DocumentFrequency.load(run.folder / f"{name}.df").checksum
        assert f"|df:{checksum}(60)|" in signatures[metric]
