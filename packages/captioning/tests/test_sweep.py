"""The sweep: what it refuses, that it goes on where it was, and what it says of its figures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from in_this_process import Here

from sacrecap.data import read_caption_sets
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap_captioning import sweep as sweep_module
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.sweep import MEASURES, Place, SweepResult, render, run_sweep, write_pictures
from sacrecap_captioning.sweep_plan import Sweep, SweepCell, check_sweep, read_curves

SUFFIXES = ("png", "svg", "csv")
TINY: dict[str, Any] = {
    "weights": "words",
    "hidden": 16,
    "embedding": 16,
    "steps": 4,
    "batch": 4,
    "least": 1,
    "warmup": 0,
    "device": "cpu",
    "baseline": "others",
    "encoder_epochs": 1,
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 60)
    return folder


def tiny(scenes: Path, **changes: Any) -> Sweep:
    swept = Sweep(
        str(scenes),
        models=("fc",),
        losses=("xe + {0,5,only}*cider-d",),
        seeds=1,
        set_size=3,
        reward_steps=3,
        reward_batch=4,
        retrieval_epochs=1,
        training=TINY,
    )
    return replace(swept, **changes)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of its own reads PyTorch for longer than such a sweep takes; `cli/test_caption_sweep.py` has them."""
    monkeypatch.setattr(sweep_module, "ProcessPoolExecutor", Here)


def times(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for part in ("runs", "sets") for path in (folder / part).rglob("*.*")}


