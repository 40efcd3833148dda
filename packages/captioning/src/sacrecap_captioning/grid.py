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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path

import torch

import sacrecap
from sacrecap.data import atomic_write, write_caption_sets
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, SacrecapError, UsageError, warn
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.encoders import write_tensors
from sacrecap_captioning.generation import BLIND, blind_sets, captioner_sets
from sacrecap_captioning.retrieval_model import train_retrieval
from sacrecap_captioning.run_folder import RunFolder
from sacrecap_captioning.settings import PathLike, Settings, make_folder
from sacrecap_captioning.sweep_plan import RETRIEVAL_MODEL, Sweep, SweepCell, SweepPlan, check_sweep, rewards_retrieval
from sacrecap_captioning.sweep_result import SETS, SweepResult, collect
from sacrecap_captioning.training import train
from sacrecap_captioning.training_data import first_encoder, frozen_features

SweepProgress = Callable[[str, int, int], None]
SWEEP, ENCODER, FEATURES = "sweep.json", "encoder.pt", "features"


def run_sweep(
    sweep: Sweep, folder: PathLike, *, processes: int = 1, progress: SweepProgress | None = None
) -> SweepResult:
    """Runs the remaining part of a sweep, and tabulates all of it.

    Args:
        sweep: the settings.
        folder: of the sweep; created if it does not exist.
        processes: captioners at a time, each of which has one thread of the CPU.
        progress: called with the current step, the number done, and the number of all.

    Raises:
        UsageError: the folder is of another sweep; or a name or number that is not accepted.
        DataError: the data cannot be used, or the folder cannot be written.
    """
    place = Path(folder)
    images = sweep.read_images()
    splits = {split: images.split(split) for split in ("train", "val", sweep.split)}
    plan = check_sweep(sweep, images)
    for line in plan.left_out:
        warn(line)
    report = progress or (lambda *_: None)
    left = [cell for cell in plan.captioners if not _made(place, plan.files(cell).values())]
    _claim(place, sweep, images.checksum, done=not left)
    if left:
        if sweep.shares_features and not (place / ENCODER).exists():
            _prepare_encoder(sweep, place, splits, report)
        _run_jobs(sweep, plan, place, left, processes, report)
    if not _made(place, BLIND.values()):
        run = RunFolder.open(place / "runs" / plan.captioners[0].name)
        for name, sets in blind_sets(images, sweep.split, sweep.set_size, run, place / FEATURES).items():
            write_caption_sets(place / SETS / BLIND[name], sets)
    return collect(sweep, plan, place, splits[sweep.split].references())


def _made(folder: Path, files: Iterable[str]) -> bool:
    """Whether all these sets are there. Their files are the last that is written of a captioner."""
    return all((folder / SETS / name).exists() for name in files)


def _claim(folder: Path, sweep: Sweep, checksum: str, *, done: bool) -> None:
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
    if done:
        before["sacrecap"] = sacrecap.__version__
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        listed = "; ".join(f"{name}: {before.get(name)!r} there, {now.get(name)!r} now" for name in other)
        raise UsageError(f"{folder}: is of another sweep ({listed}); choose another folder, or the same settings")


def _prepare_encoder(sweep: Sweep, folder: Path, splits: dict[str, CaptionedImages], report: SweepProgress) -> None:
    """The encoder of all captioners, and the features of all images that they see."""
    settings = sweep.settings(SweepCell(sweep.models[0], 0), sweep.weights)
    encoder = first_encoder(
        splits["train"],
        settings,
        folder / FEATURES,
        choose_device(settings.device),
        lambda _, step, steps: report("teaching the encoder words: step", step, steps),
    )
    for name, part in splits.items():
        images = len(part)

        def encoded(done: int, name: str = name, images: int = images) -> None:
            report(f"features of {name}: image", done, images)

        frozen_features(part, encoder, None, folder / FEATURES, encoded)
    write_tensors(folder / ENCODER, encoder.cpu().state_dict())


def _run_jobs(
    sweep: Sweep, plan: SweepPlan, folder: Path, left: Sequence[SweepCell], processes: int, report: SweepProgress
) -> None:
    """Trains and samples what is left: by cross-entropy, the retrieval model, then with each mixture."""
    starts = list(dict.fromkeys(SweepCell(cell.model, cell.seed) for cell in left))
    needed = sweep.training.get("retrieval") is None and any(rewards_retrieval(cell.loss or "xe") for cell in left)
    retrieval = starts[:1] if needed and not (folder / RETRIEVAL_MODEL).exists() else []
    with ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_worker
    ) as pool:
        for what, work, jobs in (
            ("trained by cross-entropy: captioner", train_start, starts),
            ("trained: retrieval model", train_retrieval_model, retrieval),
            ("trained and sampled: captioner", train_and_sample, left),
        ):
            waiting = [pool.submit(work, sweep, plan, folder, job) for job in jobs]
            try:
                for done, finished in enumerate(as_completed(waiting), 1):
                    finished.result()
                    report(what, done, len(jobs))
            except BrokenProcessPool:
                raise SacrecapError(
                    "a process of the sweep was killed, perhaps because memory ran out; the same command "
                    "continues from here, with fewer --processes if necessary"
                ) from None
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def train_start(sweep: Sweep, _: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """By cross-entropy."""
    _train(sweep, folder, captioner, sweep.settings(captioner, _weights(sweep, folder)))


def train_retrieval_model(sweep: Sweep, _: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """The model of the reward retrieval, on the data and words of a captioner that is trained."""
    run = RunFolder.open(folder / "runs" / captioner.name)
    device, epochs = choose_device(run.settings.device), sweep.retrieval_epochs
    model = train_retrieval(run, images=_images(sweep), cache=folder / FEATURES, epochs=epochs, device=device)[0]
    model.save(folder / RETRIEVAL_MODEL)


def train_and_sample(sweep: Sweep, plan: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """With its mixture; then sets by each method."""
    start = folder / "runs" / SweepCell(captioner.model, captioner.seed).name
    run = _train(sweep, folder, captioner, sweep.reward_settings(captioner, _weights(sweep, folder), start))
    make_folder(folder / SETS)
    for method, file in plan.files(captioner).items():
        sets = captioner_sets(
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


def _train(sweep: Sweep, folder: Path, captioner: SweepCell, settings: Settings) -> RunFolder:
    """The run. Its folder is there once it is complete: one that was interrupted begins anew."""
    place = folder / "runs" / captioner.name
    if not place.exists():
        unfinished = place.with_name(f"{place.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        train(settings, unfinished, images=_images(sweep), cache=folder / FEATURES)
        unfinished.rename(place)
    return RunFolder.open(place)


def _weights(sweep: Sweep, folder: Path) -> str:
    """The encoder's, for `Settings`."""
    return os.fspath(folder / ENCODER) if sweep.shares_features else sweep.weights


@lru_cache(maxsize=1)
def _read(data: str, choice: str) -> CaptionedImages:
    return Sweep(data, training=json.loads(choice)).read_images()


def _images(sweep: Sweep) -> CaptionedImages:
    """Read once per process."""
    names = ("images", "on_missing", "features")
    return _read(sweep.data, json.dumps({name: sweep.training[name] for name in names if name in sweep.training}))


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
