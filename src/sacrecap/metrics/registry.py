"""All metrics by name, and the parser of texts that name them: `coco`, `bleu-4, cider-d(sigma=5)`.

A metric of sacrecap is a row of `sacrecap.metrics.METRICS`, and loaded when it is used. A metric of another package is
added by `register`, or found by its entry point in the group `sacrecap.metrics`, which names a metric class, a metric,
or a list of either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import dropwhile, takewhile
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from sacrecap.choices import TAKEN
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError, nearest, warn
from sacrecap.metrics import METRICS
from sacrecap.metrics.base import Metric, PythonMetric, Ready, Totals
from sacrecap.parameters import at_commas, split
from sacrecap.resources.needs import Needs

OWN = "sacrecap"
"""The origin of sacrecap's own metrics."""


class AddedMetric(NamedTuple):
    """A metric that is not sacrecap's own."""

    metric: Metric
    groups: tuple[str, ...]
    origin: str
    """Its origin in words: a package, a plug-in's file, a module."""


_ADDED: dict[str, AddedMetric] = {}
"""Metrics of others by name."""
_origin: ContextVar[str | None] = ContextVar("origin", default=None)
"""The origin of the metrics that are being registered."""


@cache
def _built_in(name: str) -> Metric:
    """The metric of sacrecap of that name, with its default parameters."""
    place, fixed, _ = METRICS[name]
    module, _, kind = place.partition(":")
    metric: Metric = getattr(import_module(f"sacrecap.metrics.{module}"), kind)(**fixed)
    return metric


def own_metrics() -> tuple[Metric, ...]:
    """All metrics of sacrecap, each with its default parameters."""
    return tuple(map(_built_in, METRICS))


@cache
def _own_groups() -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(group for _, _, groups in METRICS.values() for group in groups.split())
    members = {name: tuple(metric for metric, row in METRICS.items() if name in row[2].split()) for name in names}
    members["all"] = members.pop("all")
    return members


def groups() -> dict[str, tuple[str, ...]]:
    """The names in each group of sacrecap, `all` last, the same on every machine; then the groups of others."""
    members = dict(_own_groups())
    for name, added in _ADDED.items():
        for group in added.groups:
            members[group] = (*members.get(group, ()), name)
    return members


def scores_sets(name: str) -> bool:
    """Whether the metric of that name scores caption sets; no metric of sacrecap is loaded to find out."""
    return METRICS[name][0].startswith("caption_sets:") if name in METRICS else _ADDED[name].metric.scores_sets


def register(metric: Metric | type[Metric], groups: Iterable[str] = ()) -> None:
    """Adds a metric of another package: it can then be named wherever metrics are named.

    Args:
        metric: the metric with its default parameters, or its class.
        groups: names of groups that include it; the groups of sacrecap keep their members, so they are not accepted.

    Raises `UsageError` for a name or a group that is taken, and for an incomplete declaration. Registering an
    equal metric again does nothing; a metric from the same place in the code, as when a cell of a notebook runs again,
    replaces the one before.
    """
    kind = metric if isinstance(metric, type) else type(metric)
    if not issubclass(kind, Metric):
        raise UsageError(f"a metric must be a sacrecap.metrics.Metric, got {metric!r}")
    needed = ("title", "summary", "equation", "source", "upper", "nothing")
    lacking = [name for name in needed if not hasattr(kind, name)]
    if lacking:
        raise UsageError(f"{kind.__name__} does not declare {', '.join(lacking)}; see docs/howto/add-a-metric.md")
    value = metric() if isinstance(metric, type) else metric
    name = value.name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise UsageError(f"{kind.__name__}: the name {name!r} must be lower-case letters, digits and hyphens")
    if name in _ADDED and _ADDED[name].metric == value:
        return

    def place(metric: Metric) -> tuple[str, str]:
        return type(metric).__module__, type(metric).__qualname__

    rest = {key: added for key, added in _ADDED.items() if key != name or place(added.metric) != place(value)}
    names = tuple(groups)
    reserved = {*_own_groups(), *ALIASES}
    clash = next((group for group in names if group in reserved), None)
    if clash is not None:
        raise UsageError(f"metric {name!r}: group {clash!r} is sacrecap's own; choose another name for the group")
    of_others = (group for added in rest.values() for group in added.groups)
    if name in {*METRICS, *rest, *reserved, *of_others, COMBINE, STANDARDISED}:
        raise UsageError(f"metric {name!r}: there is a metric or group of that name already; choose another name")
    _ADDED[name] = AddedMetric(value, names, _origin.get() or f"module {type(value).__module__}")


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
    """The origin of a metric in words: `sacrecap`, `package lengths 1.0`, `plug-in lengths.py`, `module lengths`."""
    if metric.name in _ADDED and type(_ADDED[metric.name].metric) is type(metric):
        return _ADDED[metric.name].origin
    module = type(metric).__module__
    return OWN if module.partition(".")[0] == OWN else f"module {module}"


