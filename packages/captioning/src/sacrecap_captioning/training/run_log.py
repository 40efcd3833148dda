"""The log of a training run: `log.jsonl`, and the same for TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import reading
from sacrecap.errors import DataError
from sacrecap_captioning.training.run_folder import LOG, TENSORBOARD


class RunLog:
    """The logs of a run, from a step on: lines of later steps, which a run that was cut off has left, go.

    Raises:
        DataError: the log cannot be written.
    """

    def __init__(self, folder: Path, step: int, *, tensorboard: bool) -> None:
        self.path = folder / LOG
        if self.path.exists():
            kept = [row for row in read_log(folder) if row["step"] <= step]
            with atomic_write(self.path) as file:
                file.write("".join(json.dumps(row) + "\n" for row in kept))
        try:
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._board = _board(folder / TENSORBOARD, step) if tensorboard else None

    def write(self, step: int, values: Mapping[str, float], **others: Any) -> None:
        """A line of the log; the values go to TensorBoard too."""
        self._file.write(json.dumps({"step": step, **values, **others}) + "\n")
        self._file.flush()
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Writes out what is left."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's log; a last line that was cut off is left out.

    Raises:
        DataError: the log cannot be read.
    """
    rows = []
    with reading(folder / LOG):
        lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            if number < len(lines):
                raise DataError(f"{folder / LOG}: line {number} is not JSON") from None
    return rows


def _board(folder: Path, step: int) -> Any:
    """TensorBoard's writer, where TensorBoard is installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1)
