"""Metrics of other packages: written in Python, registered or found by entry point, and then like any other."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.metrics import Bleu, Combine, Metric, PythonMetric, Ready, parameter, registry

EXAMPLE = Path(__file__).parents[2] / "examples" / "length-ratio"
PACKAGE = (EXAMPLE / "length_ratio.py").read_text()


def declared(**own: Any) -> type[PythonMetric]:
    """A metric class with all declarations, and these."""
    facts = {
        "title": "Mine",
        "summary": "It is mine.",
        "equation": "1",
        "source": "a test",
        "upper": 1.0,
        "nothing": {},
    }
    return type("Mine", (PythonMetric,), {**facts, **own})


class PythonBleu(PythonMetric):
    """BLEU-1 without the closest reference's length: sums of matches and lengths, then a formula."""

    title: ClassVar[str] = "Python-Precision"
    summary: ClassVar[str] = "The candidate's words are in a reference."
    equation: ClassVar[str] = "matches / words"
    source: ClassVar[str] = "Papineni et al. 2002"
    upper: ClassVar[float | None] = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0"}

    def statistics(self, corpus: sacrecap.Corpus, ready: Ready) -> list[tuple[float, float]]:
        rows = []
        for image in corpus.image_ids:
            [candidate], references = corpus.texts(image)
            known = {word for reference in references for word in reference.split()}
            words = candidate.split()
            rows.append((float(sum(word in known for word in words)), float(len(words))))
        return rows

    def formula(self, sums: Any) -> float:
        return sums[0] / sums[1] if sums[1] else 0.0


def test_statistics_and_formula_are_all_that_scores_intervals_and_tests_need() -> None:
    references, systems = example.references(), example.systems()
    result = sacrecap.score(references, systems["careful"], [PythonBleu(), "bleu-1"], interval=0.9)
    own = result[PythonBleu()]
    texts = [result.corpus.texts(image) for image in result.image_ids]
    counts = np.array(
        [
            (sum(w in " ".join(references).split() for w in candidate.split()), len(candidate.split()))
            for [candidate], references in texts
        ]
    )
    assert own.value == counts[:, 0].sum() / counts[:, 1].sum()
    np.testing.assert_array_equal(own.per_image, counts[:, 0] / counts[:, 1])
    assert own.interval is not None
    assert own.interval[0] < own.value < own.interval[1]
    assert own.signature.startswith("python-precision|images:60/60|refs:5@")
    comparison = sacrecap.compare(references, systems, [PythonBleu()], samples=200)
    assert len(comparison.pairs) == len(systems) * (len(systems) - 1) // 2
    assert comparison.ranking("python-precision")[0] in systems


def test_the_draws_are_those_of_native_metrics() -> None:
    """ROUGE-L's scores fed back through Python give ROUGE-L's interval and p to the bit."""
    references, systems = example.references(), example.systems()

    def fed_back(self: PythonMetric, corpus: sacrecap.Corpus, ready: Ready) -> Any:
        scores = sacrecap.score(corpus, metrics="rouge-l", interval=None)["rouge-l"].per_image
        return np.stack([scores, np.ones_like(scores)], axis=1)

    again = declared(statistics=fed_back)()
    comparison = sacrecap.compare(references, systems, [again, "rouge-l"], samples=300)
    for pair in comparison.pairs:
        if pair.metric == "mine":
            native = comparison.pair(pair.a, pair.b, "rouge-l")
            assert (pair.delta, pair.interval, pair.p) == (native.delta, native.interval, native.p)


