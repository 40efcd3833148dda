"""Findings: what one look at the captions says about the scores, before anybody believes them.

`Corpus.seen` has counts, which add up over parts of a corpus; this module alone judges them, so that every engine finds
the same. The thresholds are far above what ordinary data has: docs/explanation/findings.md gives both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sacrecap.errors import option
from sacrecap.metrics.registry import groups

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus, Seen, Tallies
    from sacrecap.metrics import Metric
    from sacrecap.scoring.result import Score

RATIO_PARTS = 20
"""Parts of 1 in which ratios of lengths are counted, as in the native core."""


class SystemResult(Protocol):
    """What messages take of the result of a system: its scores by key, its images and captions, what is odd in them."""

    def __getitem__(self, key: str, /) -> Score: ...
    def values(self) -> Collection[Score]: ...
    @property
    def images(self) -> int: ...
    @property
    def corpus(self) -> Corpus: ...
    @property
    def findings(self) -> list[Finding]: ...


@dataclass(frozen=True)
class Finding:
    """Something about the captions that makes scores doubtful.

    Examples:
        >>> references = {str(n): ["a dog runs on the beach"] for n in range(4)}
        >>> result = sacrecap.score(references, dict.fromkeys(references, "a dog <unk>"), "rouge-l")
        >>> print(result.findings[0].kind, result.findings[0].share)
        token 1.0
    """

    kind: str
    """One of `sacrecap.choices.FINDINGS`."""
    share: float
    """Of the captions, or of the images: of which, the message says; 0 to 1."""
    count: int
    """How many these are."""
    example: dict[str, str]
    """One of them: `image_id`, the smallest in the alphabet, and the beginning of the `caption`."""
    metrics: tuple[str, ...]
    """Keys of the scored metrics that it makes doubtful."""
    message: str
    """What was found, and what to do."""
    systems: tuple[str, ...] = ()
    """Of a comparison: the systems that it is about."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON: all fields, the systems only where there are several."""
        document = {**vars(self), "metrics": list(self.metrics), "systems": list(self.systems)}
        return document if self.systems else {name: value for name, value in document.items() if name != "systems"}

    def __str__(self) -> str:
        """The line that people see."""
        systems = f"{' and '.join(self.systems)}: " if self.systems else ""
        return f"found, {self.kind}: {systems}{self.message}"


class FindingRule(NamedTuple):
    """When a count is a finding, and what it says."""

    kind: str
    says: str
    """What is found, after how many there are."""
    remedy: str
    share: float = 0
    """The least share."""
    least: int = 1
    """The least that counts, whatever the share."""
    name: str = ""
    """Of the count, where it is not the kind's."""


_CHECK = "are these the same images?"
_MARKS = (
    FindingRule(
        "empty",
        "are empty or missing",
        "they score about 0, also where lower is better: add captions, or leave the images out",
        share=0.01,
    ),
    FindingRule("list", "are a list as text", "write lists as lists, or name the column of single captions"),
    FindingRule("json", "are JSON as text", "take the caption out of it"),
    FindingRule("think", "hold a model's thoughts", "cut out everything up to the closing tag"),
    FindingRule("token", "hold tokens of a model, or signs of its tokenizer", "decode without special tokens"),
    FindingRule("markdown", "are Markdown", "its signs count as words; ask for plain text, or strip them", share=0.05),
    FindingRule(
        "lines", "have lines that are each as long as a caption", "give each caption a row of its own", share=0.05
    ),
    *(
        FindingRule(
            "ids", f"were matched by {what} of their image ids, as no id is the same", _CHECK, name=f"ids by {how}"
        )
        for how, what in (("stem", "the file name"), ("number", "the number"))
    ),
)
"""Of each caption, by itself. One token of a model is one too many; Markdown, lines and empty captions are found from
these shares on, since published captions have some.
"""
_DENIED = FindingRule(
    "denied",
    "deny something (“no”, “without”), and what they deny counts as named",
    "take chair-i(denied=skip), and chair-s likewise",
    share=0.05,
    least=5,
)
"""Of metrics that count the objects that captions name. Short captions have these words in 0 to 0.3 %, long ones of
vision-language models in 6 to 14 %.
"""
_EQUAL = FindingRule(
    "repeated", "have the same caption several times", "give each caption once", 0.05, 3, name="all equal"
)
_OWN = FindingRule(
    "in-references",
    "are one of their own references, word by word",
    "take them out of the references (a leak), or say that they are people's",
    share=0.1,
    least=5,
    name="own reference",
)
"""Published systems say 0.1 to 2 % of their captions as a reference does."""
_SAME = FindingRule(
    "same-caption", "have one and the same caption", "did the model see the images?", 0.2, 4, name="same caption"
)
"""The commonest caption of published systems has 2 % of the images; of 60 images of a template, 13 %."""
_OTHER = FindingRule(
    "wrong-image", "match their own references worse than those of most other images", "", 0.1, 7, name="other image"
)
"""Than those of three quarters: of published systems 0 to 2.5 %, of captions that were given to other images a quarter.
So four times as many are of other images: this says that two fifths are. Of 60 captions of a template 10 %.
"""
_NEXT, _BEFORE = 0.4, 0.15
"""The share of images whose neighbour's references match better, from which ids are shifted, and by how much it is
above that of the other neighbour; else both are below 10 %, and equal where captions are of any other image.
"""
_BEGINNING = (3, 10)
"""The fewest captions that begin alike for a finding: if the beginning is a label or speaks of the image; if not."""
_SPEAKS = (":", "image", "picture", "photo", "scene", "video")


