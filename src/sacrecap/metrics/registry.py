"""All metrics by name, and the parser of texts that name them: `coco`, `bleu-4, cider-d(sigma=5)`.

A new metric of capeval adds its line to `METRICS`; groups, the command line, the documentation and the tests read it
from there. A metric of another package is added by `register`, or found by its entry point in the group
`capeval.metrics`, which names a metric class, a metric, or a list of either.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from capeval.errors import UsageError, warn
from capeval.metrics.base import Metric, ParameterValue
from capeval.metrics.bertscore import BertScore
from capeval.metrics.bleu import Bleu
from capeval.metrics.capeval_1 import Capeval1
from capeval.metrics.chair.metric import ChairI, ChairRecall, ChairS
from capeval.metrics.cider import CiderD, CiderPaper
from capeval.metrics.clipscore import ClipScore, RefClipScore
from capeval.metrics.combine import Combine
from capeval.metrics.div import Distinct, Div
from capeval.metrics.fluency import Fluency
from capeval.metrics.lsa import Lsa
from capeval.metrics.mbleu import Mbleu, MbleuMix
from capeval.metrics.meteor.metric import Meteor
from capeval.metrics.not_scored import NotScored
from capeval.metrics.rouge import RougeL, RougeN, RougeS
from capeval.metrics.self_cider import SelfCider
from capeval.metrics.sentence import Sentence
from capeval.metrics.spice.metric import Spice
from capeval.metrics.spider import Spider
from capeval.metrics.vifidel.metric import Vifidel
from capeval.metrics.wmd import Wmd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from capeval.resources.needs import Needs

METRICS: tuple[tuple[Metric, tuple[str, ...]], ...] = (
    *((Bleu(n=n), ("coco", "consensus")) for n in (1, 2, 3, 4)),
    (Meteor(), ("coco", "consensus")),
    *((RougeN(n=n), ("consensus",)) for n in (1, 2, 3, 4)),
    (RougeL(), ("coco", "consensus")),
    (RougeS(), ("consensus",)),
    (CiderPaper(), ("consensus",)),
    (CiderD(), ("coco", "consensus")),
    (Spice(), ("consensus",)),
    (Spider(), ("consensus",)),
    (Capeval1(), ()),
    (Wmd(), ("fidelity",)),
    (Vifidel(), ("fidelity",)),
    (ChairI(), ("fidelity",)),
    (ChairS(), ("fidelity",)),
    (ChairRecall(), ("fidelity",)),
    (Fluency(), ("fidelity",)),
    (ClipScore(), ("learned",)),
    (RefClipScore(), ("learned",)),
    (BertScore(), ("learned",)),
    (Sentence(), ("learned",)),
    (SelfCider(), ("diversity",)),
    (Lsa(), ("diversity",)),
    *((Mbleu(n=n), ("diversity",)) for n in (1, 2, 3, 4)),
    (MbleuMix(), ("diversity",)),
    *((Div(n=n), ("diversity",)) for n in (1, 2)),
    (Distinct(), ("diversity",)),
)
"""Each metric with its default parameters, and its groups; every metric that scores a caption, not a
caption set, belongs to `all` too."""

BY_NAME: dict[str, Metric] = {metric.name: metric for metric, _ in METRICS}


OWN = "capeval"
"""The origin of capeval's own metrics."""


class Added(NamedTuple):
    """A metric that is not capeval's own."""

    metric: Metric
    groups: tuple[str, ...]
    origin: str
    """Its origin in words: a package, a plug-in's file, a module."""


_ADDED: dict[str, Added] = {}
"""Metrics of others by name."""
_origin: ContextVar[str | None] = ContextVar("origin", default=None)
"""The origin of the metrics that are being registered."""


@cache
def _own_groups() -> dict[str, tuple[Metric, ...]]:
    members: dict[str, tuple[Metric, ...]] = {}
    for metric, names in METRICS:
        for name in names:
            members[name] = (*members.get(name, ()), metric)
    members["all"] = tuple(metric for metric in BY_NAME.values() if not metric.scores_sets)
    return members


def groups() -> dict[str, tuple[Metric, ...]]:
    """The groups by name, `all` last; then those made by metrics of other packages.

    `all` has only the metrics of capeval, so that the same command gives the same table on every machine.
    """
    members = dict(_own_groups())
    for metric, names, _ in _ADDED.values():
        for name in names:
            members[name] = (*members.get(name, ()), metric)
    return members