def test_a_registered_metric_is_named_like_any_other() -> None:
    namespace: dict[str, Any] = {"__name__": "lengths"}
    exec(PACKAGE, namespace)  # noqa: S102
    kind: type[Metric] = namespace["LengthRatio"]
    sacrecap.metrics.register(kind, groups=["lengths"])
    sacrecap.metrics.register(kind, groups=["lengths"])  # once more changes nothing
    result = sacrecap.score(example.references(), example.systems()["careful"], "lengths, length-ratio(power=2)")
    assert list(result) == ["length-ratio", "length-ratio(power=2)"]
    assert result["length-ratio(power=2)"].value < result["length-ratio"].value
    judged = sacrecap.judgments.agreement(
        sacrecap.judgments.Ratings(
            "ratings",
            "here",
            [sacrecap.judgments.judged_rows.Row(str(n), ["a dog runs"], n) for n in range(4)],
            ["a dog runs", "a dog", "dog", "a"],
            [(4.0,), (3.0,), (2.0,), (1.0,)],
            4,
        ),
        "length-ratio",
        interval=None,
    )
    assert judged.measured[0].statistics["kendall_b"].value > 0
    varied = example.caption_sets()["varied"]
    sets = sacrecap.diversity(varied, example.references(), accuracy="length-ratio", interval=None)
    [system] = list(sets.values())
    assert 0 < system["accuracy"].value <= 1
    assert "Length-Ratio(power=2)" in str(result)


@pytest.mark.parametrize(
    ("metric", "groups", "message"),
    [
        (declared(), ["coco"], "group 'coco' is sacrecap's own"),
        (declared(title="BLEU-4"), [], "there is a metric or group of that name already"),
        (declared(title="COCO"), [], "there is a metric or group of that name already"),
        (declared(title="Mine!"), [], "must be lower-case letters, digits and hyphens"),
        (type("Bare", (PythonMetric,), {"title": "Bare"}), [], "Bare does not declare summary"),
        (int, [], "a metric must be a sacrecap.metrics.Metric"),
    ],
)
def test_what_cannot_be_registered(metric: Any, groups: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.metrics.register(metric, groups)
    with pytest.raises(UsageError, match="unknown metric"):
        registry.parse_metrics("mine")


def score_mine(**own: Any) -> None:
    sacrecap.score({"1": ["a"], "2": ["b"]}, {"1": "a", "2": "b"}, [declared(**own)()])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1.0, 1.0)], r"shape \(1, 2\); they must be 2 rows, one per candidate"),
        ([(1.0,), (1.0, 2.0)], "are not rows of numbers"),
        ([("x", 1.0), ("y", 1.0)], "are not rows of numbers"),
        ([(1.0, 1.0), (float("nan"), 1.0)], "the statistics of image '2' are nan, 1.0; they must be finite numbers"),
        ([(1.0, 1.0, 1.0), (1.0, 1.0, 1.0)], "rows of 3 numbers need a formula"),
        ([], r"shape \(0,\)"),
    ],
)
def test_unusable_statistics_are_named(rows: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"^mine: .*{message}"):
        score_mine(statistics=lambda self, corpus, ready: rows)


def test_what_a_metric_raises_names_it() -> None:
    def fails(self: Any, sums: Any) -> float:
        raise ZeroDivisionError("in the formula")

    def unusable(self: Any, sums: Any) -> float:
        return float("inf")

    def no_number(self: Any, sums: Any) -> float:
        return float("nan")

    def rows(self: Any, corpus: Any, ready: Any) -> Any:
        return [(1.0,)] * len(corpus)

    here = re.escape(f"mine (module {__name__}) raised ")
    with pytest.raises(DataError, match=here + r"ZeroDivisionError at .*python_metric.py, line \d+: in the formula"):
        score_mine(statistics=rows, formula=fails)
    with pytest.raises(DataError, match=r"mine: its formula gave inf for \[2.0\]; it must give a finite number"):
        score_mine(statistics=rows, formula=unusable)
    with pytest.raises(DataError, match=r"mine: its formula gave nan for \[2.0\]; it must give a finite number"):
        score_mine(statistics=rows, formula=no_number)
    with pytest.raises(DataError, match=here + "NotImplementedError.* defines neither score_caption nor statistics"):
        score_mine()


