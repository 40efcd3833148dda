"""The trade-off of diversity and accuracy: a grid of captioners, trained, sampled, scored and compared with people.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5.3: captioners trained
with mixtures of cross-entropy and rewards, such as L = XE + λ·L_CIDEr from cross-entropy alone (λ = 0) to the reward
alone, and the sets of captions that they make. Here:

1. an encoder, once for all (`pretraining`), and the features of all images;
2. each model, with each seed, by cross-entropy;
3. the retrieval model, where a mixture rewards captions that find their image;
4. from there, steps with each mixture;
5. caption sets of each, by each method that it can be used with, and sets that need no captioner;
6. the scores of all sets, and people's, leaving one reference out.

A sweep is a folder, which docs/reference/captioners.md describes. Finished parts are not done again: an interrupted
sweep continues where it stopped, and one whose sets are all there needs no captioner. Captioners are trained in
processes of their own, which write files.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import torch

import sacrecap
from sacrecap.data import atomic_write, write_caption_sets
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, SacrecapError, UsageError, warn
from sacrecap.report.pictures import charts, write_charts
from sacrecap.report.pictures.charts import Chart, Row
from sacrecap.report.pictures.style import Look, look
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Column, Number, Records, Table, Value, records
from sacrecap.scoring.diversity_result import SystemDiversity
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages, counted
from sacrecap_captioning.encoders import write_tensors
from sacrecap_captioning.generation import BLIND, blind_sets, caption_sets
from sacrecap_captioning.retrieval_model import train_retrieval
from sacrecap_captioning.settings import PathLike, Progress, make_folder, silent
from sacrecap_captioning.sweep_plan import (
    ONLY,
    RETRIEVAL_MODEL,
    Sweep,
    SweepCell,
    SweepPlan,
    check_sweep,
    rewards_retrieval,
)
from sacrecap_captioning.training import train
from sacrecap_captioning.training_run import RunFolder, first_encoder, frozen_features

SWEEP, ENCODER, FEATURES = "sweep.json", "encoder.pt", "features"


def run_sweep(sweep: Sweep, folder: PathLike, *, processes: int = 1, progress: Progress | None = None) -> SweepResult:
    """Runs the remaining part of a sweep, and tabulates all of it.

    So many `processes` train captioners at a time, with one thread of the CPU each; `progress` is called with the
    current step, the number done, and the number of all.

    Raises:
        UsageError: the folder is of another sweep; or a name or number that is not accepted.
        DataError: the data cannot be used, or the folder cannot be written.
    """
    place, show = Path(folder), progress or silent
    images = sweep.read_images()
    splits = {split: images.split(split) for split in ("train", "val", sweep.split)}
    plan = check_sweep(sweep, images)
    for line in plan.left_out:
        warn(line)
    left = [cell for cell in plan.captioners if not _are_there(place, plan.files(cell).values())]
    _claim(place, sweep, images.checksum, finished=not left)
    if left:
        if sweep.shares_features and not (place / ENCODER).exists():
            settings, features = sweep.settings(SweepCell(sweep.models[0], 0), sweep.weights), place / FEATURES
            encoder = first_encoder(
                splits["train"],
                settings,
                features,
                choose_device(settings.device),
                lambda _, step, steps: show("teaching the encoder words: step", step, steps),
            )
            for name, part in splits.items():
                frozen_features(part, encoder, None, features, counted(show, f"features of {name}: image", part))
            write_tensors(place / ENCODER, encoder.cpu().state_dict())
        _run_jobs(sweep, plan, place, left, processes, show)
    if not _are_there(place, BLIND.values()):
        run = RunFolder.open(place / "runs" / plan.captioners[0].name)
        for name, sets in blind_sets(images, sweep.split, sweep.set_size, run, place / FEATURES).items():
            write_caption_sets(place / SETS / BLIND[name], sets)
    return collect(sweep, plan, place, splits[sweep.split].references())


def _are_there(folder: Path, files: Iterable[str]) -> bool:
    """Whether all these sets are there. Their files are the last that is written of a captioner."""
    return all((folder / SETS / name).exists() for name in files)


def _claim(folder: Path, sweep: Sweep, checksum: str, *, finished: bool) -> None:
    """Writes down what is swept here, or makes sure that it is the same as before.

    Sets of two versions are not mixed; where all of them are there, any version made them.
    """
    settings = dataclasses.asdict(sweep)
    training = settings.pop("training")
    now = json.loads(json.dumps({"sacrecap": sacrecap.__version__, **settings, **training, "data": checksum}))
    path = folder / SWEEP
    if not path.exists():
        make_folder(folder)
        with atomic_write(path) as file:
            file.write(json.dumps(now, indent=2, ensure_ascii=False) + "\n")
        return
    try:
        before = dict(json.loads(read_bytes(path)))
    except (ValueError, TypeError):
        before = {}
    if "sacrecap" not in before:
        raise DataError(f"{path}: is not what a sweep writes; choose another folder, or remove this one")
    if finished:
        before["sacrecap"] = sacrecap.__version__
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if different:
        listed = "; ".join(f"{name}: {before.get(name)!r} there, {now.get(name)!r} now" for name in different)
        raise UsageError(f"{folder}: is of another sweep ({listed}); choose another folder, or the same settings")


def _run_jobs(
    sweep: Sweep, plan: SweepPlan, folder: Path, left: Sequence[SweepCell], processes: int, progress: Progress
) -> None:
    """Trains and samples what is left: by cross-entropy, the retrieval model, then with each mixture."""
    starts = list(dict.fromkeys(SweepCell(cell.model, cell.seed) for cell in left))
    needed = sweep.training.get("retrieval") is None and any(rewards_retrieval(cell.loss or "xe") for cell in left)
    retrieval = starts[:1] if needed and not (folder / RETRIEVAL_MODEL).exists() else []
    with ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_worker
    ) as pool:
        for what, work, jobs in (
            ("trained by cross-entropy: captioner", train_captioner, starts),
            ("trained: retrieval model", train_retrieval_model, retrieval),
            ("trained and sampled: captioner", train_captioner, left),
        ):
            waiting = [pool.submit(work, sweep, plan, folder, job) for job in jobs]
            try:
                for number, finished in enumerate(as_completed(waiting), 1):
                    finished.result()
                    progress(what, number, len(jobs))
            except BrokenProcessPool:
                raise SacrecapError(
                    "a process of the sweep was killed, perhaps because memory ran out; the same command "
                    "continues from here, with fewer --processes if necessary"
                ) from None
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def train_retrieval_model(sweep: Sweep, _: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """The model of the reward retrieval, on the data and words of a captioner that is trained."""
    run = RunFolder.open(folder / "runs" / captioner.name)
    device, epochs = choose_device(run.settings.device), sweep.retrieval_epochs
    model = train_retrieval(run, images=_images(sweep), cache=folder / FEATURES, epochs=epochs, device=device)[0]
    model.save(folder / RETRIEVAL_MODEL)


def train_captioner(sweep: Sweep, plan: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """By cross-entropy; or with its mixture, from the one by cross-entropy, and then sets by each method.

    The folder of a run is there once it is complete: one that was interrupted begins anew.
    """
    place = folder / "runs" / captioner.name
    start = None if captioner.loss is None else place.with_name(SweepCell(captioner.model, captioner.seed).name)
    if not place.exists():
        weights = os.fspath(folder / ENCODER) if sweep.shares_features else sweep.weights
        unfinished = place.with_name(f"{place.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        train(sweep.settings(captioner, weights, start), unfinished, images=_images(sweep), cache=folder / FEATURES)
        unfinished.rename(place)
    if start is None:
        return
    run = RunFolder.open(place)
    make_folder(folder / SETS)
    for method, file in plan.files(captioner).items():
        sets = caption_sets(
            run,
            _images(sweep),
            split=sweep.split,
            method=method,
            captions=sweep.set_size,
            seed=captioner.seed,
            batch=100,
            device=run.settings.device,
            cache=folder / FEATURES,
        )
        write_caption_sets(folder / SETS / file, sets)


@lru_cache(maxsize=1)
def _images(sweep: Sweep) -> CaptionedImages:
    """Read once per process."""
    return sweep.read_images()


def _begin_worker() -> None:
    """One thread; ends with a Ctrl-C and with the process that began it, quietly."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def leave_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


