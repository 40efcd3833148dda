"""What people meet first: names that complete, scores that show their value, and messages in their own words."""

from __future__ import annotations

import importlib
import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from command_line import run, write  # noqa: F401
from runner import Runner
from sacrecap import example
from sacrecap.data import read_both, read_candidates, read_caption_sets, read_references
from sacrecap.engines import EngineOptions
from sacrecap.errors import (
    DataError,
    SacrecapError,
    SacrecapWarning,
    UsageError,
    first_of,
    option,
    words_of_command_line,
)
from sacrecap.judgments import agreement, read_judgments
from sacrecap.resources.needs import Given
from sacrecap.rewards import CaptionReward
from sacrecap.scoring.score import ScoreOptions

REFERENCES = {"1": ["a dog runs", "a brown dog"], "2": ["a red bus"], "3": ["two cats sit"]}
CANDIDATES = {"1": "a dog", "2": "a bus", "3": "two cats"}
Call = Callable[[], object]


def score(metrics: Any = "rouge-l", candidates: Any = CANDIDATES, **options: Any) -> sacrecap.Result:
    return sacrecap.score(REFERENCES, candidates, metrics, **options)


# Public names

PUBLIC = (
    "compat",
    "data",
    "engines",
    "errors",
    "example",
    "huggingface",
    "judgments",
    "metrics",
    "report",
    "rewards",
    "vision",
)


@pytest.mark.parametrize("name", ["", *(f".{name}" for name in PUBLIC)])
def test_public_modules_show_public_names_alone(name: str) -> None:
    module = importlib.import_module(f"sacrecap{name}")
    assert dir(module) == sorted(module.__all__)
    for public in module.__all__:
        getattr(module, public)
    with pytest.raises(AttributeError, match=f"module 'sacrecap{name}' has no attribute 'scores'"):
        module.scores  # noqa: B018


def test_what_the_reference_names_is_public() -> None:
    pages = Path("docs/reference/python.md").read_text(encoding="utf-8")
    modules = {name for name in re.findall(r"`sacrecap\.([a-z]+)`", pages) if not hasattr(sacrecap.score, name)}
    functions = {*sacrecap.__all__} - {*PUBLIC}
    entry_points = {"commands", "metrics"}
    assert modules - functions - entry_points - {"torchmetrics"} <= {*PUBLIC}


# Results


def test_a_score_that_no_image_has() -> None:
    with pytest.warns(SacrecapWarning, match="labels of objects are not in the vocabulary"):
        result = sacrecap.score(
            {"1": ["running"]}, {"1": "a dog"}, "chair-recall", objects={"1": ["sky"]}, interval=None
        )
    found = result["chair-recall"]
    assert math.isnan(found.value)
    assert str(found) == "nan (no image has a score)"


def test_results_are_one_line_and_complete_their_keys() -> None:
    systems = example.systems()
    result = sacrecap.score(example.references(), systems["careful"], "rouge-l, cider-d")
    values = f"rouge-l {result['rouge-l']:.4f}, cider-d {result['cider-d']:.4f}"
    assert repr(result) == f"<Result of 60 images: {values}>"
    assert result._ipython_key_completions_() == ["rouge-l", "cider-d"]
    comparison = sacrecap.compare(example.references(), systems, "rouge-l, cider-d", samples=200)
    assert repr(comparison).startswith(f"<Comparison on 60 images: careful: {values}; plain: rouge-l ")
    assert comparison._ipython_key_completions_() == ["careful", "plain", "template"]
    sets = sacrecap.diversity({"1": ["a dog", "a cat"]}, metrics="distinct", interval=None)
    assert repr(sets) == "<Diversity of 1 image: sets: distinct 1.0000>"
    assert repr(sets["sets"]) == "<sets, 1 image: distinct 1.0000>"
    assert sets._ipython_key_completions_() == ["sets"]
    assert sets["sets"]._ipython_key_completions_() == ["distinct"]