@cache
def _load_entry_points() -> None:
    """Registers the metrics of installed packages, once per process; warns of one that cannot be loaded."""
    from importlib.metadata import entry_points

    for point in entry_points(group="sacrecap.metrics"):
        package = point.dist.name if point.dist else point.value
        version = f" {point.dist.version}" if point.dist else ""
        try:
            with registering(f"package {package}{version}"):
                loaded = point.load()
                for metric in loaded if isinstance(loaded, (list, tuple)) else [loaded]:
                    register(metric)
        except Exception as error:  # noqa: BLE001  (a fault of another package must not stop ours)
            warn(f"the metric {point.name!r} of the package {package} cannot be loaded: {error}")


COMBINE, STANDARDISED = "combine", "z"
"""The names of the weighted mean and of the standardised score, which have no meaning without their members."""
_outside: ContextVar[Mapping[str, Metric]] = ContextVar("outside", default=MappingProxyType({}))
"""The columns of others' scores that the text being parsed may name."""
ALIASES = {"cider": "cider-d"}
"""Names that mean the metric of another name: papers and the COCO suite print CIDEr and mean CIDEr-D."""
_ALL = "all names: sacrecap metrics (in Python: sacrecap.metrics)"


def canonical(text: str) -> str:
    """The text with a metric's or a group's name, with which it begins, in sacrecap's spelling; other text unchanged.

    `Bleu_4` is `bleu-4`, `CIDEr(sigma=5)` is `cider-d(sigma=5)`: an exact name wins, in upper or lower case; otherwise
    hyphens, underscores and blanks do not count. Raises `UsageError` if names that differ only in these signs fit.
    """
    name, parenthesis, inside = text.partition("(")
    spelled = _named(name)
    return text if spelled is None else spelled + parenthesis + inside


def _named(name: str) -> str | None:
    """The metric or group of that name; None if there is none. Entry points are loaded only if the name is not here."""
    if name.strip() in _outside.get():
        return name.strip()
    exact = name.strip().lower()
    if exact in ALIASES:
        return ALIASES[exact]
    if exact in _names() or exact in added() or exact in groups():
        return exact
    fitting = {ALIASES.get(word, word): None for word in (*_names(), *ALIASES) if folded(word) == folded(name)}
    if len(fitting) > 1:
        raise UsageError(f"{name!r} may be {' or '.join(map(repr, fitting))}; write the name of one")
    return next(iter(fitting), None)


def _names() -> tuple[str, ...]:
    """The names of all metrics and groups that are loaded."""
    return (*METRICS, *_ADDED, *groups(), COMBINE, STANDARDISED, *_outside.get())


