"""MATLAB files, as the data of the CIDEr paper are released, read through SciPy."""

from __future__ import annotations

from typing import IO, Any

from sacrecap.data.rows import Rows, of_records
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.data.unpack import Content
from sacrecap.errors import DataError, MissingDependencyError, naming

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
    with reading(path), open(path, "rb") as file, naming(f"{display_name(path)}: "):
        return _variables(file, *names)


def variables(path: PathLike) -> list[str]:
    """Names of the variables in the file. Errors as for `load`."""
    with reading(path), open(path, "rb") as file, naming(f"{display_name(path)}: "):
        return [name for name, _, _ in _read(file, "whosmat")]


def references(content: Content) -> Rows:
    """The rows of `pascal50S.mat`: a struct array `refs` of `image` and its sentences, `sent`.

    Errors as for `load`; the message does not name the file.
    """
    with content.open() as file:
        refs = _variables(file, "refs")["refs"].ravel()
    if not {"image", "sent"} <= set(refs.dtype.names or ()):
        raise DataError("refs must have the fields image and sent; is this the right file?")
    images = [str(unwrap(struct["image"])) for struct in refs]
    sentences = [[str(unwrap(text)).strip() for text in struct["sent"].ravel()] for struct in refs]
    return of_records([{"image_id": i, "references": texts} for i, texts in zip(images, sentences, strict=True)])


def _variables(file: IO[bytes], *names: str) -> dict[str, Any]:
    contents: dict[str, Any] = _read(file, "loadmat")
    missing = [name for name in names if name not in contents]
    if missing:
        held = ", ".join(name for name in contents if not name.startswith("__")) or "nothing"
        raise DataError(f"no variable {missing[0]!r} in it, it holds {held}; is this the right file?")
    return {name: contents[name] for name in names}


def _read(file: IO[bytes], function: str) -> Any:
    """What the function of SciPy of this name finds in the file."""
    try:
        import scipy.io
    except ImportError:
        raise MissingDependencyError("reading MATLAB files", extra="study") from None
    try:
        return getattr(scipy.io, function)(file)
    except Exception as error:  # noqa: BLE001 - a broken file makes SciPy raise many kinds of errors
        raise DataError(f"no MATLAB file, or a broken one ({error}); download it again") from None


def unwrap(value: Any) -> Any:
    """The single value inside nested arrays; an empty text for an empty array."""
    import numpy as np

    while isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size else ""
    return value