def register(metric: Metric | type[Metric], groups: Iterable[str] = ()) -> None:
    """Adds a metric of another package: it can then be named wherever metrics are named.

    Args:
        metric: the metric with its default parameters, or its class.
        groups: names of groups that include it; the groups of capeval keep their members, so they are not accepted.

    Raises `UsageError` for a name or a group that is taken, and for an incomplete declaration. Registering an
    equal metric again does nothing; a metric from the same place in the code, as when a cell of a notebook runs again,
    replaces the one before.
    """
    value = _declared(metric)
    name = value.name
    if name in _ADDED and _ADDED[name].metric == value:
        return
    others = {other: added for other, added in _ADDED.items() if other != name or _place(added.metric) != _place(value)}
    names = tuple(groups)
    reserved = {group for _, of_metric in METRICS for group in of_metric} | {"all"}
    taken = next((group for group in names if group in reserved), None)
    if taken is not None:
        raise UsageError(f"metric {name!r}: group {taken!r} is capeval's own; choose another name for the group")
    everything = {*BY_NAME, *others, *reserved, *(group for added in others.values() for group in added.groups)}
    if name in everything or name == Combine.family:
        raise UsageError(f"metric {name!r}: there is a metric or group of that name already; choose another name")
    _ADDED[name] = Added(value, names, _origin.get() or f"module {type(value).__module__}")


def _place(metric: Metric) -> tuple[str, str]:
    return type(metric).__module__, type(metric).__qualname__


def added() -> dict[str, Metric]:
    """The metrics of other packages by name: registered ones, and those of installed packages' entry points."""
    _load_entry_points()
    return {name: added.metric for name, added in _ADDED.items()}


