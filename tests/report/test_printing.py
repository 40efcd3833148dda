"""Tables as values, and the one renderer of each format: whatever names come from files, the table says them."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from markdown_it import MarkdownIt

import sacrecap
from sacrecap import example
from sacrecap.errors import UsageError
from sacrecap.judgments import Ratings, agreement, rank_references
from sacrecap.judgments.judged_rows import Row
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report import agreement_report, comparison_formats, diversity_formats, ranking_formats, score_formats
from sacrecap.report.printing import latex, markdown, markup, separated, terminal
from sacrecap.report.printing.table import Bar, Cell, Column, Highlight, Interval, Number, Table, one_line, records

HOSTILE = [
    "a$b~{c}",
    "x & y",
    "50%_done",
    "a|b",
    "two\nlines",
    "mac\rlines",
    "page\u2028break",
    "back\\slash",
    "end\\",
    "\\|",
    "^",
    "#",
    "# title",
    "`code`",
    "<b>bold</b>",
    "a < b > c",
    "[link](x)",
    "![image](x)",
    "*star*",
    "*",
    "_under_",
    "snake_case_name",
    "~~struck~~",
    "&amp;",
    "&#35;",
    "[1]",
    "--",
    "---",
    "–-",
    "-",
    "''quoted''",
    ",,",
    "?`",
    "$x$",
    "\\textbf{x}",
    "\x1b[31mred",
    "tab\tbed",
    "[bold]rich[/bold]",
    "[/]",
    ":dog:",
    "naïve",
    "日本語",
    "🐕",
    "שלום",
    "α-β",
    "+1",
    "1. one",
    "=1+1",
    "%",
    '"',
    "a\\\nb",
]

CAPTIONS = dict(islice(example.systems()["plain"].items(), 6))
REFERENCES = {image: example.references()[image] for image in CAPTIONS}


# Readers of the formats: none of them shares a line with the writers.


def csv_names(text: str, column: int) -> list[str]:
    return [row[column] for row in list(csv.reader(io.StringIO(text)))[1:]]


def markdown_rows(text: str) -> list[list[str]]:
    """The cells of the tables, heads first, as their readers see them; fails for markup other than strong."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    rows: list[list[str]] = []
    for before, token in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        if before.type in ("th_open", "td_open"):
            kinds = {child.type for child in token.children or []}
            assert kinds <= {"text", "text_special", "strong_open", "strong_close"}, (token.content, kinds)
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textasciigrave": "`",
    "textbar": "|",
    "textless": "<",
    "textgreater": ">",
}
MATHS = {"leq": "≤", "downarrow": "↓", "alpha": "α", "beta": "β", "tau": "τ", "rho": "ρ", "lambda": "λ"}
PIECE = re.compile(
    r"\\(?P<command>[a-z]+)\{\}|\\(?P<escaped>[&%$#_{}])|\$\\(?P<maths>[a-z]+)\$|\$\^(?P<power>\w)\$"
    r"|(?P<minus>\$-\$)|(?P<dashes>-{2,3})|(?P<nothing>\{\})|(?P<plain>[^\\{}$&#%_~^|<>`])"
)


def latex_text(written: str) -> str:
    """What LaTeX prints of a text; fails for a character that would not print as itself."""
    read, at = "", 0
    while at < len(written):
        found = PIECE.match(written, at)
        assert found, f"{written[at:]!r} in {written!r} is not text"
        piece = {name: text for name, text in found.groupdict().items() if text is not None}
        [(kind, text)] = piece.items()
        read += {
            "command": lambda text: COMMANDS[text],
            "maths": lambda text: MATHS[text],
            "power": lambda text: {"2": "²"}[text],
            "minus": lambda text: "−",
            "dashes": lambda text: {"--": "–", "---": "—"}[text],
            "nothing": lambda text: "",
        }.get(kind, lambda text: text)(text)
        if kind == "plain" and text in "',":
            assert written[at + 1 : at + 2] != text, f"a ligature in {written!r}"
        at = found.end()
    return read


def latex_names(text: str, column: int = 0) -> list[str]:
    """A column of the tables' bodies; each line but a comment or a command is a row that ends in two backslashes."""
    names = []
    for body in re.findall(r"\\midrule\n(.*?)\n\\bottomrule", text, re.DOTALL):
        rows = [line.split(" & ") for line in re.sub(r"(?<!\\)&", " & ", body).replace("  ", " ").split("\n")]
        assert all(row[-1].endswith(r" \\") for row in rows)
        assert all(not row[0].startswith(("[", "*")) for row in rows)
        names += [latex_text(row[column].removesuffix(r" \\").strip()) for row in rows if row[0]]
    return names


