"""MATLAB files of the releases, read through SciPy."""

from __future__ import annotations

from typing import Any

from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.errors import DataError, MissingDependencyError

MAGIC = b"MATLAB 5.0 MAT-file"


def is_matlab(path: PathLike) -> bool:
    """Whether a file begins like a MATLAB file."""
    if path == "-":
        return False
    with reading(path), open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def load(path: PathLike, *names: str) -> dict[str, Any]:
    """The variables of these names.

    Raises `DataError` for a broken file or one without them, `MissingDependencyError` without SciPy.
    """
    contents: dict[str, Any] = _read(path, "loadmat")
    missing = [name for name in names if name not in contents]
    if missing:
        held = ", ".join(name for name in contents if not name.startswith("__")) or "nothing"
        raise DataError(
            f"{display_name(path)}: no variable {missing[0]!r} in it, it holds {held}; is this the right file?"
        )
    return {name: contents[name] for name in names}


def variables(path: PathLike) -> list[str]:
    """Names of the variables in the file. Errors as for `load`."""
    return [name for name, _, _ in _read(path, "whosmat")]


def _read(path: PathLike, function: str) -> Any:
    """What the function of SciPy of this name finds in the file."""
    try:
        import scipy.io
    except ImportError:
        raise MissingDependencyError("reading MATLAB files", extra="study") from None
    with reading(path), open(path, "rb") as file:
        try:
            return getattr(scipy.io, function)(file)
        except Exception as error:  # noqa: BLE001 - a broken file makes SciPy raise many kinds of errors
            raise DataError(
                f"{display_name(path)}: no MATLAB file, or a broken one ({error}); download it again"
            ) from None


def unwrap(value: Any) -> Any:
    """The single value inside nested arrays; an empty text for an empty array."""
    import numpy as np

    while isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size else ""
    return value
