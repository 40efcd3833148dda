"""The errors that sacrecap raises on purpose: one tree, whose messages say what was given, where, and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import SupportsIndex

__all__ = [
    "DataError",
    "DataWarning",
    "EngineError",
    "MissingDependencyError",
    "SacrecapError",
    "SacrecapWarning",
    "UnfitImages",
    "UnknownOptionError",
    "UsageError",
]
__dir__ = __all__.copy


class SacrecapError(Exception):
    """Any error that sacrecap foresees. The command line prints it as one line and exits with status 2."""


class DataError(SacrecapError, ValueError):
    """A file or an argument holds data that cannot be used: the message names the file, line or image id."""


class UnfitImages(DataError):  # noqa: N818
    """Some images of a corpus that a metric cannot score; it can score the others.

    Attributes:
        places: their numbers in the corpus.
    """

    def __init__(self, message: str, places: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.places = tuple(places)


class UsageError(SacrecapError, ValueError):
    """A parameter, or a name such as that of a metric or format, is not one of those accepted."""


class UnknownOptionError(UsageError, TypeError):
    """A keyword that a function does not have. It is a `TypeError` too, as Python's own for such a call."""


class MissingDependencyError(SacrecapError, ImportError):
    """A package of an extra, or a program, is not installed.

    Attributes:
        extra: name of the extra, as in ``pip install 'sacrecap[extra]'``; None if no extra installs it.
    """

    def __init__(self, what: str, *, extra: str | None = None, why: str = "") -> None:
        """``what`` needs the extra, for example ``"reading Parquet files"``; without an extra, it is the message."""
        needs = f"{what} needs the extra {extra!r}: pip install 'sacrecap[{extra}]'{why}"
        super().__init__(what if extra is None else needs)
        self.extra = extra


@contextmanager
def of_extra(extra: str, what: str) -> Iterator[None]:
    """Raises `MissingDependencyError`, for `what`, where the block imports a package that is not installed.

    It says why, where a package is installed and cannot be imported. What our own modules lack is a fault of ours.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith(("sacrecap.", "sacrecap_captioning.", "sacrecap_server.")):
            raise
        reason = "" if isinstance(error, ModuleNotFoundError) else " ".join(str(error).split())
        why = f" ({reason})" if reason else ""
        raise MissingDependencyError(what, extra=extra, why=why) from error


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Messages of `DataError` and `UsageError` out of the block begin with the place."""
    try:
        yield
    except (DataError, UsageError) as error:
        raise type(error)(f"{where}{error}") from None


class EngineError(SacrecapError, RuntimeError):
    """A cluster, or a worker of it, failed in a way that doing the work again does not mend."""


class SacrecapWarning(UserWarning):
    """Something that works, but may not be what the user meant. The command line prints it as one line."""


class DataWarning(SacrecapWarning):
    """Data that can be used, but may not be what the user meant."""


def warn(message: str, category: type[Warning] = SacrecapWarning) -> None:
    """Warns at the line of the caller's code that called into sacrecap, even if the cause was found deep in sacrecap.

    Python shows a warning once per line and text; a warning that pointed into sacrecap would hide the next caller's.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


_OURS = {"sacrecap", "sacrecap_server", "sacrecap_studies", "sacrecap_captioning", "importlib"}
"""Packages of the project, and the import system."""


def accepted_name(what: str, name: str, accepted: Sequence[str]) -> None:
    """Raises `UsageError`, with the accepted names and the nearest of them, unless the name is one of them."""
    if name not in accepted:
        raise UsageError(f"{what} must be one of {', '.join(accepted)}, got {name!r}{did_you_mean(name, accepted)}")


def nearest(name: object, accepted: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The accepted names that are most like this one. `cutoff`: the least share of letters in common, from 0 to 1."""
    import difflib

    return difflib.get_close_matches(str(name), list(accepted), n=most, cutoff=cutoff)


def did_you_mean(name: object, accepted: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> str:
    """A question with the nearest of the accepted names, in brackets; empty if none is near."""
    near = nearest(name, accepted, most=most, cutoff=cutoff)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def whole_number(what: str, value: object, least: int = 0) -> int:
    """The number. Raises `UsageError` unless it is a whole number of at least `least`, and of 64 bits at most."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or value.__index__() < least:
        raise UsageError(f"{what} must be a whole number of at least {least}, got {value!r}")
    if value.__index__() >= 2**64:
        raise UsageError(f"{what} must be below 2**64, got {value!r}")
    return value.__index__()


_command_line = False
"""Whether this process works for the command line. It is of the process, not of a thread: commands start threads."""


@contextmanager
def words_of_command_line(yes: bool = True) -> Iterator[None]:
    """Within the block, messages name options as the command line has them; else, as Python does."""
    global _command_line  # noqa: PLW0603
    before, _command_line = _command_line, yes
    try:
        yield
    finally:
        _command_line = before


def at_command_line() -> bool:
    """Whether messages speak to somebody at the command line."""
    return _command_line


def spelled(*, python: str, command: str) -> str:
    """Which of the two texts the reader of a message needs: who calls from Python, or who runs a command."""
    return command if _command_line else python


def option(name: str, *values: object, flag: str | None = None, of: str | None = None) -> str:
    """An option in a message, as the reader gives it.

    Args:
        name: of the keyword in Python.
        values: to choose from; a text in capitals stands for any value; True for a flag without one.
        flag: its name on the command line, if that is not the keyword's.
        of: the function that has the keyword, where it is not the one that was called.

    Examples:
        >>> from sacrecap.errors import option, words_of_command_line
        >>> option("on_missing", "skip"), option("document_frequency", "NAME", flag="--df")
        ('on_missing="skip"', 'document_frequency=NAME')
        >>> with words_of_command_line():
        ...     option("on_missing", "skip"), option("document_frequency", "NAME", flag="--df")
        ('--on-missing skip', '--df NAME')
    """
    if _command_line:
        listed = " or ".join(str(value) for value in values if value is not True)
        return f"{flag or '--' + name.replace('_', '-')} {listed}".rstrip()
    listed = " or ".join(map(_in_python, values))
    return name + (f"={listed}" if values else "") + (f" of {of}" if of else "")


def _in_python(value: object) -> str:
    if not isinstance(value, str):
        return repr(value)
    return value if value.isupper() else f'"{value}"'


def some(images: Sequence[str]) -> str:
    """Faulty images in a message: how many, and the first few by name."""
    names = first_of(images)
    return f"1 image ({names})" if len(images) == 1 else f"{len(images):,} images ({names})"


def first_of(names: Sequence[object]) -> str:
    """The first five names in a message, and whether there are more. Absurdly long ones are cut, URLs are not."""
    return ", ".join(cut_off(str(name), 300) for name in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def cut_off(text: str, longest: int = 60) -> str:
    """The beginning of a text in a message, and whether there is more."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_NAMED = 5