def spaced(text: str) -> str:
    """A name on a line, as LaTeX and Markdown print white space."""
    return " ".join(one_line(text).split())


# The five results, of hostile names


def _score() -> tuple[Callable[..., str], Any]:
    result = sacrecap.score(REFERENCES, CAPTIONS, "bleu-1", samples=10)
    score = result["bleu-1"]
    metrics = [
        SimpleNamespace(
            label=name,
            bears=None,
            key=name,
            largest=1,
            parts=(),
            coverage=lambda _: None,
            landmarks=lambda _: {},
            needs=("references",),
            notes=lambda _: [],
            no_score_where=None,
            counts_denied=False,
            lower_is_better=False,
        )
        for name in HOSTILE
    ]
    scores = {name: replace(score, metric=metric) for name, metric in zip(HOSTILE, metrics, strict=True)}  # type: ignore[arg-type]
    return score_formats.render, replace(result, scores=scores)


SOME = HOSTILE[::4]
"""Of systems, which are printed in all their pairs."""


def _compare() -> tuple[Callable[..., str], Any]:
    systems = dict.fromkeys(SOME, CAPTIONS)
    return comparison_formats.render, sacrecap.compare(REFERENCES, systems, "bleu-1", samples=30, correction="none")


def _diversity() -> tuple[Callable[..., str], Any]:
    sets = dict.fromkeys(HOSTILE, REFERENCES)
    return diversity_formats.render, sacrecap.diversity(sets, metrics="div-1", interval=None)


def _agreement() -> tuple[Callable[..., str], Any]:
    rows = [Row(image, tuple(REFERENCES[image]), number) for number, image in enumerate(CAPTIONS)]
    judged = Ratings("ratings", "test", rows, list(CAPTIONS.values()), [(1,), (2,), (3,), (1,), (2,), (3,)], len(rows))
    found = agreement(judged, "rouge-1", interval=None)
    [measured] = found.measured
    names = [replace(measured, name=name, label=name) for name in HOSTILE]
    return agreement_report.render, replace(found, measured=names)


def _rank() -> tuple[Callable[..., str], Any]:
    found = rank_references({"1": ["a dog", "a cat"]}, metrics="rouge-1")
    [one, _] = found.images["1"]
    ranked = [replace(one, number=number, caption=name) for number, name in enumerate(HOSTILE)]
    return ranking_formats.render, replace(found, images={"1": ranked, **dict.fromkeys(HOSTILE, ranked[:1])})


def names_of(kind: str) -> list[str]:
    return SOME if kind == "compare" else HOSTILE


RESULTS = {"score": _score, "compare": _compare, "diversity": _diversity, "agreement": _agreement, "rank": _rank}


@pytest.fixture(scope="module", params=RESULTS)
def printed(request: pytest.FixtureRequest) -> tuple[str, Callable[..., str]]:
    """A kind of result, and what it prints in a format."""
    render, result = RESULTS[request.param]()
    return request.param, lambda format_, **options: render(result, format_, **options)


def test_csv_holds_every_name(printed: tuple[str, Callable[..., str]]) -> None:
    kind, render = printed
    names = csv_names(render("csv"), {"compare": 1, "rank": 2}.get(kind, 0))
    if kind == "rank":
        assert csv_names(render("csv"), 0) == ["1"] * len(HOSTILE) + HOSTILE
        names = names[: len(HOSTILE)]
    if kind == "compare":
        names.append(csv_names(render("csv"), 2)[-1])
    assert list(dict.fromkeys(names)) == names_of(kind)


def test_markdown_shows_every_name(printed: tuple[str, Callable[..., str]]) -> None:
    kind, render = printed
    rows = markdown_rows(render("markdown"))
    assert len({len(row) for row in rows}) == 1
    if kind == "diversity":
        names = rows[0][1:]
    elif kind == "rank":
        names = [row[-1] for row in rows[1 : 1 + len(HOSTILE)]]
    else:
        names = [row[0] for row in rows[1:]]
    assert names == [one_line(name).strip() for name in names_of(kind)]


def test_markdown_names_every_image() -> None:
    render, result = RESULTS["rank"]()
    titles = [line for line in render(result, "markdown").split("\n") if line.startswith("**")]
    shown = [MarkdownIt("commonmark").parse(title)[1].children or [] for title in titles]
    assert ["".join(child.content for child in children) for children in shown] == [
        one_line(name).strip() for name in ["1", *HOSTILE]
    ]
    assert all(children[1].type == "strong_open" for children in shown)