def test_a_sweep_runs_and_goes_on_to_the_same_sets(scenes: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    result = run_sweep(tiny(scenes), tmp_path, progress=lambda *what: told.append(what))
    assert told[-1] == ("trained and sampled: captioner", 3, 3)
    assert [place.weight for place in result.places] == ["0", "5", "only"]
    assert result.people is not None
    assert 0 < result.people.mean("self-cider") < 1
    assert json.loads((tmp_path / "results.json").read_text()) == result.to_dict()
    typical, nearest = result.blind
    assert (typical.model, nearest.model) == ("most typical captions", "captions of the nearest images")
    assert typical.mean("vocabulary") < nearest.mean("vocabulary")
    assert 0 < typical.mean("accuracy") < result.people.mean("accuracy")
    sets = read_caption_sets(tmp_path / "sets" / "fc-xe+5cider-d-seed-0-rs.json")
    assert (sets.image_count, sets.caption_count) == (6, 18)

    before = times(tmp_path)
    assert run_sweep(tiny(scenes), tmp_path).to_dict() == result.to_dict()
    assert times(tmp_path) == before

    lost = "fc-xe+5cider-d-seed-0"
    content = (tmp_path / "sets" / f"{lost}-rs.json").read_bytes()
    (tmp_path / "sets" / f"{lost}-rs.json").unlink()
    run = tmp_path / "runs" / lost
    run.rename(run.with_name(f"{lost}.part"))  # as where its training was cut off
    assert run_sweep(tiny(scenes), tmp_path).to_dict() == result.to_dict()
    assert (tmp_path / "sets" / f"{lost}-rs.json").read_bytes() == content
    assert run.exists()
    assert not run.with_name(f"{lost}.part").exists()

    for made in ("runs", "features", "encoder.pt"):
        place = tmp_path / made
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert run_sweep(tiny(scenes), tmp_path).to_dict() == result.to_dict()  # sets are all that the figures need
    assert not (tmp_path / "runs").exists()

    with pytest.raises(UsageError, match=r"of another sweep \(reward_steps: 3 there, 4 now\); choose another folder"):
        run_sweep(tiny(scenes, reward_steps=4), tmp_path)


def test_several_methods_and_a_part_of_the_images(scenes: Path, tmp_path: Path) -> None:
    result = run_sweep(tiny(scenes, losses=("xe",), methods=("rs", "gnc"), training={**TINY, "images": 4}), tmp_path)
    assert [place.method for place in result.places] == ["rs", "gnc"]
    assert read_caption_sets(tmp_path / "sets" / "fc-xe-seed-0-gnc.json").image_count == 4
    assert result.findings == []


def test_a_folder_that_is_no_sweep_and_a_split_that_is_not_there(scenes: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("[]")
    with pytest.raises(DataError, match="is not what a sweep writes"):
        run_sweep(tiny(scenes), tmp_path)
    with pytest.raises(UsageError, match="no image is in the split 'minival'"):
        run_sweep(tiny(scenes, split="minival"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"losses": ()}, "at least one loss, such as"),
        ({"models": ()}, "at least one model"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"losses": ("xe + {0,5}*cidre-d",)}, "did you mean 'cider-d'"),
    ],
)
def test_what_is_no_sweep(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sweep("scenes", **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ("rs", "drv")}, "drv draws latent vectors, which fc does not have"),
        ({"models": ("fc", "cvae"), "methods": ("drv",)}, "drv draws latent vectors, which fc does not have"),
        ({"losses": ("xe", "evaluator")}, "only cgan learns the reward evaluator; fc has none"),
        ({"losses": ("fluency",)}, "fluency learns from the references of all images"),
        ({"training": {**TINY, "retrieval": "r.pt"}}, "r.pt: no loss of the sweep has the reward retrieval; leave"),
        ({"reward_batch": 10_000}, "a batch of 10,000 images out of .*; choose a smaller --reward-batch"),
        ({"methods": ("beam(width=3)",), "set_size": 5}, "beam"),
    ],
)
def test_what_cannot_be_trained_or_sampled_is_said_before_anything_is(
    scenes: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_sweep(tiny(scenes, **change), tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [({"models": ("gmm-cvae",)}, "these images have no object labels"), ({"losses": ("vifidel",)}, "vifidel: ")],
)
def test_what_needs_objects_is_refused_without_them(scenes: Path, change: dict[str, Any], message: str) -> None:
    sweep = tiny(scenes, **change)
    images = sweep.read_images()
    check_sweep(sweep, images)
    bare = CaptionedImages([replace(image, objects=()) for image in images], images.files)
    with pytest.raises(UsageError, match=message):
        check_sweep(sweep, bare)


def test_mixtures_and_names(scenes: Path) -> None:
    sweep = tiny(scenes, models=("fc", "att2in"), losses=("xe + {0,1,only}*rouge-l",), seeds=3)
    assert sweep.mixtures == ("xe", "xe + rouge-l", "rouge-l")
    captioners = check_sweep(sweep, sweep.read_images()).captioners
    assert len(captioners) == 18
    assert captioners[0] == SweepCell("att2in", 0, "xe")
    assert SweepCell("fc", 2, "xe + 5*cider-d").name == "fc-xe+5cider-d-seed-2"
    assert SweepCell("fc", 2).name == "fc-start-seed-2"


@pytest.mark.parametrize(
    ("text", "curves"),
    [
        ("xe + {0,5,only}*cider-d", {"xe + λ*cider-d": ["xe", "xe + 5*cider-d", "cider-d"]}),
        (" XE+{ 0, 2.0 } * CIDEr-D", {"xe + λ*cider-d": ["xe", "xe + 2*cider-d"]}),
        ("cider-d + {0,3}*retrieval", {"cider-d + λ*retrieval": ["cider-d", "cider-d + 3*retrieval"]}),
        (
            "xe + {0,5}*cider-d + {0,1}*retrieval",
            {
                "xe + λ*retrieval": ["xe", "xe + retrieval"],
                "xe + 5*cider-d + λ*retrieval": ["xe + 5*cider-d", "xe + 5*cider-d + retrieval"],
            },
        ),
        (
            "0..5@9*cider-d(sigma=5) + {1,2}*xe",
            {"0..5@9*cider-d(sigma=5) + λ*xe": ["0..5@9*cider-d(sigma=5) + xe", "0..5@9*cider-d(sigma=5) + 2*xe"]},
        ),
        ("xe + 0*cider-d", {"xe": ["xe"]}),
    ],
)
def test_braces_are_axes(text: str, curves: dict[str, list[str]]) -> None:
    assert {curve.name: [point.loss for point in curve.points] for curve in read_curves([text])} == curves


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xe + {0,many}*cider-d", "a number of at least 0, or only, got 'many'"),
        ("xe + {-1}*cider-d", "a number of at least 0, or only, got '-1'"),
        ("xe + {}*cider-d", "a number of at least 0, or only, got ''"),
        ("xe + {5,1}*cider-d", "rise, each once, only last; got 5, 1"),
        ("xe + {5,5.0}*cider-d", "rise, each once"),
        ("xe + {0,only,5}*cider-d", "rise, each once, only last"),
        ("xe + {0,5*cider-d", r"\{0,5\*cider-d is not of the form \{weight,weight\}\*name"),
        ("xe + 2*{0,5}*cider-d", "is not of the form"),
        ("xe + {0,only}*cider-d + {0,1}*retrieval", "goes with one pair of braces"),
        ("{0,1}*cider-d", "every weight is 0"),
        ("xe + {0,1}*xe", "xe occurs twice"),
    ],
)
def test_braces_that_are_no_axes(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_curves([text])


def test_pairs_and_curves_of_one_sweep(scenes: Path, tmp_path: Path) -> None:
    """Each pair that can be, and no other; a loss on two curves is trained once; the retrieval model is made once."""
    sweep = tiny(
        scenes, models=("fc", "cvae"), losses=("xe + {0,5}*cider-d", "xe + {0,1}*retrieval"), methods=("rs", "drv")
    )
    left_out = "fc with drv is left out: drv draws latent vectors, which fc does not have"
    with pytest.warns(SacrecapWarning, match=left_out):
        result = run_sweep(sweep, tmp_path)
    assert {(place.model, place.method) for place in result.places} == {("fc", "rs"), ("cvae", "rs"), ("cvae", "drv")}
    assert [line.partition(";")[0] for line in result.left_out] == [left_out]
    assert len(result.places) == 12
    losses = ("start", "xe", "xe+5cider-d", "xe+retrieval")
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        f"{model}-{loss}-seed-0" for model in ("fc", "cvae") for loss in losses
    }
    made = (tmp_path / "retrieval.pt").stat().st_mtime_ns
    (tmp_path / "sets" / "fc-xe+retrieval-seed-0-rs.json").unlink()
    with pytest.warns(SacrecapWarning, match=left_out):
        assert run_sweep(sweep, tmp_path).to_dict() == result.to_dict()
    assert (tmp_path / "retrieval.pt").stat().st_mtime_ns == made
    names = [line.split("|")[1].strip().replace("\\", "") for line in render(result, "markdown").splitlines()[2:14]]
    assert names == [
        "fc, xe, rs",
        "fc, xe + 5*cider-d, rs",
        "fc, xe + retrieval, rs",
        "cvae, xe, rs",
        "cvae, xe + 5*cider-d, rs",
        "cvae, xe + retrieval, rs",
        "cvae, xe, drv",
        "cvae, xe + 5*cider-d, drv",
        "cvae, xe + retrieval, drv",
        "most typical captions",
        "captions of the nearest images",
        "people",
    ]


