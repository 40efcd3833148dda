"""How metrics came to an image's score, as figures in HTML: METEOR's alignment, VIFIDEL's plan, CHAIR's mentions, what
coverage and precision find said, and the terms of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.report.scene_graph_picture import match_figure, plain

if TYPE_CHECKING:
    from sacrecap.metrics.chair import Hallucination
    from sacrecap.metrics.meteor.meteor import Alignment
    from sacrecap.metrics.statements import Items, Statements
    from sacrecap.metrics.vifidel import Explanation

_CELL = 8
"""Width of a character: the words are monospaced, in the figure's own units."""
_LINE = 18
_THICKEST = 26
"""Of a line that moves everything."""


def explanation_figures(explained: Mapping[str, Any]) -> str:
    """The figures of what `Result.explain` returns, one below the other; nothing for what has no words."""
    return "".join(_DRAWN[kind](explanation) for kind, explanation in explained.items() if explanation is not None)


class _Row(NamedTuple):
    """Words side by side, with two blanks between, and what each tells when it is pointed at."""

    words: Sequence[str]
    titles: Sequence[str]
    left: float = 0.0

    def start(self, number: int) -> int:
        return sum(_CELL * (len(word) + 2) for word in self.words[:number])

    def width(self) -> int:
        return max(self.start(len(self.words)) - 2 * _CELL, _CELL)

    def middle(self, span: tuple[int, int]) -> float:
        """That of the words from the first to before the last."""
        return self.left + (self.start(span[0]) + self.start(span[1])) / 2 - _CELL


class _Link(NamedTuple):
    """A line between words of two rows."""

    kind: str
    above: tuple[int, int]
    below: tuple[int, int]
    title: str
    look: str = ""


def _alignment(alignment: Alignment) -> str:
    above, below = (_Row(words, [""] * len(words)) for words in (alignment.candidate, alignment.reference))
    links = []
    for link in alignment.links:
        ours, theirs = " ".join(above.words[slice(*link.candidate)]), " ".join(below.words[slice(*link.reference)])
        links.append(_Link(link.module, link.candidate, link.reference, f"{link.module}: {ours} – {theirs}"))
    reference = f"reference {alignment.number + 1}"
    keys = "".join(f'<span class="key {kind}">{kind}</span>' for kind in dict.fromkeys(link.kind for link in links))
    caption = f"METEOR: candidate above, {reference} below. {keys}"
    return _linked(above, below, links, 46, f"METEOR alignment with {reference}", caption)


def _plan(plan: Explanation) -> str:
    if not plan.flows:
        return ""
    rows = [
        _Row(
            words, [f"{word}: share {share:.3f}, ρ {rho:.3f}" for word, share, rho in zip(words, *figures, strict=True)]
        )
        for words, figures in (
            (plan.objects, (plan.object_weights, plan.object_importance)),
            (plan.words, (plan.word_weights, plan.word_importance)),
        )
    ]
    width = max(row.width() for row in rows)
    above, below = (row._replace(left=(width - row.width()) / 2) for row in rows)
    dearest = max(*(cost for *_, cost in plan.flows), 1e-12)
    links = [
        _Link(
            "flow",
            (i, i + 1),
            (j, j + 1),
            f"{plan.objects[i]} → {plan.words[j]}: share {share:.3f} × cost {cost:.3f} = {share * cost:.3f}",
            f' stroke-width="{max(1, _THICKEST * share):.1f}" stroke-opacity="{0.85 - 0.55 * cost / dearest:.2f}"',
        )
        for i, j, share, cost in plan.flows
    ]
    label = "VIFIDEL: objects above, words below"
    how = "a line is as thick as what the object pays the word, and the paler the dearer"
    return _linked(above, below, links, 90, label, f"{label}; {how}. Distance {plan.distance:.3f}.")


