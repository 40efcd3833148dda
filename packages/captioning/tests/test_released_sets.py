"""The caption sets that are in git: the page's tables are of them, without training; and what holds of the paper.

Scoring all sets takes half a minute of processor time: `make soak` does.
"""

from __future__ import annotations

import json
import re
import shlex
import tarfile
from pathlib import Path
from typing import Any

import pytest
from papers_order import by_weight, check_order, rises

from runner import Runner
from sacrecap.report import pictures
from sacrecap_captioning import sweep as sweep_module
from sacrecap_captioning.scenes import _karpathy, make_scenes

ROOT = Path(__file__).parents[3]
SETS = ROOT / "packages" / "captioning" / "sets"
PAGE = (ROOT / "docs" / "howto" / "train-captioners.md").read_text(encoding="utf-8")
Places = dict[tuple[str, str, str, str], dict[str, Any]]


def commands() -> list[list[str]]:
    """The sweeps of the page whose sets are in git, as its section *Without training* runs them."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    sweeps = [line for line in lines if re.match(r"sacrecap caption sweep scenes -o (quick|models|losses) ", line)]
    assert len(sweeps) == 3
    return [shlex.split(line.replace("--method ss ", "") + " --seeds 1" * ("--seeds" not in line)) for line in sweeps]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the page's commands print where the sets are there; nothing can be trained."""
    run = Runner(tmp_path_factory.mktemp("released"))
    images = run.folder / "scenes" / "images"
    images.mkdir(parents=True)
    described = make_scenes(3000)
    (run.folder / "scenes" / "dataset.json").write_text(json.dumps(_karpathy(described)))
    for scene in described:
        (images / scene.name).touch()  # nobody looks at them
    printed = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("train", "first_encoder", "caption_sets", "ProcessPoolExecutor"):
            patch.setattr(sweep_module, name, lambda *_, name=name, **__: pytest.fail(f"{name} is not needed"))
        patch.setattr(pictures, "_rendered", lambda _, format_: format_.encode())
        for _, *words in commands():
            name = words[words.index("-o") + 1]
            with tarfile.open(SETS / f"{name}.tar.xz") as tar:
                tar.extractall(run.folder, filter="data")
            ended = run.here(*words, "--format", "json")
            assert ended.status == 0, ended.stderr
            printed[name] = json.loads(ended.stdout)
            assert (run.folder / name / "pictures" / "plane.png").exists()
    return printed


def places(result: dict[str, Any]) -> Places:
    return {(one["model"], one["curve"], one["weight"], one["method"]): one for one in result["places"]}


def test_the_sets_are_few_bytes() -> None:
    assert sum(path.stat().st_size for path in SETS.iterdir()) < 5 * 2**20
    assert {path.name for path in SETS.iterdir()} == {f"{name}.tar.xz" for name in ("quick", "models", "losses")}


def row(name: str, figures: dict[str, float]) -> str:
    """A row of the page's tables."""
    numbers = [f"{figures[key]:.3f}" for key in ("accuracy", "self-cider", "f")]
    numbers.append(f"{figures['vocabulary']:,.0f}")
    return f"| {name} | {' | '.join(numbers)} |"


def weighted(weight: str) -> str:
    return "reward only" if weight == "only" else f"λ {weight}"


def means(place: dict[str, Any]) -> dict[str, float]:
    return {key: value["mean"] for key, value in place.items() if isinstance(value, dict)}


@pytest.mark.soak
def test_the_tables_of_the_page_are_of_the_sets(results: dict[str, dict[str, Any]]) -> None:
    curve = "xe + λ*cider-d"
    sampled = [
        f"{place['accuracy']['mean']:.3f}"
        for (_, _, _, method), place in places(results["quick"]).items()
        if method == "rs"
    ]
    along = f"{', '.join(sampled[:-1])} and {sampled[-1]} along λ"
    nearest = f"the nearest image {results['quick']['blind']['captions of the nearest images']['accuracy']:.3f}"
    assert f"CIDEr-D {along}, captions copied from {nearest}" in " ".join(PAGE.split())
    rows = [
        row(f"{model}, {weighted(weight)}", means(place))
        for (model, own, weight, _), place in places(results["losses"]).items()
        if own == curve and weight in ("0", "1", "5", "20", "only")
    ]
    rows += [row(who, figures) for who, figures in results["losses"]["blind"].items()]
    rows.append(row("people", results["losses"]["people"]))
    assert len(rows) == 10 + 3
    for one in rows:
        assert one in PAGE, one


@pytest.mark.soak
def test_the_quick_sweep_has_the_papers_order_in_each_seed(results: dict[str, dict[str, Any]]) -> None:
    check_order(results["quick"])
    accuracy = by_weight(results["quick"], "accuracy")
    assert len(accuracy) == 5
    assert sum(map(rises, accuracy)) == 4  # the reward alone, too


@pytest.mark.soak
def test_what_the_losses_have_of_the_paper(results: dict[str, dict[str, Any]]) -> None:
    """Figure 8: along λ accuracy rises and diversity falls; retrieval makes captions of CIDEr-D more diverse."""
    findings = {(one["model"], one["curve"]): one for one in results["losses"]["findings"]}
    for model in ("fc", "att2in"):
        along = findings[model, "xe + λ*cider-d"]
        assert (along["steps"], along["rises"], along["falls"]) == (7, 7, 7)
        assert along["smallest_vocabulary"] == "only"
    retrieval = findings["att2in", "cider-d + λ*retrieval"]
    assert (retrieval["steps"], retrieval["falls"]) == (6, 0)