# The result: figures of each captioner, means over seeds, people, and whether the findings of the paper hold

SETS = "sets"
"""The folder of caption sets."""

FIGURES = {
    "accuracy": "CIDEr-D",
    "self-cider": "Self-CIDEr",
    "f": "F",
    "vocabulary": "vocabulary",
    "mbleu-mix": "mBLEU-mix",
    "div-2": "Div-2",
}
"""Figures of the tables, with their headings."""
MEASURES = {**FIGURES, "lsa": "LSA"}
"""All figures that are kept."""
PEOPLE = "people"
_WHO = ("model", "curve", "weight", "loss", "method")


@dataclass(frozen=True)
class Place:
    """A captioner of the grid, over its seeds, on one of the curves that its loss is on."""

    model: str
    curve: str
    """The curve's name: `xe + λ*cider-d`."""
    weight: str
    """λ; empty on a curve of one loss."""
    loss: str
    method: str
    figures: Mapping[str, tuple[float, ...]]
    """Of each seed."""

    @property
    def who(self) -> dict[str, str]:
        """What tells it from others."""
        return {name: getattr(self, name) for name in _WHO}

    def mean(self, figure: str) -> float:
        """Over the seeds."""
        return mean(self.figures[figure])

    def means(self) -> dict[str, float]:
        """All figures over the seeds."""
        return {figure: mean(seeds) for figure, seeds in self.figures.items()}