def _linked(above: _Row, below: _Row, links: Sequence[_Link], gap: int, label: str, caption: str) -> str:
    width, height = max(above.width(), below.width()) + 4, 2 * _LINE + gap
    lines = "".join(
        f'<line class="{link.kind}" x1="{above.middle(link.above):g}" y1="{_LINE + 5}" '
        f'x2="{below.middle(link.below):g}" y2="{_LINE + gap - 13}"{link.look}>'
        f"<title>{plain(link.title)}</title></line>"
        for link in links
    )
    words = ""
    for row, y, spans in (
        (above, _LINE, [link.above for link in links]),
        (below, _LINE + gap, [link.below for link in links]),
    ):
        matched = {number for span in spans for number in range(*span)}
        words += "".join(
            f'<text class="{"matched" if number in matched else "unmatched"}" x="{row.left + row.start(number):g}" '
            f'y="{y}" textLength="{_CELL * len(word)}">{title and f"<title>{plain(title)}</title>"}{plain(word)}</text>'
            for number, (word, title) in enumerate(zip(row.words, row.titles, strict=True))
        )
    return (
        f'<figure class="alignment"><div class="sacrecap-scroll"><svg role="img" aria-label="{label}" '
        f'preserveAspectRatio="xMinYMid" viewBox="-2 0 {width} {height}" width="{width}" height="{height}">'
        f"{lines}{words}</svg></div><figcaption>{caption}</figcaption></figure>"
    )


def _mentions(hallucination: Hallucination) -> str:
    """The candidate sentence by sentence; the objects that are not there are marked."""
    sentences = [
        "".join(_piece(text, mention.there, mention.object) if mention else plain(text) for text, mention in pieces)
        for pieces in hallucination.pieces()
    ]
    if not sentences:
        return ""
    kind = ' class="numbered"' if len(sentences) > 1 else ""
    missed = f" There and not named: {plain(', '.join(hallucination.missed))}." if hallucination.missed else ""
    return (
        f'<figure class="mentions"><ol{kind}>{"".join(f"<li>{sentence}</li>" for sentence in sentences)}</ol>'
        '<figcaption>CHAIR: <span class="there">named and there</span>, <mark>named and not there</mark>, '
        f"{len(hallucination.hallucinated)} of {len(hallucination.mentions)}.{missed}</figcaption></figure>"
    )


def _piece(text: str, there: float | None, title: str = "", mark: str = "mark") -> str:
    """The text marked as there, or by a tag as not there; not at all for None."""
    if there is None:
        return plain(text)
    tag = 'span class="there"' if there else mark
    titled = f' title="{plain(title)}{"" if there else ": not there"}"' if title else ""
    return f"<{tag}{titled}>{plain(text)}</{tag.partition(' ')[0]}>"


def _statements(statements: Statements) -> str:
    """The caption with what no reference says marked, and the references with what it leaves out."""
    (caption,), references = (
        ["".join(_piece(text, support, mark=mark) for text, support in caption) for caption in side.pieces()]
        for side, mark in ((statements.candidate, "mark"), (statements.references, 'span class="left-out"'))
    )
    shares = "; ".join(f"{kind} {share}" for kind, share in statements.shares.items())
    return (
        f'<figure class="mentions"><p>{caption}</p><ol class="numbered">'
        f"{''.join(f'<li>{reference}</li>' for reference in references)}</ol>"
        '<figcaption>The caption: <span class="there">said and supported</span>, <mark>said and not supported</mark>. '
        f'The references below it: <span class="left-out">left out</span>. {shares}.</figcaption></figure>'
    )


def _items(items: Items) -> str:
    """The items one below the other: said in every part, in none, or with the share that is said."""
    looks = {"yes": ("there", "said"), "not mentioned": ("left-out", "not mentioned")}
    rows = []
    for item, share, answer in zip(items.items, items.said, items.answers, strict=True):
        look, title = looks.get(answer or "", ("", "says nothing" if share is None else f"{share:.0%} of it is said"))
        rows.append(f'<li><span class="{look}" title="{title}">{plain(item)}</span></li>')
    return (
        f'<figure class="mentions"><ol>{"".join(rows)}</ol><figcaption>The items: <span class="there">said</span>, '
        '<span class="left-out">not mentioned</span>, others said in part.</figcaption></figure>'
    )


_DRAWN: dict[str, Callable[[Any], str]] = {
    "alignment": _alignment,
    "explanation": _plan,
    "graph": match_figure,
    "hallucination": _mentions,
    "statement": _statements,
    "item": _items,
}
"""The figure of each kind of explanation."""