def findings(seen: Seen, metrics: Iterable[Metric], called: str = "candidates") -> list[Finding]:
    """What the counts say of the metrics' scores, worst first; nothing about ordinary captions. Messages call
    candidates `called`.
    """
    chosen, (counts, sample) = list(metrics), seen
    whole = {part: sum(histogram(counts, part).values()) for part in ("candidates", "references")}
    texts: list[Finding] = []
    for part, name in (("candidates", called), ("references", "references")):
        for rule in _MARKS:
            texts += _ruled(rule, counts, part, whole[part], name)
        texts += _ruled(_EQUAL, counts, part, counts.get((part, "several", 0), _NONE)[0], f"images with several {name}")
    texts += _ruled(_OWN, counts, "", sum(histogram(counts, "", "ratio").values()), called)
    captions = sample.get(("", "captions", 0), _NONE)[0]
    among = called if captions == whole["candidates"] else f"{called} of a sample"
    images = sample.get(("", "images", 0), _NONE)[0]
    same = _ruled(_SAME, sample, "", images, among if captions == images else f"images of {among}")
    texts += [*same, *_beginnings(sample, captions, among), *(() if same else _other_images(sample, among))]
    misled = [metric for metric in chosen if metric.counts_denied]
    denials = _ruled(_DENIED, counts, "candidates", whole["candidates"], called)
    return [
        *_of_lengths(counts, chosen, called),
        *(replace(finding, metrics=_keys(chosen)) for finding in texts),
        *(replace(finding, metrics=_keys(misled)) for finding in denials if misled),
    ]


_NONE = (0, "", "")


def _ruled(rule: FindingRule, counts: Tallies, part: str, whole: int, what: str) -> list[Finding]:
    """The finding of a rule, if there is one."""
    count, image, caption = counts.get((part, rule.name or rule.kind, 0), _NONE)
    if count < rule.least or count < rule.share * whole:
        return []
    message = f"{_many(count, whole, what)} {rule.says} (image {image}{_quoted(caption)}); {rule.remedy}"
    return [Finding(rule.kind, count / whole, count, _example(image, caption), (), message)]


def _beginnings(sample: Tallies, captions: int, among: str) -> list[Finding]:
    for (_, name, number), (count, image, caption) in sorted(sample.items()):
        if name in ("beginning", "long beginning"):
            begun = " ".join(caption.split()[:number])
            speaks = any(word in begun.lower() for word in _SPEAKS)
            # Of captions of people, more than half may begin with “a man”.
            counts = speaks or (name == "beginning" and count >= _BEGINNING[1])
            if counts and (number > 1 or begun.endswith(":")) and count >= _BEGINNING[0]:
                message = (
                    f"{_many(count, captions, among)} begin with “{begun}” (image {image}); these words count like "
                    "the others: ask for captions without, or cut them off"
                )
                return [Finding("prefix", count / captions, count, _example(image, caption), (), message)]
    return []