@contextmanager
def registering(origin: str) -> Iterator[None]:
    """Sets the origin of the metrics that are registered within the block."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def origin_of(metric: Metric) -> str:
    """The origin of a metric in words: `capeval`, `package lengths 1.0`, `plug-in lengths.py`, `module lengths`."""
    if metric.name in _ADDED and type(_ADDED[metric.name].metric) is type(metric):
        return _ADDED[metric.name].origin
    module = type(metric).__module__
    return OWN if module.partition(".")[0] == OWN else f"module {module}"


_DECLARATIONS = ("family", "title", "summary", "equation", "source", "upper", "nothing")


def _declared(metric: Metric | type[Metric]) -> Metric:
    """The metric, after a check that it declares everything that a metric must declare."""
    kind = metric if isinstance(metric, type) else type(metric)
    if not issubclass(kind, Metric):
        raise UsageError(f"a metric must be a capeval.metrics.Metric, got {metric!r}")
    lacking = [name for name in _DECLARATIONS if not hasattr(kind, name)]
    if lacking:
        raise UsageError(f"{kind.__name__} does not declare {', '.join(lacking)}; see docs/howto/add-a-metric.md")
    value = metric() if isinstance(metric, type) else metric
    if not re.fullmatch(r"[a-z][a-z0-9-]*", value.name):
        raise UsageError(f"{kind.__name__}: the name {value.name!r} must be lower-case letters, digits and hyphens")
    if value.title.lower() != value.family:
        raise UsageError(
            f"{kind.__name__}: the title {value.title!r} must differ from the family {value.family!r} only in "
            "case: tables print titles, and a printed title must also work as a name"
        )
    return value


@cache
def _load_entry_points() -> None:
    """Registers the metrics of installed packages, once per process; warns of one that cannot be loaded."""
    from importlib.metadata import entry_points

    for point in entry_points(group="capeval.metrics"):
        package = point.dist.name if point.dist else point.value
        version = f" {point.dist.version}" if point.dist else ""
        try:
            with registering(f"package {package}{version}"):
                loaded = point.load()
                for metric in loaded if isinstance(loaded, (list, tuple)) else [loaded]:
                    register(metric)
        except Exception as error:  # noqa: BLE001  (a fault of another package must not stop ours)
            warn(f"the metric {point.name!r} of the package {package} cannot be loaded: {error}")


def canonical(name: str) -> str:
    """The name of a metric or group in capeval's spelling: in lower case, with `-` for `_`.

    So the COCO suite's names are accepted (`Bleu_4`, `ROUGE_L`). `CIDEr`, as all tables print it, is CIDEr-D.
    Until 0.3, `cider` in lower case is still the metric that it was up to 0.1: the paper's, with a warning.
    """
    if name == "cider":
        warn(
            "the metric cider, the stemmed one of the paper, is now called cider-paper, and the old name works "
            "for one more release; what the COCO suite and papers print as CIDEr is cider-d, or CIDEr in this spelling",
            FutureWarning,
        )
        return CiderPaper.family
    spelled = name.lower().replace("_", "-")
    return CiderD.family if spelled == "cider" else spelled


def key_of(text: str) -> str:
    """The key of a metric that is named in any accepted spelling: `CIDEr(sigma=5)` is `cider-d(sigma=5)`."""
    name, parenthesis, inside = text.partition("(")
    return canonical(name.strip()) + parenthesis + inside


def find(name: str) -> Metric | None:
    """The metric of that name with its default parameters. Entry points are loaded only for names that are not here."""
    return BY_NAME.get(name) or (_ADDED[name].metric if name in _ADDED else added().get(name))


def parse_metrics(text: str | Metric | Iterable[str | Metric], needs: Needs | None = None) -> tuple[Metric, ...]:
    """Metrics from comma-separated names and groups, or from any mixture of names and values.

    Drops repeats and keeps the order. With `needs`, of a group: a metric that this machine cannot compute becomes
    `NotScored`, and one that lacks a need which the call should give is left out, with a warning. A metric given by its
    own name is kept.

    Raises `UsageError` for an unknown name (suggesting the nearest), an unknown parameter or an unacceptable value.
    """
    items = [text] if isinstance(text, (str, Metric)) else list(text)
    parsed: dict[Metric, None] = {}
    for item in items:
        if isinstance(item, Metric):
            parsed[item] = None
        else:
            for name in _split(item):
                parsed.update(dict.fromkeys(_parse_one(name, needs)))
    if not parsed:
        raise UsageError(f"no metric given; {_accepted()}")
    return tuple(parsed)


_PIECES = re.compile(r'"(?:[^"]|"")*"|[^"(),]+|["(),]')


def _split(text: str) -> list[str]:
    """Cuts at commas outside parentheses and quotes."""
    parts, depth = [""], 0
    for piece in _PIECES.findall(text):
        depth = max(depth + (piece == "(") - (piece == ")"), 0)
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


_CALL = re.compile(r"(?P<name>[^()]+?)\s*(?:\((?P<inside>.*)\))?\s*", re.DOTALL)


def _parse_one(text: str, needs: Needs | None) -> tuple[Metric, ...]:
    match = _CALL.fullmatch(text)
    if match is None:
        matching = text.count("(") == text.count(")")
        remedy = _accepted() if matching else "its parentheses do not match"
        raise UsageError(f"unknown metric {text!r}{_nearest(text)}; {remedy}")
    name = canonical(match["name"].strip())
    if match["inside"] is None and name in groups():
        return groups()[name] if needs is None else _available(name, needs)
    if name == Combine.family:
        return (_combination(match["inside"] or ""),)
    if match["inside"] is None and name not in BY_NAME and added() and name in groups():
        return groups()[name] if needs is None else _available(name, needs)
    metric = find(name)
    if metric is None:
        raise UsageError(f"unknown metric {text!r}{_nearest(name)}; {_accepted()}")
    return (metric.with_parameters(_parameters(metric, match["inside"] or "")),)


def _combination(inside: str) -> Metric:
    """Members are names or groups; an item with an equals sign before any parenthesis is a parameter."""
    members: list[Metric] = []
    values: dict[str, ParameterValue] = {}
    for part in _split(inside):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if equals and "(" not in name:
            values[name] = value
        else:
            members.extend(_parse_one(part, None))
    return Combine(*members).with_parameters(values)


def _available(group: str, needs: Needs) -> tuple[Metric, ...]:
    available: list[Metric] = []
    for metric in groups()[group]:
        missing = metric.not_installed(needs)
        reason = None if missing else metric.left_out(needs)
        if missing:
            available.append(NotScored(metric, missing))
        elif reason is None:
            available.append(metric)
        else:
            warn(f"{metric.label} is left out of group {group}: {reason}")
    return tuple(available)


def _parameters(metric: Metric, inside: str) -> dict[str, ParameterValue]:
    declared = {p.name: p for p in metric.parameters()}
    values: dict[str, ParameterValue] = {}
    for part in _split(inside):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in declared:
            accepted = ", ".join(declared) or "none"
            raise UsageError(f"{metric.name}: no parameter {name!r}; its parameters: {accepted} (as {metric})")
        values[name] = _value(value, getattr(metric, name))
    return values


def _value(text: str, like: ParameterValue) -> ParameterValue:
    """Converts text to the type of the default. Other text stays text, which the metric then refuses."""
    if isinstance(like, bool):
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
    if isinstance(like, (int, float)):
        try:
            return float(text)
        except ValueError:
            return text
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if quoted else text


def _nearest(name: str) -> str:
    import difflib

    known = [*BY_NAME, *added(), *groups(), Combine.family]
    near = difflib.get_close_matches(name.split("(")[0].strip(), known, n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _accepted() -> str:
    names = ", ".join([*BY_NAME, *added()])
    return f"metrics: {names}; groups: {', '.join(groups())}; or a mean: combine(METRIC, METRIC)"
