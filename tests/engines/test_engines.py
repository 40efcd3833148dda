"""Every engine says what `local` says: scores, intervals, findings, tests, groups, to the letter of the JSON."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pa = pytest.importorskip("pyarrow")

from made_rows import Made, two_inputs

import sacrecap
from runner import Runner
from sacrecap.corpus import corpus as corpus_module
from sacrecap.engines import EngineOptions, calls, sources
from sacrecap.engines.passes import Plan
from sacrecap.errors import DataError, SacrecapWarning, UsageError, warn
from sacrecap.metrics import PythonMetric
from sacrecap.metrics.base import Ready
from sacrecap.metrics.cider import CiderD
from sacrecap.resources.needs import Needs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sacrecap._core import Captions
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.scoring.result import Result

ENGINES = ["stream", pytest.param("ray", marks=pytest.mark.ray)]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine; Ray on the tests' cluster."""
    if request.param == "ray":
        pytest.importorskip("ray")
        request.getfixturevalue("cluster")
    return str(request.param)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROWS", 16)


CORPUS = Made(5, 150)


def _scored(engine: Any, candidates: Any, metrics: Any, **how: Any) -> tuple[Result, list[str]]:
    """The result, and what was warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", SacrecapWarning)
        result = sacrecap.score(CORPUS.references, candidates, metrics, engine=engine, **how)
    return result, [str(warning.message) for warning in warned if issubclass(warning.category, SacrecapWarning)]


@pytest.mark.parametrize(
    "metrics",
    [
        "coco",
        "consensus",
        "bleu-4, cider-d(sigma=5), cider-paper(n=2)",
        "cider-d, cider-d(n=2)",
        "wmd",
        "sentence, sentence(references=best), combine(sentence, cider-d)",
        "fluency",
        "fluency(n=2), cider-d, combine(fluency(own=yes), rouge-l), fluency(n=4)",
    ],
)
def test_scores(engine: str, metrics: str) -> None:
    (whole, told), (found, told_of_pieces) = (_scored(one, CORPUS.a, metrics, samples=40) for one in ("local", engine))
    assert found.to_dict() == whole.to_dict()
    assert told_of_pieces == told
    assert ("have a vector" in str(told)) == (metrics == "wmd")
    assert str(found) == str(whole)
    assert found.image_ids == whole.image_ids
    for key, score in whole.items():
        assert found[key].per_image.tobytes() == score.per_image.tobytes()
    assert found.corpus.captions("image 7") == (CORPUS.a["image 7"], CORPUS.references["image 7"])


@pytest.mark.filterwarnings("ignore:with 60 samples no p")
@pytest.mark.parametrize("how", [{}, {"test": "bootstrap"}, {"test": "permutation"}, {"interval": None}], ids=str)
def test_comparisons_separate_the_same_pairs(engine: str, how: dict[str, Any]) -> None:
    """Of twelve systems, which differ little by little."""
    images = list(CORPUS.references)
    systems = {
        f"s{n}": {i: CORPUS.a[i] if k % 12 < n else f"{CORPUS.a[i]} x" for k, i in enumerate(images)} for n in range(12)
    }
    whole = sacrecap.compare(CORPUS.references, systems, "rouge-l, cider-d", samples=60, **how)
    found = sacrecap.compare(CORPUS.references, systems, "rouge-l, cider-d", samples=60, engine=engine, **how)
    assert found.to_dict() == whole.to_dict()
    assert found.ranks("cider-d") == whole.ranks("cider-d")
    assert how or any(pair.significant for pair in found.pairs)


def test_standardised_scores_are_those_of_all_systems(engine: str) -> None:
    metrics = "combine(z(rouge-l), 0.5*z(cider-d)), rouge-l"
    whole = sacrecap.compare(CORPUS.references, CORPUS.systems, metrics, samples=20)
    found = sacrecap.compare(CORPUS.references, CORPUS.systems, metrics, samples=20, engine=engine)  # type: ignore[arg-type]
    assert found.to_dict() == whole.to_dict()
    assert found.to_dict()["standard"]


@pytest.mark.parametrize("how", [{"interval_method": "jackknife"}, {"interval": 0.9, "seed": 4}], ids=str)
def test_ways_to_tell_uncertainty(engine: str, how: dict[str, Any]) -> None:
    whole = sacrecap.score(CORPUS.references, CORPUS.a, "rouge-l, cider-d", samples=40, **how)
    found = sacrecap.score(CORPUS.references, CORPUS.a, "rouge-l, cider-d", samples=40, engine=engine, **how)
    assert found.to_dict() == whole.to_dict()


def test_without_intervals_statistics_are_added_up(engine: str) -> None:
    whole = sacrecap.score(CORPUS.references, CORPUS.a, "bleu-4, rouge-l, cider-d", interval=None)
    found = sacrecap.score(CORPUS.references, CORPUS.a, "bleu-4, rouge-l, cider-d", interval=None, engine=engine)
    assert found.to_dict() == whole.to_dict()
    assert found.image_ids == found["rouge-l"].per_image.tolist() == []
    with pytest.raises(UsageError, match=r"were added up, and not kept; score with intervals, or with Engine"):
        found.by({"image 1": "x"})
    kept = sacrecap.score(
        CORPUS.references, CORPUS.a, "rouge-l", interval=None, engine=EngineOptions(engine, rows=True)
    )
    groups = {image: image[-1] for image in CORPUS.references}
    assert (
        kept.by(groups).to_dict()
        == sacrecap.score(CORPUS.references, CORPUS.a, "rouge-l", interval=None).by(groups).to_dict()
    )


@pytest.mark.parametrize("on_missing", ["zero", "skip"])
def test_images_without_a_candidate(engine: str, on_missing: Any) -> None:
    some = {image: caption for number, (image, caption) in enumerate(CORPUS.a.items()) if number % 9}
    systems = {"a": some, "b": CORPUS.b}
    how: Any = {"metrics": "rouge-l, cider-d", "samples": 20, "on_missing": on_missing}
    whole, found = (sacrecap.score(CORPUS.references, some, engine=e, **how) for e in ("local", engine))
    assert found.to_dict() == whole.to_dict()
    whole, found = (sacrecap.compare(CORPUS.references, systems, engine=e, **how) for e in ("local", engine))
    assert found.to_dict() == whole.to_dict()
    with pytest.raises(DataError, match="no candidate for 17 images"):
        sacrecap.score(CORPUS.references, some, "rouge-l", engine=engine)  # type: ignore[arg-type]


def test_odd_captions_are_found(engine: str) -> None:
    odd = ["a dog <unk>", '{"caption": "a dog"}', "", "# A *dog*", "ein Hund", "a dog runs"]
    captions = {image: odd[place % len(odd)] for place, image in enumerate(CORPUS.references)}
    found = sacrecap.score(CORPUS.references, captions, "rouge-l, spice", interval=None, engine=engine)
    whole = sacrecap.score(CORPUS.references, captions, "rouge-l, spice", interval=None)
    assert {"token", "json", "empty"} <= {one.kind for one in found.findings}
    assert found.to_dict() == whole.to_dict()


def test_captions_are_compared_in_the_same_sample(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the smallest hashes of all images, of whichever piece."""
    for module in (corpus_module, calls):
        monkeypatch.setattr(module, "SAMPLE", 20)
    alike = {
        image: "a dog runs" if place % 3 == 0 else CORPUS.a[image] for place, image in enumerate(CORPUS.references)
    }
    whole, found = (
        sacrecap.score(CORPUS.references, alike, "rouge-l", samples=20, engine=e) for e in ("local", engine)
    )
    assert "same-caption" in {one.kind for one in found.findings}
    assert found.to_dict() == whole.to_dict()


