"""Metrics made from Python functions: `@sacrecap.metric`.

    @sacrecap.metric
    def length_ratio(references, candidate, *, power: float = 1.0):
        \"\"\"The candidate is as long as a reference.\"\"\"
        ...

    sacrecap.score(references, candidates, "length-ratio(power=2), cider-d")

The names of the first parameters say what the function takes; the others, after `*`, are parameters of the metric
if they have a default, and its needs if they have none.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast, overload

from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import DataError, UsageError, spelled
from sacrecap.metrics.base import PythonMetric, Ready
from sacrecap.metrics.declared import Parameter, parameter
from sacrecap.metrics.registry import register
from sacrecap.resources.needs import Needs

Function = Callable[..., Any]

FORMS = {"candidate": "caption", "candidates": "batch", "captions": "set"}
"""What a function scores, by the name of its parameter: a caption, all captions at once, a set of captions."""
_NEEDED = {"references": "references", "captions": "caption_sets"}


class FunctionMetric(PythonMetric):
    """A metric whose scores a function computes; [`metric`][sacrecap.metric] makes such classes."""

    function: ClassVar[Function]
    form: ClassVar[str]
    as_given: ClassVar[bool]
    own_needs: ClassVar[tuple[str, ...]]
    code: ClassVar[str]

    @property
    def reads_tokens(self) -> bool:
        return not self.as_given

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the needs that the function names."""
        lacking = [name for name in self.own_needs if name not in needs]
        if lacking:
            name = lacking[0]
            remedy = spelled(python=f"needs={{'{name}': …}}", command=f"--need {name}=VALUE")
            raise UsageError(f"{self.key} needs {name}: {remedy}")
        values = {name: needs.get(name) for name in self.own_needs}
        signature = [f"{name}:{_checksum(repr(value))}" for name, value in values.items()]
        return replace(super().ready(corpus, needs), signature=(*signature, f"code:{self.code}"), own=values)

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:
        """The function's answer for each candidate, or for each set of captions: a score or a row of numbers.

        Raises `DataError` for any other answer.
        """
        texts = corpus.given if self.as_given else corpus.texts
        values = {**{name: getattr(self, name) for name in self._declared}, **ready.own}
        function = type(self).function
        images: list[str] = []
        calls: list[dict[str, Any]] = []
        for image in corpus.image_ids:
            candidates, references = texts(image)
            shared: dict[str, Any] = {"references": references} if self.needs_references else {}
            new = [{"captions": candidates}] if self.scores_sets else [{"candidate": text} for text in candidates]
            calls += [{**shared, **call} for call in new]
            images += [image] * len(new)
        if self.form == "batch":
            together = {"candidates": [call["candidate"] for call in calls]}
            if self.needs_references:
                together["references"] = [call["references"] for call in calls]
            answers = list(function(**together, **values))
            if len(answers) != len(images):
                counts = f"it was given {len(images):,} candidates and returned {len(answers):,} scores"
                raise DataError(f"{self.key}: {counts}; expected one per candidate")
        else:
            answers = [function(**call, **values) for call in calls]
        whole = type(self).formula is not PythonMetric.formula
        rows: list[tuple[float, ...]] = []
        for answer, image in zip(answers, images, strict=True):
            try:
                rows.append(tuple(map(float, answer)) if whole else (float(answer), 1.0))
            except (TypeError, ValueError):
                type_ = "a row of numbers, for its formula" if whole else "a number"
                raise DataError(f"{self.key}: for image {image!r} it returned {answer!r}; expected {type_}") from None
        return rows