def test_a_metric_that_changes_with_the_batch_is_not_believed() -> None:
    def of_the_longest(self: Any, corpus: sacrecap.Corpus, ready: Any) -> Any:
        lengths = [len(corpus.texts(image)[0][0].split()) for image in corpus.image_ids]
        return [(length / max(lengths), 1.0) for length in lengths]

    references = {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["d"]}
    candidates = {"1": "a b c d", "2": "b", "3": "c d", "4": "d e f g"}
    bad = declared(statistics=of_the_longest)()
    with pytest.raises(DataError, match=r"gives image '3' \(0.5, 1.0\) among 4 images and \(1.0, 1.0\) alone"):
        sacrecap.score(references, candidates, [bad])
    meant = declared(statistics=of_the_longest, trained_on_references=True)()
    assert sacrecap.score(references, candidates, [meant], interval=None)["mine"].value == 0.6875


def test_a_metric_takes_what_it_needs_without_anybody_between_knowing() -> None:
    def ready(self: Metric, corpus: sacrecap.Corpus, needs: sacrecap.Needs) -> Ready:
        colours = needs.get("colours")
        if colours is None:
            raise UsageError("mine needs colours")
        return Ready(corpus._core, signature=(f"colours:{len(colours)}",), own=set(colours))

    def statistics(self: Metric, corpus: sacrecap.Corpus, ready: Ready) -> list[tuple[float, float]]:
        return [(float(any(w in ready.own for w in corpus.texts(i)[0][0].split())), 1.0) for i in corpus.image_ids]

    mine = declared(needs=("references", "colours"), ready=ready, statistics=statistics)()
    references, candidates = {"1": ["a red bus"], "2": ["a dog"]}, {"1": "a red bus", "2": "a dog"}
    result = sacrecap.score(references, candidates, [mine], needs={"colours": ["red", "blue"]}, interval=None)
    assert result["mine"].value == 0.5
    assert "|colours:2|" in result["mine"].signature
    compared = sacrecap.compare(references, {"a": candidates, "b": candidates}, [mine], needs={"colours": ["red"]})
    assert compared["a"]["mine"].value == 0.5
    again = sacrecap.score(references, candidates, mine, needs={"colours": ["dog"]}, interval=None)
    assert again[mine.key].value == 0.5
    with pytest.raises(UsageError, match="mine needs colours"):
        sacrecap.score(references, candidates, [mine])
    with pytest.raises(UsageError, match="no metric of this call needs 'colors'; they need: colours, references"):
        sacrecap.score(references, candidates, [mine], needs={"colours": ["red"], "colors": ["red"]})
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'object' .did you mean 'objects'.."):
        sacrecap.score(references, candidates, object={})  # type: ignore[call-arg]


def test_a_combination_takes_metrics_of_both_kinds() -> None:
    """Written in Python, with a formula of its own, and native: alone, nested, pickled."""
    references, systems = example.references(), example.systems()
    combined = Combine(Combine(PythonBleu(), Bleu(n=4), weights=(1, 3)), Bleu(n=1), weights=(2, 1))
    result = sacrecap.score(references, systems["careful"], [combined, PythonBleu(), "bleu-4", "bleu-1"])
    mine, python, four, one = (result[key] for key in result)
    assert mine.value == pytest.approx((2 * (python.value + 3 * four.value) / 4 + one.value) / 3, rel=1e-12)
    assert mine.per_image == pytest.approx((2 * (python.per_image + 3 * four.per_image) / 4 + one.per_image) / 3)
    again = pickle.loads(pickle.dumps(result))[mine.metric.key]
    assert (again.value, again.interval) == (mine.value, mine.interval)
    assert again.per_image.tolist() == mine.per_image.tolist()


def installed(folder: Path, entry: str, code: str = PACKAGE) -> dict[str, str]:
    """A package with that entry point, as an installation leaves it; the environment that sees it."""
    (folder / "lengths.py").write_text(code)
    info = folder / "lengths-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lengths\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sacrecap.metrics]\nlength-ratio = {entry}\n")
    return seen_from(folder)


