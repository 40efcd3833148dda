"""Metrics in a user's own file: `--plugin FILE.py`."""

from __future__ import annotations

import copyreg
import importlib.util
import sys
import traceback
import zlib
from os import PathLike
from pathlib import Path

from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap.metrics import registry
from sacrecap.metrics.base import Metric
from sacrecap.metrics.function import FunctionMetric


def load_plugin(path: str | PathLike[str]) -> None:
    """Runs a Python file once per process, and registers the metrics that it makes.

    These are functions with `@sacrecap.metric`, metrics that the file registers itself, and its metric classes.
    Raises `UsageError` for no such file, no metric in it, or a name that is taken, `DataError` if it cannot be run.
    """
    file = Path(path).resolve()
    name = f"sacrecap_plugin_{zlib.crc32(str(file).encode()):08x}"
    if name in sys.modules:
        return
    if not file.is_file():
        raise UsageError(f"plug-in {path}: no such file; name a Python file that makes metrics (see @sacrecap.metric)")
    before = set(registry._ADDED)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"plug-in {path} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # a plug-in imports its neighbours, as a program does
    try:
        with registry.registering(f"plug-in {file.name}"):
            spec.loader.exec_module(module)
            for member in list(vars(module).values()):
                is_class = isinstance(member, type) and issubclass(member, Metric) and member.__module__ == name
                # Those of functions are registered where they are made; one without a title is a base.
                if is_class and not issubclass(member, FunctionMetric) and hasattr(member, "title"):
                    registry.register(member)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, SacrecapError):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(file)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1]
        raise DataError(f"plug-in {path}, line {line}: {type(error).__name__}: {error}") from error
    if set(registry._ADDED) == before:
        del sys.modules[name]
        remedy = "put @sacrecap.metric before a function of references, candidate"
        raise UsageError(f"plug-in {path} makes no metric: {remedy}")
    for kind in {type(added.metric) for new, added in registry._ADDED.items() if new not in before}:
        # Another process has not loaded the plug-in: a pickled metric names the file, which is run there first.
        copyreg.pickle(kind, lambda metric: (restored, (str(file), metric.key)))


def restored(file: str, key: str) -> Metric:
    """The metric of a plug-in in another process, which may not have loaded the plug-in yet."""
    load_plugin(file)
    [metric] = registry.parse_metrics(key)
    return metric
