"""The errors capeval raises on purpose: one tree, whose messages say what was given, where, and the remedy."""

from __future__ import annotations


class CapevalError(Exception):
    """Any error that capeval foresees. The command line prints it as one line and exits with status 2."""


class DataError(CapevalError, ValueError):
    """A file or an argument holds data that cannot be used: the message names the file, line or image id."""


class UsageError(CapevalError, ValueError):
    """A parameter, or a name such as that of a metric or format, is not one of those accepted."""


class MissingDependencyError(CapevalError, ImportError):
    """A package of an extra is not installed.

    Attributes:
        extra: name of the extra, as in ``pip install 'capeval[extra]'``.
    """

    def __init__(self, what: str, *, extra: str) -> None:
        """``what`` needs the extra, for example ``"reading Parquet files"``."""
        super().__init__(f"{what} needs the extra {extra!r}: pip install 'capeval[{extra}]'")
        self.extra = extra


class DataWarning(UserWarning):
    """Data that can be used, but that may not be what was meant."""