def test_agreement_is_one_line(tmp_path: Path) -> None:
    rows = [
        {"image_id": image, "caption": caption, "references": ["a dog runs"], "rating": rating}
        for image, caption, rating in (("1", "a dog", 3), ("2", "a dog runs", 5), ("3", "a bus", 1))
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = agreement(tmp_path / "r.jsonl", "rouge-l", interval=None)
    assert re.fullmatch(r"<Agreement on ratings: rouge-l: kendall_b 1\.0000, .*>", repr(found)), repr(found)


@pytest.mark.parametrize(
    "name", ["cider-d", "cider", "ciderd", "CIDEr", "Cider_D", "cider-d(sigma=6)", "CIDEr-D(sigma=6.0)", " cider-d "]
)
def test_what_was_asked_is_found_in_every_spelling(name: str) -> None:
    result = score(name, interval=None)
    assert name in result
    assert result[name] is result["cider-d"] is result.get(name)
    comparison = sacrecap.compare(REFERENCES, {"a": CANDIDATES, "b": CANDIDATES}, name, samples=20, alpha=0.5)
    assert comparison.ranking(name) == ["a", "b"]
    assert comparison.pair("b", "a", name) == comparison.pair("a", "b", "cider-d").turned()
    assert comparison.ranks(name) == {"a": (1, 2), "b": (1, 2)}


@pytest.mark.parametrize("name", ["bleu-4", "cider-d(sigma=5)", "coco", "nonsense", "", 5, None])
def test_what_was_not_scored_is_not_found(name: Any) -> None:
    result = score("rouge-l, cider-d", interval=None)
    assert name not in result
    assert result.get(name) is None
    with pytest.raises(KeyError, match="was not scored; scored: rouge-l, cider-d"):
        result[name]


def test_pairs_and_systems_that_are_not_there() -> None:
    comparison = sacrecap.compare(REFERENCES, {"a": CANDIDATES, "b": CANDIDATES}, "rouge-l", samples=20, alpha=0.5)
    for wrong, message in (
        (lambda: comparison["c"], "^no system is called 'c'; there are: a, b$"),
        (lambda: comparison.pair("a", "a", "rouge-l"), "^no pair of 'a' and 'a'; compared: a, b$"),
        (lambda: comparison.pair("a", "b", "cider-d"), "^'cider-d' was not scored; scored: rouge-l$"),
    ):
        with pytest.raises(KeyError, match=message):
            wrong()


# Wrong calls

WRONG: dict[str, tuple[Call, type[Exception], str]] = {
    "an unknown name": (
        lambda: score("cider-d", document_frequency="coco-tran"),
        DataError,
        r"^coco-tran: no such file, .* a file with sacrecap\.DocumentFrequency\.build\(references\)\.save\(FILE\)$",
    ),
    "frequencies as a dict": (
        lambda: score("cider-d", document_frequency={"a": 1}),
        UsageError,
        "^document_frequency must be 'corpus', a name, the path of a file or a sacrecap.DocumentFrequency, got a dict$",
    ),
    "frequencies of a reward": (
        lambda: sacrecap.CiderDReward("corpus"),
        UsageError,
        "needs document frequencies of the whole training split",
    ),
    "systems in a list": (
        lambda: sacrecap.compare(REFERENCES, [CANDIDATES, CANDIDATES]),
        UsageError,  # type: ignore[arg-type]
        "^the systems were given as a list; give them by their names, as {'a': …, 'b': …}$",
    ),
    "systems one by one": (
        lambda: sacrecap.compare(REFERENCES, CANDIDATES, CANDIDATES),
        UsageError,
        "^the systems were given one by one",
    ),
    "paths one by one": (
        lambda: sacrecap.compare(REFERENCES, "a.json", "b.json"),
        UsageError,  # type: ignore[arg-type]
        "^the systems were given as a str",
    ),
    "no metrics": (lambda: score(None), UsageError, "^a metric is a name or a sacrecap.metrics.Metric, got None$"),
    "a number as metric": (lambda: score(["rouge-l", 5]), UsageError, "got 5$"),
    "samples as text": (
        lambda: score(samples="10"),
        UsageError,
        "^samples must be a whole number of at least 1, got '10'$",
    ),
    "no samples": (lambda: score(samples=0), UsageError, "^samples must be a whole number of at least 1, got 0$"),
    "samples in part": (lambda: score(samples=1.5), UsageError, "whole number of at least 1, got 1.5$"),
    "too many samples": (lambda: score(samples=2**64), UsageError, r"^samples must be below 2\*\*64, got "),
    "interval as text": (lambda: score(interval="0.9"), UsageError, "^interval must be a number, got '0.9'$"),
    "threads below 0": (
        lambda: score(threads=-1),
        UsageError,
        "^threads must be a whole number of at least 0, got -1$",
    ),
    "threads of a corpus": (lambda: sacrecap.Corpus(REFERENCES, CANDIDATES, threads=-1), UsageError, "^threads must"),
    "threads of references": (lambda: sacrecap.References(REFERENCES, threads=-1), UsageError, "^threads must"),
    "threads of tokens": (lambda: sacrecap.tokenize(["a"], threads=-1), UsageError, "^threads must"),
    "threads of a reward": (lambda: CaptionReward(REFERENCES, threads=-1), UsageError, "^threads must"),
    "one text": (lambda: sacrecap.tokenize("a dog."), DataError, "^the captions are one text, 'a dog.'; give a list"),
    "on_extra": (lambda: score(on_extra="skip"), UsageError, "^unexpected keyword argument 'on_extra'; candidates"),
    "on_duplicate": (
        lambda: score(on_duplicate="first"),
        UsageError,
        "on_duplicate=VALUE of sacrecap.data.read_candidates",
    ),
    **{
        name: (
            lambda name=name: score(**{name: "x"}),
            UsageError,  # type: ignore[misc]
            f"^unexpected keyword argument '{name}'; read the file first, with {name}=VALUE of sacrecap.data.read_",
        )
        for name in ("id_column", "caption_column", "references_column", "image_ids", "split", "format")
    },
    "a slip": (
        lambda: score(document_frequencies="corpus"),
        TypeError,
        "^unexpected keyword argument 'document_frequencies' .did you mean 'document_frequency'[?].; ",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls_get_an_answer(what: str) -> None:
    call, kind, message = WRONG[what]
    with pytest.raises(kind, match=message) as raised:
        call()
    assert isinstance(raised.value, SacrecapError)


def test_document_frequencies_as_the_command_line_takes_them(tmp_path: Path) -> None:
    counts = sacrecap.DocumentFrequency.build({**REFERENCES, "4": ["a dog"]})
    counts.save(tmp_path / "four.df")
    usual = score("cider-d", interval=None)["cider-d"]
    assert score("cider-d", interval=None, document_frequency="corpus")["cider-d"].signature == usual.signature
    assert score("cider-d", interval=None, needs={"document_frequency": "corpus"})["cider-d"].value == usual.value
    given = score("cider-d", interval=None, document_frequency=counts)["cider-d"].value
    assert given != usual.value
    for named in (str(tmp_path / "four.df"), tmp_path / "four.df"):
        assert score("cider-d", interval=None, document_frequency=named)["cider-d"].value == given
        systems = {"a": CANDIDATES, "b": CANDIDATES}
        compared = sacrecap.compare(
            REFERENCES, systems, "cider-d", document_frequency=named, samples=20, alpha=0.5, interval=None
        )
        assert compared["b"]["cider-d"].value == given
        reward = CaptionReward(REFERENCES, document_frequency=named)
        assert sum(reward([*CANDIDATES.values()], [*CANDIDATES])) / 3 == pytest.approx(given)
    # A keyword replaces what `needs` has.
    needs = sacrecap.Needs({"document_frequency": str(tmp_path / "four.df")})
    assert score("cider-d", interval=None, needs=needs)["cider-d"].value == given
    assert score("cider-d", interval=None, needs=needs, document_frequency="corpus")["cider-d"].value == usual.value


# Messages speak Python in Python, and the command line's words there


def python_messages(folder: Path) -> list[Call]:
    """Calls whose messages name an option; each raises or warns."""
    rows = folder / "rows.json"
    rows.write_text(json.dumps([{"picture": 1, "text": "a"}, {"picture": 2, "text": "b"}]), encoding="utf-8")
    twice = folder / "twice.json"
    twice.write_text(json.dumps([{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]), encoding="utf-8")
    (folder / "judged.jsonl").write_text("{}\n", encoding="utf-8")
    stems = sacrecap.DocumentFrequency.build(REFERENCES, stem=True)
    short = sacrecap.DocumentFrequency.build(REFERENCES, n=2)
    few = {"a": CANDIDATES, "b": CANDIDATES}
    return [
        *(call for call, _, _ in WRONG.values()),
        lambda: score(candidates={"1": "a"}),
        lambda: score(candidates={**CANDIDATES, "4": "a"}),
        lambda: score(candidates={"9.jpg": "a", **{f"{image}.jpg": text for image, text in CANDIDATES.items()}}),
        lambda: score("vifidel"),
        lambda: score("chair-i"),
        lambda: score("clipscore"),
        lambda: score("self-cider"),
        lambda: score("cider-d", document_frequency=stems),
        lambda: score("cider-d", document_frequency=short),
        lambda: short.merge(stems),
        lambda: sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "cider-d"),
        lambda: sacrecap.compare(REFERENCES, {"a": CANDIDATES}),
        lambda: sacrecap.compare(REFERENCES, few, "rouge-l", test="bootstrap", samples=20, alpha=0.5),
        lambda: sacrecap.diversity({"1": ["a", "b"]}, metrics="cider-d"),
        lambda: sacrecap.diversity({name: {"1": ["a", "b"]} for name in few}, metrics="self-cider", interval=None),
        lambda: score(tokenizer="ptb-stream", engine="stream"),
        lambda: EngineOptions(workers=0),
        lambda: read_caption_sets(rows),
        lambda: read_references(rows, id_column="image"),
        lambda: read_candidates(twice),
        lambda: read_both(twice),
        lambda: read_judgments(folder / "judged.jsonl"),
        lambda: agreement(folder / "judged.jsonl", draws=3),
    ]


FLAG = re.compile(r"(?<![\w-])--[a-z]")


def test_messages_of_calls_have_no_flags(tmp_path: Path) -> None:
    said = 0
    for call in python_messages(tmp_path):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                call()
            except SacrecapError as error:
                texts = [str(error)]
            else:
                texts = []
        texts += [str(one.message) for one in warned if issubclass(one.category, SacrecapWarning)]
        assert texts, "this call should say something"
        for text in texts:
            assert not FLAG.search(text), text
        said += len(texts)
    assert said >= len(WRONG) + 25
    notes = score("cider-d").notes
    assert any("interval_method=" in note for note in notes)
    assert any('document_frequency="coco-train"' in note for note in notes)
    assert not any(map(FLAG.search, notes))
    document = score("cider-d").to_dict()["notes"]  # that of the command, whoever asks for it
    with words_of_command_line():
        assert document == score("cider-d").notes != notes


KEYWORDS = {
    *Given.__annotations__,
    *ScoreOptions.__annotations__,
    *EngineOptions.__annotations__,
    "image_ids",
    "on_duplicate",
    "on_extra",
    "split",
    "caption_column",
    "dataset",
    "captions",
    "categories",
    "test",
    "engine",
}
KEYWORD = re.compile(rf"\b(?:{'|'.join(KEYWORDS)})=")


def test_messages_of_commands_have_no_keywords(
    run: Runner,  # noqa: F811
    write: Callable[[str, object], str],  # noqa: F811
) -> None:
    references, candidates = write("r.json", REFERENCES), write("c.json", CANDIDATES)
    few, more = write("few.json", {"1": "a"}), write("more.json", {**CANDIDATES, "4": "a"})
    other = write("other.json", {"9.jpg": "a", **{f"{image}.jpg": text for image, text in CANDIDATES.items()}})
    rows = write("rows.json", [{"picture": 1, "text": "a"}, {"picture": 2, "text": "b"}])
    twice = write("twice.json", [{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}])
    judged = write("judged.jsonl", "{}\n")
    for arguments in (
        ("score", references, few),
        ("score", references, more),
        ("score", references, other),
        ("score", references, rows),
        ("score", references, twice),
        ("score", references, candidates, "--metrics", "vifidel"),
        ("score", references, candidates, "--metrics", "chair-i"),
        ("score", references, candidates, "--metrics", "clipscore"),
        ("score", references, candidates, "--df", "coco-tran"),
        ("score", references, candidates, "--engine", "stream", "--tokenizer", "ptb-stream"),
        ("compare", references, candidates),
        ("diversity", references, "--metrics", "cider-d"),
        ("agreement", judged),
    ):
        message = run.refused(*arguments)
        assert not KEYWORD.search(message), message
    noted = run.here("score", references, candidates, "--metrics", "cider-d")
    assert "--interval jackknife" in noted.stdout + noted.stderr
    assert not KEYWORD.search(noted.stdout + noted.stderr)
    assert "choose --on-missing skip" in run.refused("score", references, few)
    assert "or choose --on-extra skip" in run.refused("score", references, more)
    assert "sacrecap df build" in run.refused("score", references, candidates, "--df", "coco-tran")
    with pytest.raises(DataError, match='choose on_missing="skip"'):  # the door is closed behind the command
        score(candidates={"1": "a"})


def test_an_option_in_both_spellings() -> None:
    def spellings(*arguments: Any, **named: Any) -> tuple[str, str]:
        with words_of_command_line():
            command = option(*arguments, **named)
            with words_of_command_line(False):
                python = option(*arguments, **named)
            assert option(*arguments, **named) == command
        assert option(*arguments, **named) == python
        return python, command

    assert spellings("on_missing", "skip") == ('on_missing="skip"', "--on-missing skip")
    assert spellings("test", "a", "b") == ('test="a" or "b"', "--test a or b")
    assert spellings("document_frequency", "NAME", flag="--df") == ("document_frequency=NAME", "--df NAME")
    assert spellings("plan", True) == ("plan=True", "--plan")
    assert spellings("samples", 4) == ("samples=4", "--samples 4")
    assert spellings("split", of="the readers") == ("split of the readers", "--split")


def test_the_door_closes_after_an_error() -> None:
    with pytest.raises(KeyError), words_of_command_line():
        raise KeyError
    assert option("resume") == "resume"


def test_five_names_are_a_message_whole_and_of_six_one_is_left_out() -> None:
    assert first_of(["a", "b", "c", "d", "e"]) == "a, b, c, d, e"
    assert first_of([1, 2, 3, 4, 5, 6]) == "1, 2, 3, 4, 5, …"