def _other_images(sample: Tallies, among: str) -> list[Finding]:
    matched = sample.get(("", "matched", 0), _NONE)[0]
    other = sample.get(("", _OTHER.name, 0), _NONE)[0]
    for name, neighbour, opposite in (("next image", "next", "previous"), ("previous image", "previous", "next")):
        count, image, caption = sample.get(("", name, 0), _NONE)
        before = count - sample.get(("", f"{opposite} image", 0), _NONE)[0]
        is_worse = other >= max(_OTHER.least, _OTHER.share * matched / 2)  # else they say of both images what is there
        if is_worse and count >= _NEXT * matched and before >= _BEFORE * matched:
            message = (
                f"{_many(count, matched, among)} match the references of the {neighbour} image, by its id, better "
                f"than their own (image {image}{_quoted(caption)}); the ids are shifted by one"
            )
            return [Finding(_OTHER.kind, count / matched, count, _example(image, caption), (), message)]
    share = min(4 * other / max(matched, 1), 1)
    rule = _OTHER._replace(
        remedy=f"of captions on any ids a quarter would, so about {share:.0%} are on other images' ids: do ids and "
        "captions belong together?"
    )
    return _ruled(rule, sample, "", matched, among)


# Lengths


def histogram(counts: Tallies, part: str, name: str = "words") -> dict[int, int]:
    """How many captions of the part have so many words, or another number."""
    return {number: tally[0] for (of, what, number), tally in counts.items() if (of, what) == (part, name)}


def quantile(histogram: Mapping[int, int], share: float = 0.5) -> int:
    """The least number that this share of the values does not exceed; 0 for no values."""
    total, so_far = sum(histogram.values()), 0
    for number in sorted(histogram):
        so_far += histogram[number]
        if so_far >= share * total:
            return number
    return 0


def _of_lengths(counts: Tallies, metrics: list[Metric], called: str) -> list[Finding]:
    """Whether captions have other lengths than their references by more than metrics bear."""
    ratios = histogram(counts, "", "ratio")
    unborne = {metric: parts for metric in metrics if (parts := _unborne(counts, metric))}
    if not unborne:
        return []
    beyond, outside = list(unborne), set.intersection(*unborne.values())
    count, total = sum(ratios[parts] for parts in outside), sum(ratios.values())
    image, caption = min((counts["", "ratio", parts][1:] for parts in outside), default=("", ""))
    candidate_words, described = (quantile(histogram(counts, part)) for part in ("candidates", "references"))
    message = (
        f"the median caption has {candidate_words} words, the median reference {described}: at the length of "
        f"{_many(count, total, called)} (image {image}), {_tell_little(beyond, metrics)}"
    )
    return [Finding("length", count / total, count, _example(image, caption), _keys(beyond), message)]


def _unborne(counts: Tallies, metric: Metric) -> set[int]:
    """The lengths, in parts of the references', that the metric does not bear, if most captions have such."""
    if metric.bears is None:
        return set()
    low, high, low_if_long = metric.bears
    if quantile(histogram(counts, "references")) > _LONG:
        low = _ORDINARY * low_if_long
    least, most = low * RATIO_PARTS - 1e-9, high * RATIO_PARTS + 1e-9
    ratios = histogram(counts, "", "ratio")
    unborne = {parts for parts in ratios if not least <= parts <= most}
    return unborne if 2 * sum(ratios[parts] for parts in unborne) > sum(ratios.values()) else set()


_LONG = 15
"""Words of the median reference, above which the ranges for paragraphs hold: measured at 10, and at 20 to 240 words."""
_ORDINARY = 0.7
"""The ratio of the whole captions of paragraphs that were measured."""