def test_latex_shows_every_name(printed: tuple[str, Callable[..., str]]) -> None:
    kind, render = printed
    text = render("latex")
    for line in text.split("\n"):
        if not line.startswith("%"):
            assert one_line(line) == line
    if kind == "diversity":
        head = re.search(r"\\toprule\n(.*?) \\\\\n", text)
        assert head
        names = [latex_text(cell.strip()) for cell in re.split(r"(?<!\\)&", head[1])][1:]
    else:
        names = latex_names(text, column=1 if kind == "rank" else 0)[: len(names_of(kind))]
    assert list(map(spaced, names)) == list(map(spaced, names_of(kind)))


def widest(text: str) -> int:
    """Cells of the longest line that is no signature: these are never broken."""
    return max(terminal.cell_len(line) for line in text.split("\n") if "|sacrecap:" not in line)


def test_the_terminal_shows_every_name(printed: tuple[str, Callable[..., str]]) -> None:
    kind, render = printed
    text = render("table")
    assert "\x1b" not in text
    for name in names_of(kind):
        assert one_line(name).rstrip() in text
    lines = text.split("\n")
    assert len(lines) == len(text.splitlines())
    assert widest(render("table", width=40)) <= 40


def test_json_is_the_documents_own(printed: tuple[str, Callable[..., str]]) -> None:
    _, render = printed
    assert json.loads(render("json"))["sacrecap"] == sacrecap.__version__


# The escapers alone


def nasty_texts() -> list[str]:
    """Texts of special characters, the same in each run."""
    source = random.Random(5)
    alphabet = "\\{}$&#%_~^|<>`'\",-–−²≤↓τ*[]()!?;:=+ab1 é🐕א\n\t"
    return ["".join(source.choices(alphabet, k=source.randint(1, 12))) for _ in range(1000)]


def test_latex_prints_a_text_as_it_is() -> None:
    for text in [*HOSTILE, *nasty_texts()]:
        assert latex_text(latex.escape(text)) == one_line(text)


def test_markdown_shows_a_text_as_it_is() -> None:
    for text in [*HOSTILE, *nasty_texts()]:
        table = Table([Column(text, align="left")], [[text], [Cell(text)]])
        rows = markdown_rows(markdown.render(table))
        assert rows == [[one_line(text).strip()]] * 3, text


def test_what_needs_no_escape_has_none() -> None:
    for name in ("run_1", "CIDEr-D", "F (β² = 5)", "a < b, x & y", "METEOR(language=de)", "it's fine!", "#1: 5% (x)"):
        assert markdown.escape(name) == name
    assert latex.escape("METEOR(language=de), it's 1–2") == "METEOR(language=de), it's 1--2"
    assert latex.escape("a_b & 50% {~}") == r"a\_b \& 50\% \{\textasciitilde{}\}"


# The renderers


TABLE = Table(
    [
        Column("name", align="left", printed="Name", names=True),
        Column("value of it"),
        Column("alone"),
        Column("bar", align="left"),
    ],
    [
        ["one", Cell(Number(1.5), Highlight.BEST, "1–2", below=Cell(Interval(1, 2))), Interval(0, 1), Bar(5, 10)],
        ["two", Cell(Number(0.25), Highlight.WORSE, below=Cell(Interval(0, 0.5))), Interval(0, 0.125), Bar(20, 10)],
        ["three", Cell(Number(float("nan"), ".1f"), beside=Interval(2, 3, ".1f")), "", ""],
        ["four", Cell(Number(1234, ","), Highlight.SIGNIFICANT), "", Bar(-1, 10)],
    ],
    title="A title",
    legend={Highlight.BEST: "best", Highlight.WORSE: "worse, p ≤ 1%"},
    caption="Of 4.",
    notes=["first", "second"],
)


def test_a_table_for_the_terminal() -> None:
    assert terminal.render([TABLE, replace(TABLE, rows=[], title="", notes=[])]).split("\n") == [
        "A title",
        "name        value of it             alone   bar",
        "one        1–2  1.5000*   0.0000 – 1.0000   0 to 10",
        "         1.0000–2.0000",
        "two             0.2500†   0.0000 – 0.1250   0 to 10",
        "         0.0000–0.5000",
        "three   – (2.0 to 3.0)",
        "four             1,234!                     0 to 10",
        "first",
        "second",
        "",
        "name   value of it   alone   bar",
    ]


