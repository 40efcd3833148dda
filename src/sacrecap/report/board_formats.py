"""A board in each of the formats of `--format`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.printing import Views
from sacrecap.report.printing.figures import Figures
from sacrecap.report.printing.table import Cell, Column, Table, records

if TYPE_CHECKING:
    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.boards.scored import Board, Standing, ToldScore
    from sacrecap.metrics import Metric
    from sacrecap.report.printing.table import Value


def isolated(name: str) -> str:
    """TEAM/SYSTEM, whose parts keep their places where one is written from right to left."""
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name):
        return "/".join(f"\N{FIRST STRONG ISOLATE}{part}\N{POP DIRECTIONAL ISOLATE}" for part in name.split("/"))
    return name


def ranks_table(board: Board, figures: Figures) -> Table:
    """Systems by metrics, in order of the metric that ranks; before each score, the ranks that it may have."""
    label = board.metrics[board.rank_by].label
    return Table(
        [
            Column(f"ranked by {label}", align="left", printed="System", names=True),
            *(
                Column(metric.label, title=f"{metric.summary} {board.signatures[key]}".strip(), term=key)
                for key, metric in board.metrics.items()
            ),
        ],
        [
            [
                Cell(isolated(row.system), title="" if row.team == row.system else f"of the team {row.team}"),
                *(_score(row.scores[key], row.standings[key], figures) for key in board.metrics),
            ]
            for row in board.rows
        ],
        title=f"{board.images:,} images; 95% intervals; before each score: the ranks it may have",
        notes=notes(board),
    )


def metrics_table(board: Board) -> Table:
    """Direction, range and signature of each metric."""

    def range_of(metric: Metric) -> str:
        ends = metric.smallest, metric.largest
        return "none is declared" if ends == (None, None) else " to ".join("∞" if e is None else f"{e:g}" for e in ends)

    return Table(
        [Column(name, align="left", names=name == "metric") for name in ("metric", "better", "range", "signature")],
        [
            [
                Cell(metric.label, term=key),
                "lower" if metric.lower_is_better else "higher",
                range_of(metric),
                board.signatures[key],
            ]
            for key, metric in board.metrics.items()
        ],
    )


def notes(board: Board) -> list[str]:
    """What a reader must know of the ranks, and the systems that are not ranked."""
    several = {row.team: row.standings[board.rank_by].attempts for row in board.rows}
    best = [
        f"{isolated(names[0])} is the best of {number} systems"
        if len(names) == 1
        else f"{isolated(team)} had {number} systems"
        for team, number in several.items()
        if number > 1
        for names in [[row.system for row in board.rows if row.team == team]]
    ]
    few = ", ".join(dict.fromkeys(pair.metric for pair in board.pairs if pair.p is None))
    return [
        "ranks: paired exact sign-flip permutation tests, Holm over all pairs of a metric; equal where none separates",
        *([f"{'; '.join(best)}: p and intervals allow for that"] if best else []),
        *([f"by {few}, some systems differ in few images: nothing is said of these pairs"] if few else []),
        *(f"not on the board: {isolated(system)}: {' '.join(reasons)}" for system, reasons in board.refused.items()),
    ]


def _score(score: ToldScore, standing: Standing, figures: Figures) -> Cell:
    below = None if score.interval is None else Cell(figures.interval(*score.interval))
    value = figures.number(float("nan") if score.value is None else score.value)
    return Cell(value, before=standing.rank, below=below, title=standing.explanation)


def _records(board: Board) -> Table:
    """A row per system and metric."""
    heads = ("metric", "team", "system", "rank_from", "rank_to", "score", "lower", "upper", "attempts")
    return records(
        heads,
        [
            (
                *(key, row.team, row.system, row.standings[key].first, row.standings[key].last),
                *(row.scores[key].value, *(row.scores[key].interval or (None, None)), row.standings[key].attempts),
            )
            for key in board.metrics
            for row in board.rows
        ],
    )


LOOKS = {"+": "first depth-3", "−": "second depth-3", "=": "equal", "": ""}
"""The look of a cell of the picture of pairs, by its sign: better than the column's, worse, not separated; nothing."""


def pairs_table(systems: Sequence[str], text_of: Callable[[int, int], tuple[str, str]]) -> Table:
    """Who is better than whom: a row and a column for each system, in the order of the board.

    `told` gives a sign of `LOOKS`, and what is said of the pair: of the row's and the column's system, by number.
    """

    def cell(number: int, other: int) -> Cell:
        sign, words = ("", "") if number == other else text_of(number, other)
        return Cell(sign, kind=LOOKS[sign], title=words)

    heads = [Column(str(number), title=system) for number, system in enumerate(systems, 1)]
    rows: list[list[Value]] = [
        [f"{number + 1} {system}", *(cell(number, other) for other in range(len(systems)))]
        for number, system in enumerate(systems)
    ]
    return Table([Column("", align="left", names=True), *heads], rows)


def separated_table(board: Board) -> Table:
    """Who is better than whom by the metric that ranks."""
    pairs = {(pair.a, pair.b): pair for pair in board.pairs if pair.metric == board.rank_by}
    systems = [row.system for row in board.rows]
    called = [isolated(system) for system in systems]

    def text_of(row: int, column: int) -> tuple[str, str]:
        pair = pairs.get((systems[row], systems[column])) or pairs[systems[column], systems[row]]
        first, second = called[row], called[column]
        sign, words = (
            ("+", f"{first} is better than {second}")
            if pair.better == systems[row]
            else ("−", f"{second} is better than {first}")
            if pair.better == systems[column]
            else ("=", f"no test separates {first} and {second}")
        )
        return sign, words + (f", p {pair.p} before the correction" if pair.p else "")

    return pairs_table(called, text_of)


def set_title(board: ContestBoard, name: str) -> str:
    """What a set of references is called: by its name and the part of the images."""
    part = "" if board.part == "all" else f", {board.part} images"
    return f"{name}{part}"


def _contest_records(contest: ContestBoard) -> Table:
    """A row per set of references, system and metric."""
    tables = {name: _records(board) for name, board in contest.sets.items()}
    first = next(iter(tables.values()))
    rows = [[name, *row] for name, table in tables.items() for row in table.rows]
    return replace(first, columns=[replace(first.columns[0], head="references"), *first.columns], rows=rows)


def _contest_tables(contest: ContestBoard, figures: Figures) -> list[Table]:
    tables = {name: ranks_table(board, figures) for name, board in contest.sets.items()}
    several = [replace(table, title=f"{set_title(contest, name)}: {table.title}") for name, table in tables.items()]
    several[-1] = replace(several[-1], notes=[*several[-1].notes, *(f"not read: {what}" for what in contest.left_out)])
    return several


render = Views(_records, lambda board, figures: [ranks_table(board, figures)]).render
"""A board as text in the format of a name."""
render_contest = Views(_contest_records, _contest_tables).render
"""The boards of a contest's sets of references."""