@dataclass(frozen=True)
class LambdaEffect:
    """The effect of λ on a model's sets by one method."""

    model: str
    curve: str
    method: str
    steps: int
    """Steps from one λ to the next, over all seeds."""
    rises: int
    """Steps at which accuracy rises; the paper's finding: all."""
    falls: int
    """Steps at which Self-CIDEr falls; the paper's finding: all."""
    smallest_vocabulary: str
    """λ of the smallest mean vocabulary; the paper's finding: the reward alone."""


@dataclass(frozen=True)
class SweepResult:
    """All of a sweep."""

    sweep: Sweep
    places: tuple[Place, ...]
    people: Place | None
    """References as caption sets, leaving one out; None where no image has two."""
    blind: tuple[Place, ...] = ()
    """Captions that need no captioner; captioners should beat them."""
    left_out: tuple[str, ...] = ()
    """For each impossible pair of the grid, a line that says why."""

    @property
    def everyone(self) -> list[Place]:
        """The captioners, captions that need none, and at last people, where they were scored."""
        return [*self.places, *self.blind, *([self.people] if self.people else [])]

    def line(self, of: Place | LambdaEffect) -> str:
        """The name of a curve of a captioner: with what is swept besides λ."""
        method = of.method if len(self.sweep.methods) > 1 else ""
        return ", ".join(filter(None, [of.model, method, of.curve if len(self.sweep.curves) > 1 else ""]))

    @property
    def findings(self) -> list[LambdaEffect]:
        """One per curve of two places or more, of each model and method."""
        curves: dict[tuple[str, str, str], list[Place]] = {}
        for place in self.places:  # in the order of λ
            curves.setdefault((place.model, place.curve, place.method), []).append(place)

        def steps(places: Sequence[Place], figure: str) -> list[float]:
            """How much the figure grows from one λ to the next, in each seed."""
            seeds = zip(*(place.figures[figure] for place in places), strict=True)
            return [later - earlier for values in seeds for earlier, later in pairwise(values)]

        return [
            LambdaEffect(
                *who,
                len(steps(curve, "accuracy")),
                sum(step > 0 for step in steps(curve, "accuracy")),
                sum(step < 0 for step in steps(curve, "self-cider")),
                min(curve, key=lambda place: place.mean("vocabulary")).weight,
            )
            for who, curve in curves.items()
            if len(curve) > 1
        ]

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the figures."""
        of_val = (
            "each captioner is the best of its checkpoints on these very images, so its accuracy is too high: score "
            "the split test, or compare with `sacrecap compare --attempts N`, N checkpoints"
        )
        return [of_val] if self.sweep.split == "val" else []

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "sacrecap": sacrecap.__version__,
            "places": [
                {
                    **place.who,
                    **{figure: {"mean": mean(seeds), "seeds": list(seeds)} for figure, seeds in place.figures.items()},
                }
                for place in self.places
            ],
            "people": self.people.means() if self.people else {},
            "blind": {place.model: place.means() for place in self.blind},
            "findings": [vars(finding) for finding in self.findings],
            "left_out": list(self.left_out),
            **({"notes": self.notes} if self.notes else {}),
        }


def collect(sweep: Sweep, plan: SweepPlan, folder: Path, references: Mapping[str, Sequence[str]]) -> SweepResult:
    """Scores the sets of a sweep that is done, and writes `results.json`."""
    files = [*BLIND.values(), *(file for cell in plan.captioners for file in plan.files(cell).values())]
    scored = sacrecap.diversity({file: folder / SETS / file for file in files}, references, interval=None)
    places = tuple(
        _place(
            [scored[plan.files(SweepCell(model, seed, point.loss))[method]] for seed in range(plan.seeds)],
            *(model, curve.name, point.weight, point.loss, method),
        )
        for model in sweep.models
        for method in plan.methods[model]
        for curve in sweep.curves
        for point in curve.points
        if point.loss in plan.losses[model]
    )
    people = None if scored.human is None else _place([scored.human], PEOPLE)
    blind = tuple(_place([scored[file]], name) for name, file in BLIND.items())
    result = SweepResult(sweep, places, people, blind, plan.left_out)
    with atomic_write(folder / "results.json") as file:
        file.write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")
    return result


def _place(systems: Sequence[SystemDiversity], model: str, *what: str) -> Place:
    """That of a captioner with the figures of its seeds; of those who have neither loss nor seeds the name alone."""
    rows = [system.to_dict() for system in systems]
    figures = {name: tuple(float(row[name]) for row in rows) for name in MEASURES}
    curve, weight, loss, method = what or ("", "", "", "")
    return Place(model, curve, weight, loss, method, figures)


def _table(result: SweepResult, *, titled: bool) -> Table:
    """One row per captioner, and one of people."""
    seeds = f", mean of {result.sweep.seeds} seeds" if result.sweep.seeds > 1 else ""
    forms = {figure: ",.0f" if figure == "vocabulary" else ".3f" for figure in FIGURES}
    rows: list[list[Value]] = [
        [name, *(Number(place.mean(figure), form) for figure, form in forms.items())]
        for name, place in _captioners(result).items()
    ]
    effects = [
        f"{result.line(effect)}: at {effect.steps} steps of λ accuracy "
        f"rises {effect.rises} times, Self-CIDEr falls {effect.falls} times; "
        f"smallest vocabulary: λ = {effect.smallest_vocabulary}"
        for effect in result.findings
    ]
    return Table(
        [Column("captioner", align="left", names=True), *map(Column, FIGURES.values())],
        rows,
        title=f"Caption sets{seeds}" if titled else "",
        notes=[*effects, *result.left_out, *(f"note: {note}" for note in result.notes)],
    )


def _records(result: SweepResult) -> Records:
    """A row per captioner and seed."""
    return records(
        (*_WHO, "seed", *MEASURES),
        [
            (*place.who.values(), seed, *figures)
            for place in result.places
            for seed, figures in enumerate(zip(*(place.figures[name] for name in MEASURES), strict=True))
        ],
    )


render = Views(
    _records, lambda result, _: [_table(result, titled=False)], lambda result, _: [_table(result, titled=True)]
).render
"""The figures, means over seeds, and the findings as text in the format of a name."""


def _captioners(result: SweepResult) -> dict[str, Place]:
    """The captioners, each once, though its loss be on several curves, by name: `fc, λ 5`, `fc, reward only`; with
    several curves `fc, xe + 5*cider-d`; with several methods `fc, λ 5, rs`; of one loss `fc`. Then captions
    that need no captioner, and at last people, where they were scored.
    """
    several, methods = len(result.sweep.curves) > 1, len(result.sweep.methods) > 1
    captioners: dict[str, Place] = {}
    for place in result.everyone:
        loss = place.loss if several else _weight(place.weight)
        captioners.setdefault(", ".join(filter(None, [place.model, loss, place.method if methods else ""])), place)
    return captioners


def _weight(weight: str) -> str:
    return "reward only" if weight == ONLY else f"λ {weight}" if weight else ""


def write_pictures(result: SweepResult, folder: PathLike) -> None:
    """Writes the planes of accuracy and diversity (Self-CIDEr, LSA), F, vocabulary, measures and ranking: PNG, SVG, and
    data as CSV.

    Measures and ranking compare captioners: they are left out of a sweep that has one and no people.

    Raises:
        DataError: the folder cannot be written in.
        MissingDependencyError: vl-convert is not installed.
    """
    captioners = [
        ({"system": name, "kind": PEOPLE if place.model == PEOPLE else "system"}, place)
        for name, place in _captioners(result).items()
    ]
    f: list[Row] = [{**row, **_bounded("f", place, "f")} for row, place in captioners]
    vocabulary: list[Row] = [
        {**row, "vocabulary": place.mean("vocabulary"), "captions": None, **_bounded("diversity", place, "self-cider")}
        for row, place in captioners
    ]
    columns = {name: name for name in ("system", "kind", "vocabulary", "captions")}
    columns |= {**_SEEDS["diversity"], "diversity": "self-cider"}
    described = [
        _plane(result, "self-cider"),
        _plane(result, "lsa"),
        Chart("f", {"system": "system", "kind": "kind", **_SEEDS["f"]}, f, "bars", charts.of_f("F"), []),
        Chart("vocabulary", columns, vocabulary, "points", charts.of_diversity("Self-CIDEr"), [charts.of_vocabulary()]),
    ]

    def means(*names: str) -> list[Row]:
        """Each captioner and people by each measure, mean over seeds."""
        return [
            {**row, "measure": MEASURES[name], "value": place.mean(name)} for name in names for row, place in captioners
        ]

    if len(captioners) > 1:
        described.append(charts.measures(means("self-cider", "lsa", "mbleu-mix", "div-2")))
        described.append(charts.ranking(means("accuracy", "self-cider", "lsa", "mbleu-mix", "div-2", "f")))
    write_charts(described, folder, dict.fromkeys(("plane", "plane-lsa"), _looks(result)))


def _looks(result: SweepResult) -> list[Look]:
    """The look of each line of the plane, and of people: a mark per model and a colour per method, where both are
    several.
    """
    sweep = result.sweep
    lines = {result.line(place): place for place in result.places}
    apart = len(sweep.models) > 1 and len(sweep.methods) > 1 and len(sweep.curves) == 1
    looks = [
        look(
            sweep.methods.index(place.method) if apart else number,
            line,
            people=False,
            mark=sweep.models.index(place.model) if apart else None,
        )
        for number, (line, place) in enumerate(lines.items())
    ]
    blind = [look(-1 - number, place.model, people=False) for number, place in enumerate(result.blind)]
    return [*looks, *blind, *([look(0, PEOPLE, people=True)] if result.people else [])]


def _plane(result: SweepResult, measure: str) -> Chart:
    """A line per captioner through a point per weight: mean, least and greatest of its seeds."""
    rows: list[Row] = []
    written: set[tuple[float, float]] = set()  # lines may share a point: its weight is written once
    for place in result.everyone:
        at = (place.mean(measure), place.mean("accuracy"))
        rows.append(
            {
                "system": result.line(place),
                "kind": PEOPLE if place is result.people else "system",
                "weight": place.weight if place.curve else None,
                "label": "" if at in written else _weight(place.weight),
                **_bounded("diversity", place, measure),
                **_bounded("accuracy", place, "accuracy"),
            }
        )
        written.add(at)
    first = measure == "self-cider"
    return Chart(
        "plane" if first else f"plane-{measure}",
        {"system": "line", "weight": "weight", **_SEEDS["diversity"], **_SEEDS["accuracy"]},
        rows,
        "lines",
        charts.of_accuracy("CIDEr-D"),
        [charts.of_diversity(MEASURES[measure])],
        "Up and right is better."
        + (" Dashed lines join places of equal F." if first else "")
        + (" Crosses are the least and the greatest of the seeds." if result.sweep.seeds > 1 else ""),
        label="label",
        beta2=5.0 if first else None,
    )


_SEEDS = {
    name: {name: name, f"{name}_lower": "least", f"{name}_upper": "greatest"} for name in ("diversity", "accuracy", "f")
}
"""Fields of a figure, and their heads in CSV files: of the seeds the mean, the least and the greatest."""


def _bounded(name: str, place: Place, figure: str) -> Row:
    """The fields of a figure; people have no seeds."""
    seeds = place.figures[figure]
    ends = (min(seeds), max(seeds)) if place.curve else (None, None)
    return {name: place.mean(figure), f"{name}_lower": ends[0], f"{name}_upper": ends[1]}