def _tell_little(beyond: list[Metric], metrics: list[Metric]) -> str:
    """Which metrics fail, and what to do: the group `long` helps where not all of it is scored."""
    rest = [metric.label for metric in metrics if metric not in beyond and metric.bears is not None]
    still = f"; {', '.join(rest)} still {'do' if len(rest) > 1 else 'does'}" if rest else ""
    say = "says" if len(beyond) == 1 else "say"
    has_long = {metric.name for metric in metrics} >= {*groups()["long"]}
    take = "" if has_long else f"take {option('metrics', 'long')}, or "
    return (
        f"{', '.join(metric.label for metric in beyond)} no longer {say} which captions are right{still}; {take}bring "
        "captions and references to like lengths"
    )


def comparable(first: SystemResult, other: SystemResult, key: str) -> bool:
    """Whether the metric of that key bears the lengths of two systems' captions."""
    metric, seen = first[key].metric, (first.corpus.seen, other.corpus.seen)
    return not any(_unborne(counts, metric) for counts, _ in seen) and _alike(*seen, metric)


def _alike(first: Seen, other: Seen, metric: Metric) -> bool:
    """Whether the metric bears how much longer one system's captions are than the other's.

    It was measured with one of the two as long as the references. So captions that are shorter than those are compared
    with the longer ones, or with captions as long as references; longer ones with the shorter, likewise.
    """
    ratios = [histogram(seen.everywhere, "", "ratio") for seen in (first, other)]
    if metric.bears is None or not all(ratios):
        return True
    short, long = sorted(max(quantile(ratio), 1) / RATIO_PARTS for ratio in ratios)
    low, high, low_if_long = metric.bears
    if quantile(histogram(first.everywhere, "references")) > _LONG:
        low = low_if_long
    return short >= low * min(long, 1) - 1e-9 and long <= high * max(short, 1) + 1e-9


def of_systems(results: Mapping[str, SystemResult]) -> list[Finding]:
    """The findings about pairs of systems, whose lengths differ too much, and those of each; what is found of several
    alike, as of their references, is one.
    """
    alike: dict[tuple[str, str], Finding] = {}
    for name, result in results.items():
        for finding in result.findings:
            before = alike.get((finding.kind, finding.message), finding)
            alike[finding.kind, finding.message] = replace(finding, systems=(*before.systems, name))
    lengths_told = [finding for finding in alike.values() if finding.kind == "length"]
    covered = {(name, key) for finding in lengths_told for name in finding.systems for key in finding.metrics}
    pairs = []
    for names in combinations(results, 2):
        seen = results[names[0]].corpus.seen, results[names[1]].corpus.seen
        metrics = [score.metric for score in results[names[0]].values()]
        beyond = [metric for metric in metrics if not _alike(*seen, metric)]
        if all(any((name, metric.key) in covered for name in names) for metric in beyond):
            continue  # what is found of one of the two tells it
        lengths = [histogram(part.everywhere, "candidates") for part in seen]
        medians = [quantile(length) for length in lengths]
        longer = medians.index(max(medians))
        above = [number for number in lengths[longer] if number > min(medians)]
        count = sum(lengths[longer][number] for number in above)
        examples = [seen[longer].everywhere["candidates", "words", number][1:] for number in above]
        image, caption = min(examples, default=("", ""))
        message = f"the median captions have {medians[0]} and {medians[1]} words: {_tell_little(beyond, metrics)}"
        share = count / sum(lengths[longer].values())
        pairs.append(Finding("length", share, count, _example(image, caption), _keys(beyond), message, names))
    return [*pairs, *alike.values()]


# Words


def _keys(metrics: Iterable[Metric]) -> tuple[str, ...]:
    return tuple(metric.key for metric in metrics)


def _example(image: str, caption: str) -> dict[str, str]:
    return {"image_id": image, "caption": caption}


_SHOWN = 40


def _quoted(caption: str) -> str:
    """The beginning of a caption in a message."""
    text = " ".join(caption.split())
    if not text:
        return ""
    return f": “{text}”" if len(text) <= _SHOWN else f": “{text[:_SHOWN]}…”"


def _many(count: int, whole: int, what: str) -> str:
    """`12 of 2,000 candidates (0.6 %)`."""
    return f"{count:,} of {whole:,} {what} ({100 * count / whole:.3g} %)"
