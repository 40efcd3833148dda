"""A detector over many images, in batches; an interrupted run continues where it stopped."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sacrecap.data.objects import check_threshold
from sacrecap.data.source import PathLike, reading
from sacrecap.data.writers import write_list
from sacrecap.errors import DataError, DataWarning, UsageError, accepted_name, option, some, warn
from sacrecap.vision.detector import Detection, Detector
from sacrecap.vision.image_folder import open_image

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap.data.images import ImageFile

ON_CORRUPT = ("error", "skip")
"""How to treat an image that cannot be read: as an error, or by leaving it out."""

Row = dict[str, Any]
"""One image of the output: image_id, and detections of label, score and box."""


def detect_images(
    detector: Detector,
    images: Mapping[str, ImageFile],
    output: PathLike,
    *,
    threshold: float | None = None,
    batch: int = 8,
    on_corrupt: str = "error",
    resume: bool = True,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Write what the detector finds in each image, as a list of ``{"image_id", "detections"}``.

    Results are kept in ``OUTPUT.partial`` as they come. A run that stops early leaves that file, and the next run
    with the same detector and threshold continues from it. ``OUTPUT`` appears when it is complete.

    Args:
        detector: any `Detector`.
        images: images by image id: see `find_images`.
        output: the file to write; ``-`` is standard output, which cannot be resumed.
        threshold: the lowest score to keep; the detector's own by default.
        batch: number of images at a time.
        on_corrupt: one of `ON_CORRUPT`.
        resume: whether to continue an interrupted run; otherwise start again.
        progress: called with the number of images done after each batch.

    Returns:
        The number of images written; corrupt ones are named in a `DataWarning` and left out.

    Raises:
        DataError: a corrupt image, unless they are skipped; the output cannot be written.
        UsageError: the interrupted run had another detector or threshold; or the batch does not fit into the GPU.
    """
    accepted_name("what a corrupt image means", on_corrupt, ON_CORRUPT)
    lowest = detector.threshold if threshold is None else threshold
    check_threshold(lowest)
    settings = {"detector": detector.name, "threshold": lowest}
    partial = None if output == "-" else Path(f"{os.fspath(output)}.partial")
    rows = _resumed(partial, settings) if partial is not None and resume else {}
    if partial is not None and not rows:
        partial.unlink(missing_ok=True)
    missing = [image for image in images if image not in rows]
    corrupt: list[str] = []
    for chosen in _batched(missing, batch):
        opened = dict(_opened(chosen, images, on_corrupt, corrupt))
        new = _rows(detector, opened, lowest)
        if partial is not None and new:
            _append(partial, new, settings)
        rows.update((row["image_id"], row) for row in new)
        if progress is not None:
            progress(len(rows) + len(corrupt))
    if corrupt:
        warn(f"left out, because they cannot be read: {some(corrupt)}", DataWarning)
    done = [rows[image] for image in images if image in rows]
    write_list(output, done)
    if partial is not None:
        partial.unlink(missing_ok=True)
    return len(done)


def _batched(images: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (images[start : start + size] for start in range(0, len(images), size))


def _opened(
    chosen: Sequence[str], images: Mapping[str, ImageFile], on_corrupt: str, corrupt: list[str]
) -> Iterator[tuple[str, Image]]:
    """The images that can be read; the ids of others go to `corrupt`."""
    for image in chosen:
        try:
            yield image, open_image(io.BytesIO(images[image].read()), images[image].name)
        except DataError as error:
            if on_corrupt == "error":
                raise DataError(f"{error}; repair or remove it, or give {option('on_corrupt', 'skip')}") from None
            corrupt.append(image)


def _rows(detector: Detector, opened: Mapping[str, Image], lowest: float) -> list[Row]:
    if not opened:
        return []
    try:
        found = detector.detect(list(opened.values()))
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise UsageError(f"a batch of {len(opened)} images does not fit into memory; use a smaller batch") from None
        raise
    return [_row(image, detections, lowest) for image, detections in zip(opened, found, strict=True)]


def _row(image: str, detections: Sequence[Detection], lowest: float) -> Row:
    kept = [
        {"label": label, "score": round(score, 6), "box": [round(side, 2) for side in box]}
        for label, score, box in detections
        if score >= lowest
    ]
    return {"image_id": image, "detections": kept}


def _append(partial: Path, rows: Sequence[Row], settings: Row) -> None:
    """Adds the rows; a new file begins with the settings of the run."""
    try:
        with open(partial, "a", encoding="utf-8") as file:
            if not file.tell():
                file.write(json.dumps(settings) + "\n")
            file.writelines(json.dumps(row) + "\n" for row in rows)
    except OSError as error:
        raise DataError(f"{partial}: cannot be written: {error}; free space or choose another place") from None


def _resumed(partial: Path, settings: Row) -> dict[str, Row]:
    """Rows of an interrupted run by image id; a last line that was cut off is dropped from the file."""
    if not partial.exists():
        return {}
    with reading(partial):
        data = partial.read_bytes()
    if not data:
        return {}
    whole = data[: data.rfind(b"\n") + 1]
    try:
        before, *rows = [json.loads(line) for line in whole.splitlines()] or [settings]
        done = {row["image_id"]: row for row in rows}
    except (ValueError, TypeError, KeyError):
        raise DataError(f"{partial}: is not an interrupted run; remove it, or start again without resuming") from None
    if before != settings:
        raise UsageError(
            f"{partial}: the interrupted run was of {_spell(before)}, this one is of {_spell(settings)}; "
            "give the same settings, or start again without resuming"
        )
    if len(whole) < len(data):
        os.truncate(partial, len(whole))
    return done


def _spell(settings: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items()) if isinstance(settings, dict) else "?"
