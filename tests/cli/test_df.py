"""`sacrecap df`: what is built, imported and merged is what the library makes."""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Callable

import pytest

import sacrecap
from runner import Runner
from sacrecap import DocumentFrequency, example
from sacrecap.corpus.published_frequencies import PUBLISHED

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
        run.ok("df", "build", references, "-o", "b.df", "--engine", "stream(memory=1M)", *given)
        assert (run.folder / "a.df").read_bytes() == (run.folder / "b.df").read_bytes()


def test_build_with_options(run: Runner, references: str) -> None:
    run.ok("df", "build", references, "-o", "a.df", "--n", "2", "--stem", "--tokenizer", "whitespace", "--threads", "2")
    expected = DocumentFrequency.build(example.references(), n=2, stem=True, tokenizer="whitespace")
    assert DocumentFrequency.load(run.folder / "a.df") == expected
    for n in ("0", "5", "x"):
        assert "'--n'" in run.refused("df", "build", references, "-o", "b.df", "--n", n)
    message = "give either -o FILE, the file to write, or --name NAME, to find the counts again from any folder"
    assert run.refused("df", "build", references) == message
    assert run.refused("df", "build", references, "-o", "b.df", "--name", "b") == message
    assert run.refused("df", "build", references, "-o", "b.df", "--force").startswith("--force is for --name")


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
    assert "|df:forms.df(60)|" in signatures["cider-d(n=1)"]
    assert "|df:stems.df(60)|" in signatures["cider-paper(only=1)"]


def test_a_name_is_made_listed_and_scored_with(run: Runner, references: str, candidates: str) -> None:
    assert "my-train" not in run.ok("df", "list")
    assert run.ok("df", "build", references, "--name", "my-train") == ""
    run.ok("df", "build", references, "-o", "own.df")
    [named] = json.loads(run.ok("df", "list", "--format", "json"))
    checksum = f"{zlib.crc32((run.folder / 'own.df').read_bytes()[16:]):08x}"
    assert named == {
        "name": "my-train",
        "source": "references.json",
        "images": 60,
        "n": 4,
        "tokenizer": "ptb",
        "stem": False,
        "checksum": checksum,
    }
    assert run.ok("df", "list").splitlines()[3].split() == [
        "my-train",
        "60",
        "4",
        "ptb",
        "forms",
        checksum,
        "references.json",
    ]
    facts = json.loads(run.ok("df", "info", "my-train", "--format", "json"))
    assert facts == {
        **json.loads(run.ok("df", "info", "own.df", "--format", "json")),
        "source": "references.json",
        "checksum": checksum,
    }
    score = ["score", references, candidates, "--metrics", "cider-d", "--format", "json", "--df"]
    by_name, by_file = (json.loads(run.ok(*score, df)) for df in ("my-train", "own.df"))
    assert by_name["scores"] == by_file["scores"]
    assert f"|df:my-train@{checksum}(60)|" in by_name["signatures"]["cider-d"]


def test_every_command_takes_a_name(run: Runner, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "--name", "mine")
    sets = str(example.caption_set_path("varied"))
    for command in (
        ["score", references, candidates, "--metrics", "cider-d", "--format", "csv"],
        ["compare", references, candidates, str(example.system_path("plain")), "--metrics", "cider-d"],
        ["diversity", sets, "--metrics", "self-cider", "--interval", "none"],
        ["score", references, "--rank", "all", "--metrics", "cider-d"],
    ):
        assert run.ok(*command, "--df", "mine"), command
        assert "no document frequencies of this name" in run.refused(*command, "--df", "yours"), command


def test_merged_and_imported_counts_take_a_name(run: Runner, write: Write, references: str) -> None:
    run.ok("df", "build", references, "--name", "one")
    run.ok("df", "build", write("more.json", {"more": ["other words"]}), "-o", "more.df")
    run.ok("df", "merge", "one", "more.df", "--name", "both")
    run.ok("df", "import", write("coco.p", pickle.dumps({("a",): 3.0})), "--name", "coco")
    known = {named["name"]: named for named in json.loads(run.ok("df", "list", "--format", "json"))}
    assert list(known) == ["both", "coco", "one"]
    assert (known["both"]["images"], known["both"]["source"]) == (61, "one + more.df")
    assert (known["coco"]["images"], known["coco"]["source"]) == (40_504, "coco.p")


def test_a_name_is_not_replaced_without_force(run: Runner, write: Write, references: str) -> None:
    run.ok("df", "build", references, "--name", "mine")
    less = write("less.json", {"1": ["a few words", "b"], "2": ["a word more", "c"]})
    assert run.refused("df", "build", less, "--name", "mine") == (
        "there are document frequencies named mine already (60 images, from references.json); choose another name, or "
        "replace them with --force"
    )
    run.ok("df", "build", less, "--name", "mine", "--force")
    assert json.loads(run.ok("df", "info", "mine", "--format", "json"))["images"] == 2


@pytest.mark.parametrize("name", ["", "-x", "My-Train", "a/b", "train.df", "..", "x" * 65, "zürich"])
def test_what_is_no_name(run: Runner, references: str, name: str) -> None:
    message = run.refused("df", "build", references, f"--name={name}")
    assert message == (
        "a name of document frequencies is up to 64 lower-case letters, digits, - and _, the first a letter or digit; "
        f"got {name!r}"
    )
    assert "already means the references" in run.refused("df", "build", references, "--name", "corpus")


def test_an_unknown_name_says_which_there_are(run: Runner, references: str, candidates: str) -> None:
    score = ["score", references, candidates, "--df"]
    how = "make one with sacrecap df build REFERENCES --name NAME"
    assert run.refused(*score, "mine") == (
        f"mine: no such file, and no document frequencies of this name; names: {', '.join(sorted(PUBLISHED))}; {how}"
    )
    run.ok("df", "build", references, "--name", "my-train")
    run.ok("df", "build", references, "--name", "val")
    assert run.refused(*score, "my-trian") == (
        "my-trian: no such file, and no document frequencies of this name (did you mean 'my-train'?); names: "
        f"{', '.join(sorted([*PUBLISHED, 'my-train', 'val']))}; {how}"
    )


def test_a_file_and_a_name_do_not_hide_each_other(run: Runner, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "--name", "mine")
    run.ok("df", "build", references, "-o", "./mine", "--n", "2")
    for command in (["df", "info"], ["score", references, candidates, "--df"], ["df", "merge", "-o", "x.df"]):
        assert run.refused(*command, "mine") == (
            "mine is a file here and the name of document frequencies; write ./mine for the file, or work in another "
            "folder for the name"
        )
    assert json.loads(run.ok("df", "info", "./mine", "--format", "json"))["n"] == 2


def test_a_damaged_name_is_found_out(run: Runner, references: str) -> None:
    run.ok("df", "build", references, "--name", "mine")
    run.ok("df", "build", references, "-o", "other.df", "--n", "1")
    [description] = run.folder.rglob("mine.json")
    counts = description.with_suffix(".df")
    good = counts.read_bytes()
    counts.write_bytes((run.folder / "other.df").read_bytes())
    again = "make it again: sacrecap df build REFERENCES --name mine --force"
    assert run.refused("df", "info", "mine") == f"{counts}: is not what {description} describes; {again}"
    counts.write_bytes(good)
    for text in ("", "[]", '{"name": "mine"}'):
        description.write_text(text)
        assert run.refused("df", "info", "mine") == f"{description}: does not say what {counts} is; {again}"
    run.ok("df", "build", references, "--name", "mine", "--force")
    counts.write_bytes(good[:-1])
    assert str(counts) in run.refused("df", "info", "mine")