@pytest.mark.filterwarnings("ignore:one image is a corpus")
@pytest.mark.parametrize("images", [1, 15, 16, 17, 33])
def test_pieces_end_where_they_may(engine: str, images: int, tmp_path: Path) -> None:
    described = dict(list(CORPUS.references.items())[:images])
    rows = [{"image_id": i, "references": own, "candidate": CORPUS.a[i]} for i, own in described.items()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    captions = {image: CORPUS.a[image] for image in described}
    whole = sacrecap.score(described, captions, "cider-d", samples=20)
    for given in ((described, captions), (tmp_path / "rows.jsonl", None)):
        found = sacrecap.score(*given, metrics="cider-d", samples=20, engine=engine)
        assert found.to_dict() == whole.to_dict()


def test_ids_of_another_spelling(engine: str) -> None:
    renamed = {f"photos/{image}.jpg": caption for image, caption in CORPUS.a.items()}
    found = sacrecap.score(CORPUS.references, renamed, "rouge-l", samples=20, engine=engine)  # type: ignore[arg-type]
    assert "ids" in {one.kind for one in found.findings}
    assert found.to_dict() == sacrecap.score(CORPUS.references, renamed, "rouge-l", samples=20).to_dict()


@pytest.mark.filterwarnings("ignore:Intervals of")
def test_commands_print_the_same(engine: str, run: Runner) -> None:
    """Of two files, of one that holds both, with groups, each image's scores and a report, and of a column a system."""
    described, own = two_inputs(CORPUS, run.folder)
    rows = CORPUS.write(run.folder / "rows", files=4, row_group=20)
    lines = [
        {"image_id": i, "references": r, "a": CORPUS.a[i], "b": CORPUS.b[i], "domain": i[-1]}
        for i, r in CORPUS.references.items()
    ]
    (run.folder / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    how = ["--metrics", "rouge-l,cider-d", "--samples", "20", "--format", "json", "-q"]
    for given in (
        ["score", described, own],
        ["score", rows, "--caption-column", "a"],
        ["score", rows, "--caption-column", "a", "--interval", "none"],
        ["score", "rows.jsonl", "--caption-column", "a", "--by", "domain", "--interval", "none"],
        ["score", "rows.jsonl", "--caption-column", "a", "--by", "domain"],
        ["compare", "rows.jsonl", "--caption-column", "a", "--caption-column", "b"],
        ["compare", rows, "--caption-column", "a", "--caption-column", "b"],
    ):
        whole, found = (run.here(*given, *how, "--engine", one) for one in ("local", engine))
        assert whole.status == found.status == 0, found.stderr
        assert json.loads(found.stdout) == json.loads(whole.stdout), given
    for one in ("local", engine):
        files = ["--per-image", f"{one}.csv", "--report", f"{one}.html", "--interval", "none"]
        assert run.here("score", rows, "--caption-column", "a", *how, *files, "--engine", one).status == 0
    for suffix in ("csv", "html"):
        assert (run.folder / f"{engine}.{suffix}").read_bytes() == (run.folder / f"local.{suffix}").read_bytes()


@pytest.mark.filterwarnings("ignore:Intervals of")
def test_captions_alone(engine: str, run: Runner) -> None:
    """Of one file, where no metric needs references."""
    rows = [{"image_id": "1", "caption": "a dog runs"}, {"image_id": "2", "caption": "a cat on a sofa"}]
    (run.folder / "c.json").write_text(json.dumps(rows))
    (run.folder / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run.folder / "o.json").write_text(json.dumps([{"image_id": n, "objects": ["dog", "cat"]} for n in ("1", "2")]))
    how = ["--objects", "o.json", "--metrics", "chair-i(gold=objects)", "--samples", "20", "--format", "json", "-q"]
    printed = {
        run.ok("score", file, *how, "--engine", one) for file in ("c.json", "c.jsonl") for one in ("local", engine)
    }
    assert len(printed) == 1
    document = json.loads(printed.pop())
    assert document["scores"] == {"chair-i(gold=objects)": pytest.approx(1 / 3)}
    assert "|refs:" not in document["signatures"]["chair-i(gold=objects)"]
    assert "not known to hold references" in run.refused("score", "c.json", "--metrics", "rouge-l", "--engine", engine)


ODD_ROWS: list[dict[str, Any]] = [
    {"candidate": None},
    {"candidate": []},
    {"candidate": ["a dog", "a cat"]},
    {"candidate": 5},
    {"candidate": "dog " * 5000},
    {"references": None},
    {"references": [None, "a dog"]},
    {"references": [["a dog"]]},
    {"references": [], "candidate": None},
    {"image_id": None},
    {"image_id": "41"},  # twice in a piece
    {"image_id": "90"},  # twice in two pieces
]


@pytest.mark.parametrize("odd", ODD_ROWS, ids=lambda odd: json.dumps(odd)[:40])
def test_one_odd_row_of_a_hundred(engine: str, odd: dict[str, Any], run: Runner) -> None:
    """Numbers, findings and messages are those of `local`, of one file and of two."""
    rows: list[dict[str, Any]] = [
        {"image_id": str(n), "references": [f"a dog runs {n % 7}", f"one dog {n % 5}"], "candidate": f"a dog {n % 6}"}
        for n in range(100)
    ]
    rows[40] |= odd
    (run.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("references", "candidate"):
        lines = [json.dumps({"image_id": row["image_id"], name: row[name]}) + "\n" for row in rows]
        (run.folder / f"{name}.jsonl").write_text("".join(lines))
    for files in (["rows.jsonl"], ["references.jsonl", "candidate.jsonl"]):
        for on_missing in ("error", "zero"):
            _check_same(run, engine, "score", *files, "--interval", "none", "--on-missing", on_missing)


def _check_same(run: Runner, engine: str, *arguments: str) -> None:
    """Status, JSON with its findings, and messages."""
    how = ["--metrics", "rouge-l", "--samples", "20", "--format", "json"]
    whole, found = (run.here(*arguments, *how, "--engine", one) for one in ("local", engine))
    assert (found.status, found.stdout) == (whole.status, whole.stdout), arguments
    assert sorted(found.stderr.splitlines()) == sorted(whole.stderr.splitlines()), arguments


ODD_FILES: dict[str, Callable[[int, str, list[str]], Mapping[str, Any]]] = {
    "some are null": lambda n, c, r: {"candidate": None if n % 3 == 0 else c},
    "some are no list": lambda n, c, r: {"candidate": [] if n in (3, 70) else c},
    "a whole piece is no list": lambda n, c, r: {"candidate": [] if 32 <= n < 48 else c},
    "some are several": lambda n, c, r: {"candidate": [c, "x"] if n in (3, 70) else c},
    "all are several": lambda n, c, r: {"candidate": [c] * 5},
    "all are null": lambda n, c, r: {"candidate": None},
    "numbers": lambda n, c, r: {"candidate": n},
    "words for nothing": lambda n, c, r: {"candidate": "N/A" if n % 3 else c},
    "one and the same": lambda n, c, r: {"candidate": "a dog" if n % 4 else c},
    "a beginning": lambda n, c, r: {"candidate": f"Caption: {c}"},
    "thoughts": lambda n, c, r: {"candidate": f"<think>so</think> {c}" if n % 10 == 3 else c},
    "lists as text": lambda n, c, r: {"candidate": f"['{c}']"},
    "JSON as text": lambda n, c, r: {"candidate": json.dumps({"caption": c})},
    "a leak": lambda n, c, r: {"candidate": r[0]},
    "of the next image": lambda n, c, r: {
        "candidate": f"v{n + 1} w{n + 1} x{n + 1}",
        "references": [f"v{n} w{n} x{n}"],
    },
    "long": lambda n, c, r: {"candidate": "dog on a mat " * 30},
    "lines": lambda n, c, r: {"candidate": f"{c}\nand {c}"},
    "references that are null": lambda n, c, r: {"references": [None, *r] if n % 5 == 0 else r},
    "no references": lambda n, c, r: {"references": None},
    "equal references": lambda n, c, r: {"references": [r[0]] * 2},
    "one reference": lambda n, c, r: {"references": r[0]},
    "references in a list": lambda n, c, r: {"references": [r]},
    "ids twice": lambda n, c, r: {"image_id": str(n // 2)},
    "ids that come again": lambda n, c, r: {"image_id": str(n % 60)},
    "names of files": lambda n, c, r: {"image_id": f"COCO_{n:012}.jpg"},
    "ids that are floats": lambda n, c, r: {"image_id": float(n)},
}


@pytest.mark.parametrize("odd", ODD_FILES)
def test_many_odd_rows(engine: str, odd: str, run: Runner) -> None:
    """In one file and in two, also of a comparison: all engines say the same."""
    rows: list[dict[str, Any]] = []
    for n in range(100):
        caption, references = f"a dog {n % 6}", [f"a dog runs {n % 7}", f"one dog {n % 5}"]
        row = {"image_id": str(n), "references": references, "candidate": caption}
        rows.append({**row, **ODD_FILES[odd](n, caption, references)})
    (run.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, of in {"references": "references", "a": "candidate", "b": "candidate"}.items():
        lines = [{"image_id": row["image_id"], of: "a dog runs" if name == "b" else row[of]} for row in rows]
        (run.folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _check_same(run, engine, "score", "rows.jsonl")
    _check_same(run, engine, "score", "rows.jsonl", "--interval", "none", "--on-missing", "zero")
    _check_same(run, engine, "score", "rows.jsonl", "--on-missing", "skip")
    _check_same(run, engine, "score", "references.jsonl", "a.jsonl")
    _check_same(run, engine, "compare", "references.jsonl", "a.jsonl", "b.jsonl")
    _check_same(run, engine, "compare", "references.jsonl", "a.jsonl", "b.jsonl", "--on-missing", "zero")


def test_a_disk_without_room_for_what_is_needed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    rows = [{"image_id": n, "references": ["a dog", "one dog"], "candidate": "a dog"} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(sources.tempfile, "TemporaryFile", full)
    with pytest.raises(
        DataError, match="needed twice cannot be put there: No space left on device; free some space, or"
    ):
        sacrecap.score(tmp_path / "rows.jsonl", metrics="cider-d", engine="stream")
    assert sacrecap.score(tmp_path / "rows.jsonl", metrics="rouge-l", engine="stream", interval=None)["rouge-l"] == 1


@pytest.mark.parametrize("stem", [False, True])
def test_document_frequencies(engine: str, stem: bool) -> None:
    references = {**CORPUS.references, "undescribed": []}
    expected = sacrecap.DocumentFrequency.build(references, stem=stem, n=3)
    found = EngineOptions(engine).document_frequency(references, tokenizer="ptb", n=3, stem=stem)  # type: ignore[arg-type]
    assert found == expected


def test_frequencies_of_a_file(engine: str, tmp_path: Path) -> None:
    """Workers need not have it."""
    file = tmp_path / "own.df"
    sacrecap.DocumentFrequency.build(CORPUS.references).save(file)
    given = sacrecap.DocumentFrequency.load(file)
    assert not Plan((CiderD(),), Needs({"document_frequency": given})).orders  # nothing is counted again
    expected = sacrecap.score(CORPUS.references, CORPUS.a, "cider-d", document_frequency=given, interval=None)
    file.rename(tmp_path / "elsewhere.df")
    found = sacrecap.score(
        CORPUS.references, CORPUS.a, "cider-d", document_frequency=given, interval=None, engine=engine
    )
    assert found.to_dict() == expected.to_dict()


class CommonWords(PythonMetric):
    """The share of a caption's words that are in a reference of any image. It learns from all references together."""

    title: ClassVar[str] = "Common-words"
    summary: ClassVar[str] = "The candidate's words are those of the references of any image."
    equation: ClassVar[str] = "|c ∩ W| / |c|"
    source: ClassVar[str] = "this test"
    upper: ClassVar[float | None] = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0"}
    trained_on_references: ClassVar[bool] = True

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        if corpus.whole is not None:
            words = corpus.whole.learnt[self]
        else:
            words = {word for image in corpus.image_ids for one in corpus.captions(image)[1] for word in one.split()}
        return Ready(corpus._core, own=words)

    def statistics(self, corpus: Corpus, ready: Ready) -> list[tuple[float, float]]:
        captions = [corpus.texts(image)[0][0].split() for image in corpus.image_ids]
        return [(sum(word in ready.own for word in own) / max(len(own), 1), 1.0) for own in captions]


class InParts(CommonWords):
    """The same, which can learn part by part."""

    title: ClassVar[str] = "In-Parts"

    def learner(self, needs: Needs, *, memory: int) -> Vocabulary:
        return Vocabulary()


class Vocabulary:
    """The words of references."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def add(self, references: Captions, encoded: object, threads: int) -> None:
        for image in references.image_ids:
            self._words |= {word for one in references.captions(image) for word in one.split()}

    def merge(self, other: Vocabulary) -> None:
        self._words |= other._words

    def finish(self) -> set[str]:
        return self._words


def test_a_metric_from_elsewhere_that_learns_part_by_part() -> None:
    candidates = {image: f"{caption} unheard" for image, caption in CORPUS.a.items()}
    whole = sacrecap.score(CORPUS.references, candidates, [InParts()], samples=40)
    found = sacrecap.score(CORPUS.references, candidates, [InParts()], samples=40, engine="stream")
    assert found.to_dict() == whole.to_dict()
    assert 0.5 < found["in-parts"].value < 1


class Wary(InParts):
    """The same, which says of the captions what is odd."""

    title: ClassVar[str] = "Wary"

    def statistics(self, corpus: Corpus, ready: Ready) -> list[tuple[float, float]]:
        warn("a caption is odd")
        warn(f"the caption of {corpus.image_ids[0]} is odd")
        return super().statistics(corpus, ready)


def test_what_is_said_of_several_pieces_is_said_once() -> None:
    _, told = _scored("stream", CORPUS.a, [Wary()], interval=None)
    assert told == ["a caption is odd", *(f"the caption of image {first} is odd" for first in range(0, 150, 16))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": [CommonWords()]}, "common-words learns from the references of all images together"),
        ({"tokenizer": "ptb-stream"}, "ptb-stream reads all captions as one text"),
    ],
)
def test_what_needs_all_images_at_once_is_refused(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"metrics": "rouge-l", "engine": "stream", **options}
    with pytest.raises(UsageError, match=message):
        sacrecap.score(CORPUS.references, CORPUS.a, **given)


def test_caption_sets_are_refused_by_name(run: Runner) -> None:
    (run.folder / "sets.json").write_text(json.dumps({"1": ["a", "b"]}))
    assert "caption sets are scored with all captions in memory; take --engine local" in run.refused(
        "diversity", "sets.json", "--engine", "stream"
    )


def test_options_that_cannot_be() -> None:
    for given in ({"name": "spark"}, {"workers": 0}):
        with pytest.raises(UsageError):
            EngineOptions(**{"name": "stream", **given})


def test_progress_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    with caplog.at_level(logging.INFO, "sacrecap.engines"):
        sacrecap.score(
            CORPUS.references,
            CORPUS.a,
            "cider-d",
            engine="stream",
            interval=None,
            progress=lambda share: told.append(share.what),  # type: ignore[attr-defined]
        )
    assert any(text.startswith("counting n-grams: 16 images, ") for text in told)
    assert any(text.startswith("scoring: 150 images, ") for text in told)
    assert [record.images for record in caplog.records] == [150, 150]  # type: ignore[attr-defined]
