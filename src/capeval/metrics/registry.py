"""Every metric by name, and the text that names them: `coco`, `bleu-4, cider-d(sigma=5)`.

A new metric adds its line to `METRICS`; groups, the command line, the documentation and the tests read it from there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from capeval.errors import UsageError, warn
from capeval.metrics import (
    Bleu,
    Cider,
    CiderD,
    Combine,
    Distinct,
    Div,
    Fluency,
    Lsa,
    Mbleu,
    MbleuMix,
    Meteor,
    Metric,
    RougeL,
    RougeN,
    RougeS,
    SelfCider,
    Vifidel,
    Wmd,
)
from capeval.metrics.base import ParameterValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

METRICS: tuple[tuple[Metric, tuple[str, ...]], ...] = (
    *((Bleu(n=n), ("coco", "consensus")) for n in (1, 2, 3, 4)),
    (Meteor(), ("coco", "consensus")),
    *((RougeN(n=n), ("consensus",)) for n in (1, 2, 3, 4)),
    (RougeL(), ("coco", "consensus")),
    (RougeS(), ("consensus",)),
    (Cider(), ("consensus",)),
    (CiderD(), ("coco", "consensus")),
    (Wmd(), ("fidelity",)),
    (Vifidel(), ("fidelity",)),
    (Fluency(), ("fidelity",)),
    (SelfCider(), ("diversity",)),
    (Lsa(), ("diversity",)),
    *((Mbleu(n=n), ("diversity",)) for n in (1, 2, 3, 4)),
    (MbleuMix(), ("diversity",)),
    *((Div(n=n), ("diversity",)) for n in (1, 2)),
    (Distinct(), ("diversity",)),
)
"""Each metric with its default parameters, and the groups it belongs to; every metric that scores a caption, not a
caption set, belongs to `all` too."""

BY_NAME: dict[str, Metric] = {metric.name: metric for metric, _ in METRICS}


def groups() -> dict[str, tuple[Metric, ...]]:
    """The groups by name, `all` last."""
    members: dict[str, tuple[Metric, ...]] = {}
    for metric, names in METRICS:
        for name in names:
            members[name] = (*members.get(name, ()), metric)
    return {**members, "all": tuple(metric for metric in BY_NAME.values() if not metric.scores_sets)}


def parse_metrics(
    text: str | Metric | Iterable[str | Metric], lacking: Callable[[Metric], str | None] | None = None
) -> tuple[Metric, ...]:
    """Metrics from comma-separated names and groups, or from any mixture of names and values.

    Repeats are dropped; order is kept. A metric that a group brings in, and that `lacking` gives a reason against, is
    left out with a warning that says the reason; one that is named stays.

    Raises `UsageError` for an unknown name (suggesting the nearest), an unknown parameter or an unacceptable value.
    """
    items = [text] if isinstance(text, (str, Metric)) else list(text)
    chosen: dict[Metric, None] = {}
    for item in items:
        if isinstance(item, Metric):
            chosen[item] = None
        else:
            for name in _split(item):
                chosen.update(dict.fromkeys(_parse_one(name, lacking)))
    if not chosen:
        raise UsageError(f"no metric given; {_accepted()}")
    return tuple(chosen)


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


def _parse_one(text: str, lacking: Callable[[Metric], str | None] | None) -> tuple[Metric, ...]:
    match = _CALL.fullmatch(text)
    if match is None:
        matching = text.count("(") == text.count(")")
        remedy = _accepted() if matching else "its parentheses do not match"
        raise UsageError(f"unknown metric {text!r}{_nearest(text)}; {remedy}")
    name = match["name"].strip().lower()
    if match["inside"] is None and name in groups():
        return groups()[name] if lacking is None else _without_lacking(name, lacking)
    if name == Combine.family:
        return (_combination(match["inside"] or ""),)
    metric = BY_NAME.get(name)
    if metric is None:
        raise UsageError(f"unknown metric {text!r}{_nearest(name)}; {_accepted()}")
    return (metric.with_parameters(_parameters(metric, match["inside"] or "")),)


def _combination(inside: str) -> Metric:
    """Members are names or groups; what has an equals sign before any parenthesis is a parameter."""
    members: list[Metric] = []
    values: dict[str, ParameterValue] = {}
    for part in _split(inside):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if equals and "(" not in name:
            values[name] = value
        else:
            members.extend(_parse_one(part, None))
    return Combine(*members).with_parameters(values)


def _without_lacking(group: str, lacking: Callable[[Metric], str | None]) -> tuple[Metric, ...]:
    kept = []
    for metric in groups()[group]:
        reason = lacking(metric)
        if reason is None:
            kept.append(metric)
        else:
            warn(f"{metric.label} is left out of group {group}: {reason}")
    return tuple(kept)


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
    """The value in the type of the default; text that is none stays text, which the metric then refuses by name."""
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

    near = difflib.get_close_matches(name.split("(")[0].strip(), [*BY_NAME, *groups(), Combine.family], n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _accepted() -> str:
    return f"metrics: {', '.join(BY_NAME)}; groups: {', '.join(groups())}; or any as combine(METRIC, METRIC)"