@overload
def metric(function: Function, /) -> type[FunctionMetric]: ...
@overload
def metric(
    *,
    name: str | None = None,
    formula: Callable[..., float] | None = None,
    lower_is_better: bool = False,
    upper: float | None = None,
    captions: str = "tokens",
    trained_on_references: bool = False,
    trained_on: str | Iterable[str] = (),
    groups: Iterable[str] = (),
    summary: str | None = None,
    equation: str | None = None,
    source: str | None = None,
    cites: Iterable[str] = (),
    nothing: Mapping[str, str] | None = None,
) -> Callable[[Function], type[FunctionMetric]]: ...
def metric(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    formula: Callable[..., float] | None = None,
    lower_is_better: bool = False,
    upper: float | None = None,
    captions: str = "tokens",
    trained_on_references: bool = False,
    trained_on: str | Iterable[str] = (),
    groups: Iterable[str] = (),
    summary: str | None = None,
    equation: str | None = None,
    source: str | None = None,
    cites: Iterable[str] = (),
    nothing: Mapping[str, str] | None = None,
) -> type[FunctionMetric] | Callable[[Function], type[FunctionMetric]]:
    """Makes a metric from a function, and registers it: its name can then be used wherever metrics are named.

    The function takes, by these names and in any order,

    - `references, candidate`: the references of an image, a list of text, and a caption; it returns the score;
    - `references, candidates`: lists of both for all captions; it returns a score for each;
    - `references, captions`: the captions of an image together; it returns the score of the set.

    `references` may be left out. After `*` come the metric's parameters, each with a default (a number, text, yes or
    no, or a [`parameter`][sacrecap.metrics.parameter] with bounds and a meaning), and its needs, without a default:
    they come from `needs={name: value}` and `--need name=value`.

    Args:
        function: the function, if the decorator is used without parentheses.
        name: of the metric; by default that of the function, with hyphens.
        formula: computes the corpus score from sums of rows. The function then returns a row of numbers per caption,
            all of one width, instead of a score. Without a formula the corpus score is the mean.
        lower_is_better: whether less is better.
        upper: the largest score; None if there is none. The smallest is 0.
        captions: `tokens`, joined by blanks, as the other metrics see them, or `given`, the text as in the file.
        trained_on_references: whether a caption's score depends on the references of other images too. If not, it must
            not depend on them, and this is checked.
        trained_on: the data sets of human judgments that it was fitted to, by the names of `sacrecap agreement
            --dataset`. On these, [`agreement`][sacrecap.judgments.agreement] does not call it the best.
        groups: names of groups that include the metric.
        summary: what a high score means; by default the first line of the function's docstring.
        equation: the formula as text.
        source: a paper; by default the module.
        cites: BibTeX entries of what to cite, which `sacrecap cite` prints.
        nothing: the scores of edge cases such as empty captions, in words.

    Returns:
        The metric's class. `length_ratio(power=2)` is a metric, like `sacrecap.metrics.CiderD(sigma=5)`.

    Raises:
        UsageError: parameters with other names, a name that is taken, or a default of another kind.

    Examples:
        >>> @sacrecap.metric
        ... def shared_words(references, candidate):
        ...     "The candidate's words are a reference's."
        ...     known = {word for reference in references for word in reference.split()}
        ...     words = candidate.split()
        ...     return sum(word in known for word in words) / max(len(words), 1)
        >>> result = sacrecap.score({"1": ["a red bus"]}, {"1": "a blue bus"}, "shared-words", interval=None)
        >>> round(result["shared-words"].value, 3)
        0.667
    """
    if captions not in {"tokens", "given"}:
        raise UsageError(f"captions must be tokens or given, got {captions!r}")

    def make(function: Function) -> type[FunctionMetric]:
        where = f"{function.__module__}.{function.__qualname__}"
        sides, declared, needs = _signature(function, where)
        forms = [FORMS[name] for name in sides if name in FORMS]
        if len(forms) != 1:
            raise UsageError(
                f"{where} takes {', '.join(sides) or 'no captions'}; name its parameters references, candidate (it "
                "scores one caption), references, candidates (all at once), or references, captions (a set of captions)"
            )
        [form] = forms
        title = name or function.__name__.strip("_").replace("_", "-").lower()
        doc = (inspect.getdoc(function) or "").split("\n")[0]
        members: dict[str, Any] = {
            "__doc__": function.__doc__,
            "__module__": function.__module__,
            "__qualname__": function.__qualname__,
            "title": title,
            "summary": summary or doc or title,
            "equation": equation or f"{function.__name__}({', '.join(sides)})",
            "source": source or f"{function.__qualname__} in {Path(function.__code__.co_filename).name}",
            "cites": tuple(cites),
            "upper": upper,
            "nothing": dict(nothing or {}),
            "needs": tuple(_NEEDED[name] for name in sides if name in _NEEDED) + needs,
            "scores_sets": form == "set",
            "trained_on_references": trained_on_references,
            "trained_on": (trained_on,) if isinstance(trained_on, str) else tuple(trained_on),
            "lower_is_better": lower_is_better,
            "function": staticmethod(function),
            "form": form,
            "as_given": captions == "given",
            "own_needs": needs,
            "code": _checksum(_source(function)),
            **declared,
        }
        if formula is not None:
            members["formula"] = staticmethod(formula)
        kind = cast("type[FunctionMetric]", type(function.__name__, (FunctionMetric,), members))
        register(kind, groups)
        return kind

    return make if function is None else make(function)


def _signature(function: Function, where: str) -> tuple[list[str], dict[str, Parameter], tuple[str, ...]]:
    """The captions that a function takes, its parameters with their declarations, and the names of its needs."""
    sides: list[str] = []
    declared: dict[str, Parameter] = {}
    needs: list[str] = []
    for argument in inspect.signature(function).parameters.values():
        if argument.kind in {argument.POSITIONAL_ONLY, argument.VAR_POSITIONAL, argument.VAR_KEYWORD}:
            raise UsageError(f"{where}: {argument} cannot be given by its name; a metric's function takes each by name")
        if argument.name in {*FORMS, "references"}:
            sides.append(argument.name)
        elif argument.default is argument.empty:
            needs.append(argument.name)
        elif isinstance(argument.default, Parameter):
            declared[argument.name] = argument.default
        elif isinstance(argument.default, (bool, int, float, str)):
            declared[argument.name] = parameter(f"{argument.name} of the function", default=argument.default)
        else:
            default = f"the default of {argument.name} is {argument.default!r}"
            raise UsageError(f"{where}: {default}; a parameter of a metric is a number, text, yes or no")
    return sides, declared, tuple(needs)


def _source(function: Function) -> str:
    """The function's source, or its compiled code if there is no source."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = function.__code__
        constants = [value for value in code.co_consts if not inspect.iscode(value)]
        return repr((code.co_code, code.co_names, constants))


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
