"""A board in each of the formats of `--format`."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Table, records

if TYPE_CHECKING:
    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.boards.scored import Board, Standing, ToldScore
    from sacrecap.report.printing.table import Value


def isolated(name: str) -> str:
    """TEAM/SYSTEM, whose parts keep their places where one is written from right to left."""
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name):
        return "/".join(f"\N{FIRST STRONG ISOLATE}{part}\N{POP DIRECTIONAL ISOLATE}" for part in name.split("/"))
    return name


def ranks_table(board: Board, figures: Figures) -> Table:
    """Systems by metrics, in order of the metric that ranks; before each score, the ranks that it may have."""
    label = board.metrics[board.rank_by].label

    def cell(score: ToldScore, standing: Standing) -> Cell:
        below = None if score.interval is None else Cell(figures.interval(*score.interval))
        value = figures.number(float("nan") if score.value is None else score.value)
        return Cell(value, before=standing.rank, below=below, title=standing.explanation)

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
                *(cell(row.scores[key], row.standings[key]) for key in board.metrics),
            ]
            for row in board.rows
        ],
        title=f"{board.images:,} images; 95% intervals; before each score: the ranks it may have",
        notes=notes(board),
    )


def metrics_table(board: Board) -> Table:
    """Direction, range and signature of each metric."""

    def range_of(*ends: float | None) -> str:
        return "none is declared" if ends == (None, None) else " to ".join("∞" if e is None else f"{e:g}" for e in ends)

    rows: list[list[Value]] = [
        [
            Cell(metric.label, term=key),
            "lower" if metric.lower_is_better else "higher",
            range_of(metric.smallest, metric.largest),
            board.signatures[key],
        ]
        for key, metric in board.metrics.items()
    ]
    heads = ("metric", "better", "range", "signature")
    return Table([Column(head, align="left", names=head == "metric") for head in heads], rows)


def notes(board: Board) -> list[str]:
    """What a reader must know of the ranks, and the systems that are not ranked."""
    best = []
    for team, number in {row.team: row.standings[board.rank_by].attempts for row in board.rows}.items():
        names = [row.system for row in board.rows if row.team == team]
        if number > 1 and len(names) == 1:
            best.append(f"{isolated(names[0])} is the best of {number} systems")
        elif number > 1:
            best.append(f"{isolated(team)} had {number} systems")
    few = ", ".join(dict.fromkeys(pair.metric for pair in board.pairs if pair.p is None))
    return [
        "ranks: paired exact sign-flip permutation tests, Holm over all pairs of a metric; equal where none separates",
        *([f"{'; '.join(best)}: p and intervals allow for that"] if best else []),
        *([f"by {few}, some systems differ in few images: nothing is said of these pairs"] if few else []),
        *(f"not on the board: {isolated(system)}: {' '.join(reasons)}" for system, reasons in board.refused.items()),
    ]


def _records(board: Board) -> Table:
    heads = ("metric", "team", "system", "rank_from", "rank_to", "score", "lower", "upper", "attempts")
    rows = []
    for key in board.metrics:
        for row in board.rows:
            score, standing = row.scores[key], row.standings[key]
            ends = score.interval or (None, None)
            named = (key, row.team, row.system, standing.first, standing.last)
            rows.append((*named, score.value, *ends, standing.attempts))
    return records(heads, rows)


_SIGNS = {"+": "first depth-3", "−": "second depth-3", "=": "equal"}
"""The look of a cell of the picture of pairs, by its sign: better than the column's, worse, not separated."""


def separated_table(board: Board) -> Table:
    """Who is better than whom by the metric that ranks: a row and a column for each system, in order."""
    pairs = {frozenset((pair.a, pair.b)): pair for pair in board.pairs if pair.metric == board.rank_by}
    names = {row.system: isolated(row.system) for row in board.rows}

    def cell(row: str, column: str) -> Cell:
        if row == column:
            return Cell("")
        pair = pairs[frozenset((row, column))]
        sign = "+" if pair.better == row else "−" if pair.better == column else "="
        better, worse = (names[row], names[column]) if sign != "−" else (names[column], names[row])
        words = f"no test separates {better} and {worse}" if sign == "=" else f"{better} is better than {worse}"
        return Cell(sign, kind=_SIGNS[sign], title=words + (f", p {pair.p} before the correction" if pair.p else ""))

    heads = [Column(str(number), title=name) for number, name in enumerate(names.values(), 1)]
    rows: list[list[Value]] = [
        [f"{number} {name}", *(cell(system, other) for other in names)]
        for number, (system, name) in enumerate(names.items(), 1)
    ]
    return Table([Column("", align="left", names=True), *heads], rows)


def set_title(board: ContestBoard, name: str) -> str:
    """What a set of references is called: by its name and the part of the images."""
    return name if board.part == "all" else f"{name}, {board.part} images"


def _contest_records(contest: ContestBoard) -> Table:
    tables = {name: _records(board) for name, board in contest.sets.items()}
    first = next(iter(tables.values()))
    rows = [[name, *row] for name, table in tables.items() for row in table.rows]
    return replace(first, columns=[replace(first.columns[0], head="references"), *first.columns], rows=rows)


def _contest_tables(contest: ContestBoard, figures: Figures) -> list[Table]:
    tables = [(set_title(contest, name), ranks_table(board, figures)) for name, board in contest.sets.items()]
    several = [replace(table, title=f"{title}: {table.title}") for title, table in tables]
    several[-1] = replace(several[-1], notes=[*several[-1].notes, *(f"not read: {what}" for what in contest.left_out)])
    return several


render = Views(_records, lambda board, figures: [ranks_table(board, figures)]).render
"""A board as text in the format of a name."""
render_contest = Views(_contest_records, _contest_tables).render
"""The boards of a contest's sets of references."""