def seen_from(folder: Path) -> dict[str, str]:
    """The environment in which Python finds the packages of a folder."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths)}


def test_an_installed_package_adds_a_metric_to_the_command_line(run: Runner, tmp_path: Path) -> None:
    """The example of the repository, as `pip` installs it."""
    source, site = tmp_path / "source", tmp_path / "site"
    shutil.copytree(EXAMPLE, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", "--target", site, source], check=True)
    environment = seen_from(site)
    files = example.references_path(), example.system_path("careful")
    ended = run("score", *files, "--metrics", "length-ratio(power=2),coco", "--format", "csv", env=environment)
    assert ended.status == 0, ended.stderr
    scored = [line.split(",")[0] for line in ended.stdout.splitlines()]
    assert scored[-1] == "cider-d"
    assert [name for name in scored if "length-ratio" in name] == ["length-ratio(power=2)"], "it is not in coco"
    listing = run("metrics", env=environment).stdout
    _, _, added = listing.partition("From package length-ratio 0.1:\n")
    assert sorted(line.split()[0] for line in added.splitlines()[:2]) == ["length-ratio", "shared-words"]


def test_a_broken_package_is_named_and_hurts_nobody_else(run: Runner, tmp_path: Path) -> None:
    environment = installed(tmp_path, "lengths:Missing")
    files = example.references_path(), example.system_path("careful")
    assert run("score", *files, "--metrics", "rouge-l", env=environment).stderr == ""
    ended = run("score", *files, "--metrics", "length-ratio", env=environment)
    assert ended.status == 2
    assert "the metric 'length-ratio' of the package lengths cannot be loaded" in ended.stderr
    assert "unknown metric 'length-ratio'" in ended.stderr


def test_people_are_scored_against_the_others_captions() -> None:
    """As the accuracy of caption sets: a caption of theirs is not among the references that it is compared with."""
    listed = declared(score_caption=lambda self, candidate, references: float(candidate in references))
    words = declared(score_caption=lambda self, candidate, references: len(candidate.split()) / len(references))
    references = {"1": ["a dog", "a dog runs", "dogs"], "2": ["a bus", "a bus"]}
    sets = {"1": ["a dog", "cats"], "2": ["a bus", "a bus"]}
    found = sacrecap.diversity(sets, references, accuracy=listed(), interval=None)
    assert found.human is not None
    assert found.human["accuracy"].per_image.tolist() == [0, 1]
    found = sacrecap.diversity(sets, references, accuracy=words(), interval=None)
    assert found.human is not None
    assert found.human["accuracy"].per_image.tolist() == [1, 2]


def test_parameters_of_a_python_metric_are_checked_and_printed() -> None:
    mine = declared(power=parameter("exponent", default=1.0, above=0.0))
    assert str(mine(power=2)) == "Mine(power=2)"
    with pytest.raises(UsageError, match="power must be a number above 0"):
        mine(power=0)


def test_one_needs_reads_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrecap.resources import objects_of_images

    read: list[object] = []
    original = objects_of_images.objects_by_image
    monkeypatch.setattr(objects_of_images, "objects_by_image", lambda *given: read.append(given) or original(*given))
    needs = sacrecap.Needs({"objects": example.objects_path()})
    for _ in range(2):
        sacrecap.compare(example.references(), example.systems(), "vifidel", needs=needs, interval=None, samples=100)
    assert len(read) == 1


def test_warnings_point_at_the_callers_line() -> None:
    with pytest.warns(SacrecapWarning) as caught:
        sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "cider-d", interval=None)
    line = sys._getframe().f_lineno - 1
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, line)]


def test_a_family_is_the_title_unless_it_is_declared() -> None:
    assert declared(title="Of Mine")().family == "of mine"
    assert declared(title="Of Mine", family="of-mine")().name == "of-mine"