def folded(name: str) -> str:
    """The name without what may be left out: case, hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name.lower())


def key_among(keys: Collection[str], named: str | Metric) -> str | None:
    """The one of these keys that a metric has, or its name in any accepted spelling; None if it is not among them."""
    if isinstance(named, Metric):
        return named.key if named.key in keys else None
    if named in keys or not isinstance(named, str):
        return named if named in keys else None
    if (key := canonical(named.strip())) in keys:  # figures such as `accuracy` are keys, but cannot be named
        return key
    try:
        metrics = parse_metrics(named)
    except UsageError:
        return None
    return metrics[0].key if len(metrics) == 1 and metrics[0].key in keys else None


def find(name: str) -> Metric | None:
    """The metric of that name with its default parameters. Entry points are loaded only for names that are not here."""
    if name in METRICS:
        return _built_in(name)
    if name in _outside.get():
        return _outside.get()[name]
    return _ADDED[name].metric if name in _ADDED else added().get(name)


def parse_metrics(text: str | Metric | Iterable[str | Metric], needs: Needs | None = None) -> tuple[Metric, ...]:
    """Metrics from names and groups, separated by commas or blanks, or from any mixture of names and values.

    A blank separates names where there are names on both sides of it; elsewhere it is a part of a name: `bleu-4 ROUGE
    L` is `bleu-4, rouge-l`. Drops repeats and keeps the order. With `needs`, of a group: a metric that this machine
    cannot compute becomes `NotScored`, and one that lacks a need which the call should give is left out, with a
    warning. A metric given by its own name is kept. A column of the scores that the needs hold is a metric by its name.

    Raises `UsageError` for an unknown name (suggesting the nearest), an unknown parameter or an unacceptable value.
    """
    columns: Mapping[str, Metric] = _outside.get()
    if needs is not None and "scores" in needs:
        columns = _columns(needs)
        for name in columns:
            if name.startswith(TAKEN):
                warn(f"a column of the scores is called {name.removeprefix(TAKEN)}, as a metric is: name it {name}")
    parsed: dict[Metric, None] = {}
    token = _outside.set(columns)
    try:
        for item in [text] if isinstance(text, (str, Metric)) or not isinstance(text, Iterable) else text:
            if isinstance(item, Metric):
                parsed[item] = None
            elif not isinstance(item, str):
                raise UsageError(f"a metric is a name or a sacrecap.metrics.Metric, got {item!r}")
            else:
                for name in _cut(item):
                    parsed.update(dict.fromkeys(_parse_one(name, needs)))
    finally:
        _outside.reset(token)
    if not parsed:
        raise UsageError(f"no metric given; for example: coco, or bleu-4, cider-d; {_ALL}")
    return tuple(parsed)


def with_columns(metrics: tuple[Metric, ...], needs: Needs) -> tuple[Metric, ...]:
    """The metrics, and all columns of the scores that the needs hold, unless the metrics name some of these."""
    if "scores" not in needs or any("scores" in part.needs for metric in metrics for part in metric.parts):
        return metrics
    return (*metrics, *_columns(needs).values())


def _columns(needs: Needs) -> Mapping[str, Metric]:
    """The columns of others' scores as metrics, `scores:NAME` for a name that is taken. Raises `UsageError`."""
    from sacrecap.metrics.outside import Outside, OutsideOfSets, outside_scores

    scores = outside_scores(needs)
    kind = OutsideOfSets if scores is not None and scores.of_sets else Outside
    reserved = {*METRICS, *groups(), *ALIASES, *added(), COMBINE, STANDARDISED}
    columns: dict[str, Metric] = {}
    for column in () if scores is None else scores.columns:
        name = f"{TAKEN}{column}" if column in reserved else column
        if re.search(r'[(),+*="\s]', name):
            remedy = 'blanks and the signs ( ) , + * = " are not for names of metrics: rename the column'
            raise UsageError(f"the scores have a column {name!r}; {remedy}")
        columns[name] = kind(column=name)
    return columns


def _cut(text: str) -> list[str]:
    """The names in a list, each with its parameters: cut at commas and blanks, into as many names as possible."""
    names: list[str] = []
    for part in at_commas(text):
        words = _words(part)
        best: list[list[str] | None] = [[], *(None for _ in words)]
        """By number of words from the left: the names that these are."""
        for end in range(1, len(words) + 1):
            for start in range(end - 1, -1, -1):
                before, after = best[start], best[end]
                if before is not None and len(before) >= len(after or ()) and _is_name(words[start:end]):
                    best[end] = [*before, " ".join(words[start:end])]
        if best[-1] is None:
            raise _unknown(part)
        names += best[-1]
    return names


def _words(text: str) -> list[str]:
    """Cuts at blanks outside parentheses and quotes, but not before a parenthesis."""
    return split(text.strip(), lambda piece, after: piece.isspace() and after != "(")


def _is_name(words: Sequence[str]) -> bool:
    """Whether these words are one name; only the last one may have parameters."""
    name = " ".join((*words[:-1], words[-1].partition("(")[0]))
    return "(" not in name and _named(name) is not None


