"""The work of a sweep: an encoder, then captioners in separate processes, which write files."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

import sacrecap
from sacrecap.data.atomic import atomic_write
from sacrecap.data.writers import write_caption_sets
from sacrecap.errors import DataError, SacrecapError
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.data.features import cached_features
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.decoding.generation import run_features, run_speaker
from sacrecap_captioning.decoding.sets import make_sets, set_method
from sacrecap_captioning.names import AUTO, SMALL, WORDS, is_checkpoint
from sacrecap_captioning.sweep.plan import RETRIEVAL_MODEL, Sweep, SweepCell, SweepPlan, rewards_retrieval
from sacrecap_captioning.training.data import tokenised
from sacrecap_captioning.training.images import given_features
from sacrecap_captioning.training.pretraining import prepared_encoder
from sacrecap_captioning.training.run_folder import CONFIG, RunFolder
from sacrecap_captioning.training.settings import Settings
from sacrecap_captioning.training.train_retrieval import train_retrieval
from sacrecap_captioning.training.training import resume, train

SweepProgress = Callable[[str, int, int], None]

ENCODER, FEATURES = "encoder.pt", "features"


def prepare_encoder(sweep: Sweep, folder: Path, images: CaptionedImages, progress: SweepProgress | None) -> None:
    """The encoder of all captioners, and the features of all images that they see."""
    settings = sweep.settings(SweepCell(sweep.models[0], 0), _chosen_weights(sweep))
    if settings.train_encoder or settings.features is not None or (folder / ENCODER).exists():
        return
    train_images = images.split("train")

    def learnt(step: int, steps: int, _: float) -> None:
        if progress is not None:
            progress("teaching the encoder words: step", step, steps)

    def encoded(done: int) -> None:
        if progress is not None:
            progress("features: image", done, len(images))

    encoder = prepared_encoder(
        train_images,
        tokenised(train_images, settings.tokenizer),
        folder / FEATURES,
        name=settings.encoder,
        weights=settings.weights,
        side=settings.side,
        epochs=settings.encoder_epochs,
        device=choose_device(settings.device),
        progress=learnt,
    )
    for split in dict.fromkeys(["train", "val", sweep.split]):
        part, dtype = images.split(split), settings.features_dtype
        cached_features(part, encoder, folder / FEATURES, dtype=dtype, progress=encoded)
    with atomic_write(folder / ENCODER, "wb") as file:
        torch.save(encoder.cpu().state_dict(), file)


def run_jobs(sweep: Sweep, plan: SweepPlan, folder: Path, *, processes: int, progress: SweepProgress | None) -> None:
    """Trains and scores the missing parts: by cross-entropy, the retrieval model, then with each mixture."""
    left = [one for one in plan.captioners if not all(path.exists() for path in _scores(plan, folder, one).values())]
    starts = list(dict.fromkeys(SweepCell(one.model, one.seed) for one in left))
    needed = sweep.training.get("retrieval") is None and any(rewards_retrieval(one.loss or "xe") for one in left)
    retrieval = starts[:1] if needed and not (folder / RETRIEVAL_MODEL).exists() else []
    with ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_worker
    ) as pool:
        for what, work, jobs in (
            ("trained by cross-entropy: captioner", train_start, starts),
            ("trained: retrieval model", train_retrieval_model, retrieval),
            ("trained, sampled and scored: captioner", train_and_score, left),
        ):
            waiting = [pool.submit(work, sweep, plan, folder, job) for job in jobs]
            try:
                for done, finished in enumerate(as_completed(waiting), 1):
                    finished.result()
                    if progress is not None:
                        progress(what, done, len(jobs))
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
    images, cache, epochs = _images(sweep), folder / FEATURES, sweep.retrieval_epochs
    trained = train_retrieval(run, images=images, cache=cache, epochs=epochs, device=choose_device(run.settings.device))
    trained.model.save(folder / RETRIEVAL_MODEL)


def train_and_score(sweep: Sweep, plan: SweepPlan, folder: Path, captioner: SweepCell) -> None:
    """With its mixture; then sets by each method, and their figures."""
    start = folder / "runs" / SweepCell(captioner.model, captioner.seed).name
    run = _train(sweep, folder, captioner, sweep.reward_settings(captioner, _weights(sweep, folder), start))
    images = _images(sweep).split(sweep.split)
    for method, scores in _scores(plan, folder, captioner).items():
        sets = _sets(sweep, folder, run, images, method)
        name = scores.stem
        _make(folder / "sets")
        write_caption_sets(folder / "sets" / f"{name}.json", sets)
        result = sacrecap.diversity({name: sets}, images.references(), interval=None, threads=1)
        row = {"model": captioner.model, "loss": captioner.loss, "seed": captioner.seed, "method": method}
        _make(scores.parent)
        with atomic_write(scores) as file:
            json.dump({**row, **result[name].to_dict()}, file)


def _train(sweep: Sweep, folder: Path, captioner: SweepCell, settings: Settings) -> RunFolder:
    """The run: begins it, continues it, or finds it complete."""
    place, images, cache = folder / "runs" / captioner.name, _images(sweep), folder / FEATURES
    if (place / CONFIG).exists():
        resume(place, images=images, cache=cache, tensorboard=False)
    else:
        train(settings, place, images=images, cache=cache, tensorboard=False)
    return RunFolder.open(place)


def _sets(sweep: Sweep, folder: Path, run: RunFolder, images: CaptionedImages, method: str) -> dict[str, list[str]]:
    chosen = set_method(method)
    speaker = run_speaker(run, choose_device(run.settings.device))
    chosen.check(speaker, sweep.set_size)
    features = None
    if not (run.settings.train_encoder or chosen.alters_images):
        features = run_features(run, images, given_features(run.settings), folder / FEATURES)

    def training() -> list[list[str]]:
        return [list(c) for image in tokenised(_images(sweep).split("train"), run.settings.tokenizer) for c in image]

    return make_sets(
        chosen,
        speaker,
        images,
        features=features,
        training=training,
        captions=sweep.set_size,
        seed=run.settings.seed,
        batch=100,
    )


def _scores(plan: SweepPlan, folder: Path, captioner: SweepCell) -> dict[str, Path]:
    """By method, the file with the figures, which is written last."""
    methods = plan.methods[captioner.model]
    return {method: folder / "scores" / f"{captioner.name}-{method.replace(' ', '')}.json" for method in methods}


def score_files(plan: SweepPlan, folder: Path) -> Iterable[Path]:
    """The file with all figures of a sweep."""
    return (path for captioner in plan.captioners for path in _scores(plan, folder, captioner).values())


def _weights(sweep: Sweep, folder: Path) -> str:
    """The encoder's, for `Settings`."""
    if sweep.training.get("train_encoder") or sweep.training.get("features") is not None:
        return _chosen_weights(sweep)
    return os.fspath(folder / ENCODER)


def _chosen_weights(sweep: Sweep) -> str:
    """The weights that were asked for: words by default, of a checkpoint its own."""
    return str(sweep.training.get("weights", AUTO if is_checkpoint(sweep.training.get("encoder", SMALL)) else WORDS))


@lru_cache(maxsize=1)
def _read(data: str, choice: frozenset[tuple[str, Any]]) -> CaptionedImages:
    return Sweep(data, training=dict(choice)).read_images()


def _images(sweep: Sweep) -> CaptionedImages:
    """Read once per process."""
    names = ("images", "on_missing", "features")
    return _read(sweep.data, frozenset((name, sweep.training[name]) for name in names if name in sweep.training))


def _make(folder: Path) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made: {error.strerror}") from None


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