def result_of(figure: Callable[[str, int], float]) -> SweepResult:
    """A sweep whose figures of each name rise or fall with the number of their λ."""
    sweep = Sweep("scenes", models=("fc",), losses=("xe + {0,5,only}*cider-d",), seeds=2)
    [curve] = sweep.curves
    places = tuple(
        Place(
            *("fc", curve.name, point.weight, point.loss, "rs"),
            {name: (figure(name, rank), figure(name, rank) + 0.01) for name in MEASURES},
        )
        for rank, point in enumerate(curve.points)
    )
    people = Place("people", "", "", "", "", dict.fromkeys(MEASURES, (0.9,)))
    return SweepResult(sweep, places, people)


def test_figures_that_do_not_change_neither_rise_nor_fall() -> None:
    [finding] = result_of(lambda name, rank: 0.5).findings
    assert (finding.steps, finding.rises, finding.falls) == (4, 0, 0)


@pytest.mark.usefixtures("undrawn")
def test_findings_and_tables(tmp_path: Path) -> None:
    result = result_of(lambda name, rank: 0.2 + 0.1 * rank if name == "accuracy" else 0.8 - 0.1 * rank)
    [finding] = result.findings
    assert (finding.steps, finding.rises, finding.falls, finding.smallest_vocabulary) == (4, 4, 4, "only")
    lines = render(result, "markdown").splitlines()
    assert lines[0].startswith("| captioner | CIDEr-D | Self-CIDEr | F |")
    assert lines[3].startswith("| fc, λ 5 | 0.305 | 0.705 |")
    assert lines[5].startswith("| people | 0.900 |")
    assert "at 4 steps of λ accuracy rises 4 times, Self-CIDEr falls 4 times; smallest vocabulary" in lines[-1]
    assert "mean of 2 seeds" in render(result, "table")
    assert "notes" not in result.to_dict()
    on_val = replace(result, sweep=replace(result.sweep, split="val"))
    [note] = on_val.to_dict()["notes"]
    assert "best of its checkpoints on these very images" in note
    assert "best of its checkpoints on these very images" in render(on_val, "markdown")
    write_pictures(result, tmp_path)
    names = ("plane", "plane-lsa", "f", "vocabulary", "measures", "ranking")
    assert {path.name for path in tmp_path.iterdir()} == {f"{n}.{suffix}" for n in names for suffix in SUFFIXES}
    [row] = [line.split(",") for line in (tmp_path / "plane.csv").read_text().splitlines() if line.startswith("fc,5")]
    assert list(map(float, row[2:])) == pytest.approx([0.705, 0.7, 0.71, 0.305, 0.3, 0.31])