def _parse_one(text: str, needs: Needs | None) -> tuple[Metric, ...]:
    match = re.fullmatch(r"(?P<name>[^()]+?)\s*(?:\((?P<inside>.*)\))?\s*", text, re.DOTALL)
    name = match and _named(match["name"])
    if match is None or name is None:
        raise _unknown(text)
    if name == COMBINE:
        return (_combination(match["inside"] or ""),)
    if name == STANDARDISED:
        from sacrecap.metrics.combine import Standardised

        inside = match["inside"] or ""
        members = tuple(metric for name in _cut(inside) for metric in _parse_one(name, None))
        if len(members) != 1 or members[0].scores_sets:
            raise UsageError(f"z({inside}): z standardises one metric of captions, as z(cider-d)")
        return (Standardised(members[0]),)
    metric = None if name in groups() else find(name)
    if metric is not None:
        return (metric.with_text(match["inside"] or ""),)
    if match["inside"] is not None:
        raise UsageError(f"{text!r}: {name} is a group, which has no parameters; give them to a metric of it")
    members = tuple(_built_in(key) if key in METRICS else _ADDED[key].metric for key in groups()[name])
    if needs is None:
        return members
    available: list[Metric] = []
    for metric in members:
        status = metric.status(needs)
        if status.kind == "available":
            available.append(metric)
        elif status.kind == "not installed":
            available.append(NotScored(metric, status.why))
        else:
            warn(f"{metric.label} is left out of group {name}: {status.why}")
    return tuple(available)


def _combination(inside: str) -> Metric:
    """Members are names or groups, each with its weight; the weight of a group is that of every metric of it."""
    from sacrecap.metrics.combine import Combine
    from sacrecap.metrics.weighted_sum import above_zero, read_term

    members: list[Metric] = []
    weights: list[float] = []
    where = f"combine({inside})"
    for term in at_commas(inside):
        name, weight = read_term(term, where)
        names = _cut(name)
        if len(names) > 1 and name != term:
            raise UsageError(f"{where}: {term}: a weight belongs to one name; put commas between names")
        metrics = [metric for name in names for metric in _parse_one(name, None)]
        members.extend(metrics)
        weights.extend([above_zero(weight, where)] * len(metrics))
    return Combine(*members, weights=tuple(weights))


def _unknown(text: str) -> UsageError:
    """The error for text that names no metric, with the nearest names."""
    words = _words(text)
    unknown = list(takewhile(lambda word: not _is_name([word]), dropwhile(lambda word: _is_name([word]), words)))
    lacking = " ".join(unknown) or text
    names = {folded(name): name for name in (*added(), *_names())}
    begun = folded(lacking.partition("(")[0])
    near = (
        nearest(begun, names, most=3, cutoff=0.75)
        or nearest(begun, ALIASES, cutoff=0.75)
        or [word for word in names if begun and word.startswith(begun)][:3]
    )
    question = f" (did you mean {' or '.join(repr(names.get(word, word)) for word in near)}?)" if near else ""
    remedy = _ALL if text.count("(") == text.count(")") else "its parentheses do not match"
    if {"+", "*"} & {*text.partition("(")[0]}:
        remedy = "a weighted sum of metrics is written combine(cider-d, 0.5*rouge-l)"
    if "|" in text:
        remedy = "a signature is checked by sacrecap verify SIGNATURE REFERENCES CAPTIONS"
    return UsageError(f"unknown metric {lacking!r}{question}; {remedy}")


class NotScored(PythonMetric):
    """Replaces `metric` in a group, so that tables have the same rows everywhere; has no score, for that `reason`."""

    needs = ()
    metric: Metric
    reason: str

    def __init__(self, metric: Metric, reason: str) -> None:
        vars(self).update(metric=metric, reason=reason)

    def __getattr__(self, name: str) -> Any:
        """The description of the metric."""
        if name in {"metric", "reason"}:
            raise AttributeError(name)
        return getattr(self.metric, name)

    name: Any = property(attrgetter("metric.name"))
    key: Any = property(attrgetter("metric.key"))
    label: Any = property(attrgetter("metric.label"))
    head: Any = property(attrgetter("metric.head"))
    largest: Any = property(attrgetter("metric.largest"))
    smallest: Any = property(attrgetter("metric.smallest"))
    lower_is_better: Any = property(attrgetter("metric.lower_is_better"))
    no_score_where: Any = property(attrgetter("reason"))

    def __str__(self) -> str:
        return str(self.metric)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        return Ready(corpus._core, signature=(f"not scored:{self.reason}",))

    def notes(self, statistics: Totals) -> list[str]:  # noqa: ARG002
        return [f"{self.label} has no score: {self.reason}."]

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """Rows of zeros."""
        return [(0.0, 0.0)] * corpus.candidate_count


def computable(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """The metrics that this machine can compute, for tables in which a row without scores is useless; warns about the
    others.
    """
    metrics = tuple(metrics)
    for metric in metrics:
        if isinstance(metric, NotScored):
            warn(f"{metric.label} is left out: {metric.reason}")
    return tuple(metric for metric in metrics if not isinstance(metric, NotScored))