def test_a_table_in_markdown() -> None:
    assert markdown.render(TABLE).split("\n") == [
        "**A title**",
        "",
        "| name | value of it | alone | bar |",
        "| --- | ---: | ---: | --- |",
        "| one | 1–2 **1.5000** (1.0000 to 2.0000) | 0.0000 to 1.0000 | 0 to 10 |",
        "| two | 0.2500† (0.0000 to 0.5000) | 0.0000 to 0.1250 | 0 to 10 |",
        "| three | – (2.0 to 3.0) |  |  |",
        "| four | 1,234! |  | 0 to 10 |",
        "",
        "**Bold**: best. †: worse, p ≤ 1%. Of 4.",
        "",
        "- first",
        "- second",
    ]


def test_a_table_in_latex() -> None:
    assert latex.render(TABLE).split("\n")[:14] == [
        "% first",
        "% second",
        r"\begin{table}",
        r"\centering",
        r"\caption{A title. Bold: best. $^{\dagger}$: worse, p $\leq$ 1\%. Of 4.}",
        r"\label{tab:a-title}",
        r"\begin{tabular}{lrrl}",
        r"\toprule",
        r"Name & value of it & alone & bar \\",
        r"\midrule",
        r"one & 1--2 \textbf{1.5000} & [0.0000, 1.0000] & 0 to 10 \\",
        r"& {\scriptsize [1.0000, 2.0000]} &  &  \\",
        r"two & 0.2500$^{\dagger}$ & [0.0000, 0.1250] & 0 to 10 \\",
        r"& {\scriptsize [0.0000, 0.5000]} &  &  \\",
    ]
    assert latex.render(TABLE).split("\n")[-2:] == [r"\end{tabular}", r"\end{table}"]


def test_numbers_in_csv_are_whole() -> None:
    rows = [(0.1 + 0.2, 3), (float("inf"), "x,\ny"), (None, True)]
    assert separated.render(*records(("a", "b"), rows)) == 'a,b\n0.30000000000000004,3\n,"x,\ny"\n,yes\n'


def test_an_unknown_format_is_told() -> None:
    render, result = RESULTS["rank"]()
    with pytest.raises(UsageError, match="the format must be one of table, json, csv, markdown, latex, got 'html'"):
        render(result, "html")


@pytest.fixture(scope="module")
def example_results() -> dict[str, Callable[..., str]]:
    references, systems = example.references(), example.systems()
    results = {
        score_formats.render: sacrecap.score(references, systems["plain"], samples=50),
        comparison_formats.render: sacrecap.compare(references, systems, samples=60),
        diversity_formats.render: sacrecap.diversity(example.caption_sets(), references, samples=50),
        ranking_formats.render: rank_references(references, list(references)[:2]),
    }
    return {
        render.__module__: lambda r=render, o=result, **more: r(o, "table", **more)
        for render, result in results.items()
    }  # type: ignore[misc]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_tables_fit_the_terminal_and_lose_nothing(example_results: dict[str, Callable[..., str]], width: int) -> None:
    def words(text: str) -> set[str]:
        return set(re.sub(r"─+|[()]|\bto\b", " ", text).replace("–", " ").split())

    for render in example_results.values():
        whole, fitted, coloured = render(), render(width=width), render(width=width, colour=True)
        assert widest(fitted) <= width
        assert words(fitted) == words(whole)
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == fitted


def test_the_headers_have_a_rule_in_a_terminal_alone(example_results: dict[str, Callable[..., str]]) -> None:
    for render in example_results.values():
        assert "─" in render(width=120)
        assert "─" not in render()


def test_a_title_is_as_long_as_it_is() -> None:
    result = sacrecap.score(REFERENCES, CAPTIONS, "bleu-1", interval=None, tokenizer="none")
    assert str(result).split("\n")[0] == "6 images, 5 references each, tokenizer none"


def test_an_arrow_stands_where_low_is_good() -> None:
    result = sacrecap.diversity(example.caption_sets()["safe"], metrics="diversity, mbleu-mix, mbleu-3", interval=None)
    rows = {
        row[0].removesuffix(" ↓"): "↓" in row[0] for row in markdown_rows(diversity_formats.render(result, "markdown"))
    }
    for figure in result["sets"].values():
        [metric] = parse_metrics(figure.key)
        assert rows[figure.label] == metric.lower_is_better


def test_a_row_that_has_no_name_has_no_empty_header() -> None:
    table = Table([Column("metric", "left", names=True), Column("score")], [["CIDEr-D", "1"], ["", "2"]])
    page = markup.html_table(table)
    assert page.count('scope="row"') == 1
    assert page.count('role="cell"') == 3
