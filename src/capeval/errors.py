"""The errors that capeval raises on purpose: one tree, whose messages say what was given, where, and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class CapevalError(Exception):
    """Any error that capeval foresees. The command line prints it as one line and exits with status 2."""


class DataError(CapevalError, ValueError):
    """A file or an argument holds data that cannot be used: the message names the file, line or image id."""


class UsageError(CapevalError, ValueError):
    """A parameter, or a name such as that of a metric or format, is not one of those accepted."""


class MissingDependencyError(CapevalError, ImportError):
    """A package of an extra, or a program, is not installed.

    Attributes:
        extra: name of the extra, as in ``pip install 'capeval[extra]'``; None if no extra installs it.
    """

    def __init__(self, what: str, *, extra: str | None = None) -> None:
        """``what`` needs the extra, for example ``"reading Parquet files"``; without an extra, it is the message."""
        super().__init__(what if extra is None else f"{what} needs the extra {extra!r}: pip install 'capeval[{extra}]'")
        self.extra = extra


class EngineError(CapevalError, RuntimeError):
    """A cluster, or a worker of it, failed in a way that doing the work again does not mend."""


class CapevalWarning(UserWarning):
    """Something that works, but may not be what the user meant. The command line prints it as one line."""


class DataWarning(CapevalWarning):
    """Data that can be used, but may not be what the user meant."""


def warn(message: str, category: type[Warning] = CapevalWarning) -> None:
    """Warns at the line of the caller's code that called into capeval, even if the cause was found deep in capeval.

    Python shows a warning once per line and text; a warning that pointed into capeval would hide the next caller's.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_ours(module: str) -> bool:
    """Whether a module belongs to capeval, to one of its member packages, or to the import system."""
    package = module.partition(".")[0]
    return package in {"capeval", "capeval_server", "capeval_studies", "capeval_captioning", "importlib"}


def accepted_name(what: str, name: str, accepted: Sequence[str]) -> None:
    """Raises `UsageError`, with the accepted names and the nearest of them, unless the name is one of them."""
    if name not in accepted:
        import difflib

        near = difflib.get_close_matches(str(name), accepted, n=1)
        suggestion = f" (did you mean {near[0]!r}?)" if near else ""
        raise UsageError(f"{what} must be one of {', '.join(accepted)}, got {name!r}{suggestion}")


def some(images: Sequence[str]) -> str:
    """Faulty images in a message: how many, and the first few by name."""
    names = ", ".join(images[:_NAMED]) + (", …" if len(images) > _NAMED else "")
    return f"1 image ({names})" if len(images) == 1 else f"{len(images):,} images ({names})"


_NAMED = 5
