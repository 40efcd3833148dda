"""The trade-off of diversity and accuracy: a grid of captioners, trained, sampled, scored and compared with people.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), section 5.3: captioners trained
with mixtures of cross-entropy and rewards, such as L = XE + λ·L_CIDEr from cross-entropy alone (λ = 0) to the reward
alone, and the sets of captions that they make. Here:

1. an encoder, once for all (`pretraining`), and the features of all images;
2. each model, with each seed, by cross-entropy;
3. the retrieval model, where a mixture rewards captions that find their image;
4. from there, steps with each mixture;
5. caption sets of each, by each method that it can be used with, and their scores; people's, leaving one reference out.

A sweep is a folder. Finished parts are not done again: an interrupted sweep continues where it stopped.

    sweep.json     what is swept: other settings need another folder
    encoder.pt        features/   the encoder and its features of the images
    retrieval.pt   the retrieval model
    runs/          a folder per captioner, as of `sacrecap caption train`
    sets/          caption sets, as of `sacrecap caption generate`
    scores/        figures of each
    results.json   all figures, means over seeds, people, and whether the paper's findings hold
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sacrecap
from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.errors import DataError, UsageError, warn
from sacrecap_captioning.sweep.check import check_sweep
from sacrecap_captioning.sweep.jobs import prepare_encoder, run_jobs
from sacrecap_captioning.sweep.plan import Sweep
from sacrecap_captioning.sweep.result import SweepResult, collect

SWEEP = "sweep.json"


def run_sweep(
    sweep: Sweep, folder: PathLike, *, processes: int = 1, progress: Callable[[str, int, int], None] | None = None
) -> SweepResult:
    """Runs the remaining part of a sweep, and draws and tabulates all of it.

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
    for split in ("train", "val", sweep.split):
        images.split(split)
    plan = check_sweep(sweep, images)
    for line in plan.left_out:
        warn(line)
    _claim(place, sweep, images.checksum)
    prepare_encoder(sweep, place, images, progress)
    run_jobs(sweep, plan, place, processes=processes, progress=progress)
    return collect(sweep, plan, place, images.split(sweep.split).references())


def _claim(folder: Path, sweep: Sweep, checksum: str) -> None:
    """Writes down what is swept here, or makes sure that it is the same as before."""
    wanted = json.loads(
        json.dumps({"sacrecap": sacrecap.__version__, "data": checksum, "sweep": dataclasses.asdict(sweep)})
    )
    path = folder / SWEEP
    if not path.exists():
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise DataError(f"{folder}: this folder cannot be made: {error.strerror}; choose another place") from None
        with atomic_write(path) as file:
            file.write(json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")
        return
    try:
        before = _flat(json.loads(read_bytes(path)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: is not what a sweep writes; choose another folder, or remove this one") from None
    now = _flat(wanted)
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        listed = "; ".join(f"{name}: {before.get(name)!r} there, {now.get(name)!r} now" for name in other)
        raise UsageError(f"{folder}: is of another sweep ({listed}); choose another folder, or the same settings")


def _flat(written: dict[str, Any]) -> dict[str, Any]:
    """The content of `sweep.json`, each setting by its own name."""
    sweep = dict(written["sweep"])
    training = sweep.pop("training")
    return {**sweep, **training, "sacrecap": written["sacrecap"], "data": written["data"]}
