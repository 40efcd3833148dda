"""A board (ranks, scores with their intervals, who is better than whom) and a contest's, printed and as pages."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from sacrecap.boards.contest_board import ContestBoard
from sacrecap.boards.scored import Board, Standing, ToldScore
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.svg import Strip, strips, titled
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Records, Table, Value
from sacrecap.scoring.result import counted


def _isolated(name: str) -> str:
    """TEAM/SYSTEM, whose parts keep their places where one is written from right to left."""
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name):
        return "/".join(f"\N{FIRST STRONG ISOLATE}{part}\N{POP DIRECTIONAL ISOLATE}" for part in name.split("/"))
    return name


def _ranks_table(board: Board, figures: Figures) -> Table:
    """Systems by metrics, in order of the metric that ranks; before each score, the ranks that it may have."""

    def cell(score: ToldScore, standing: Standing) -> Cell:
        below = None if score.interval is None else Cell(figures.interval(*score.interval))
        value = figures.number(float("nan") if score.value is None else score.value)
        return Cell(value, before=standing.rank, below=below, title=standing.explanation)

    first = Column(f"ranked by {board.metrics[board.rank_by].label}", align="left", printed="System", names=True)
    metrics = [
        Column(metric.label, title=f"{metric.summary} {board.signatures[key]}".strip(), term=key)
        for key, metric in board.metrics.items()
    ]
    rows: list[list[Value]] = [
        [
            Cell(_isolated(row.system), title="" if row.team == row.system else f"of the team {row.team}"),
            *(cell(row.scores[key], row.standings[key]) for key in board.metrics),
        ]
        for row in board.rows
    ]
    best = []
    for team, number in {row.team: row.standings[board.rank_by].attempts for row in board.rows}.items():
        names = [row.system for row in board.rows if row.team == team]
        if number > 1 and len(names) == 1:
            best.append(f"{_isolated(names[0])} is the best of {number} systems")
        elif number > 1:
            best.append(f"{_isolated(team)} had {number} systems")
    few = ", ".join(dict.fromkeys(pair.metric for pair in board.pairs if pair.p is None))
    notes = [
        "ranks: paired exact sign-flip permutation tests, Holm over all pairs of a metric; equal where none separates",
        *([f"{'; '.join(best)}: p and intervals allow for that"] if best else []),
        *([f"by {few}, some systems differ in few images: nothing is said of these pairs"] if few else []),
        *(f"not on the board: {_isolated(system)}: {' '.join(reasons)}" for system, reasons in board.refused.items()),
    ]
    title = f"{board.images:,} images; 95% intervals; before each score: the ranks it may have"
    return Table([first, *metrics], rows, title=title, notes=notes)


def _records(board: Board) -> Records:
    heads = ("metric", "team", "system", "rank_from", "rank_to", "score", "lower", "upper", "attempts")
    rows = []
    for key in board.metrics:
        for row in board.rows:
            score, standing = row.scores[key], row.standings[key]
            ends = score.interval or (None, None)
            named = (key, row.team, row.system, standing.first, standing.last)
            rows.append((*named, score.value, *ends, standing.attempts))
    return heads, rows


def _contest_records(contest: ContestBoard) -> Records:
    heads, _ = _records(contest.first)
    rows = [(name, *row) for name, board in contest.sets.items() for row in _records(board)[1]]
    return ("references", *heads), rows


def _contest_tables(contest: ContestBoard, figures: Figures) -> list[Table]:
    tables = {_set_title(contest, name): _ranks_table(board, figures) for name, board in contest.sets.items()}
    several = [replace(table, title=f"{title}: {table.title}") for title, table in tables.items()]
    several[-1] = replace(several[-1], notes=[*several[-1].notes, *(f"not read: {what}" for what in contest.left_out)])
    return several


def _set_title(board: ContestBoard, name: str) -> str:
    """What a set of references is called: by its name and the part of the images."""
    return name if board.part == "all" else f"{name}, {board.part} images"


render = Views(_records, lambda board, figures: [_ranks_table(board, figures)]).render
"""A board as text in the format of a name."""
render_contest = Views(_contest_records, _contest_tables).render
"""The boards of a contest's sets of references."""


# Pages

_READING = [
    "Before a score stand its [ranks](explanation/intervals/#ranks): systems that no test separates share them.",
    "Below it stands its [interval](explanation/intervals/).",
]
_TEST = "paired exact sign-flip permutation test, Holm over all pairs of a metric"
_PARTS = {
    "all": "all",
    "public": "the public part; scores of the private one follow after the end",
    "private": "the private part",
}


def page(board: Board, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a board."""
    return ReportPage(
        f"{counted(len(board.rows), 'system')} on {counted(board.images, 'image')}",
        board.version,
        {
            "Systems": f"{len(board.rows):,}",
            "Images": f"{board.images:,}",
            "Ranked by": board.metrics[board.rank_by].label,
            "Test": _TEST,
        },
        _sections(board),
        reading=_READING,
    )


def contest_page(contest_board: ContestBoard, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a contest: a tab for each set of references, and what its host declares."""
    contest, board = contest_board.contest, contest_board.first
    several = {
        _set_title(contest_board, name): _sections(part, f"set-{number}-")
        for number, (name, part) in enumerate(contest_board.sets.items())
    }
    first, *rest = contest_board.sets
    starts, ends = (
        "" if time is None else f"{time:%Y-%m-%d %H:%M} {time.tzname()}" for time in (contest.starts, contest.ends)
    )
    facts = {
        "Host": contest.host,
        "Starts": starts,
        "Ends": ends,
        "Systems": f"{len(board.rows):,}",
        "Images": f"{board.images:,}" + (f" ({_PARTS[contest_board.part]})" if contest.private else ""),
        "Ranked by": board.metrics[board.rank_by].label + (f", {first}" if rest else ""),
        "Test": _TEST,
    }
    sections = [] if rest else next(iter(several.values()))
    if contest.rules:
        sections.append(Section("rules", "Rules", notes=[text.strip() for text in contest.rules.split("\n\n")]))
    remarks = [f"Not read: {what}" for what in contest_board.left_out]
    if contest.private:
        checksum = f"The list of their ids has the SHA-256 {contest.private_part.checksum}"
        is_public = contest_board.part != "private"
        where = ", and is told after the end" if is_public else "; it is private.json beside this page"
        remarks.insert(0, f"{contest.private} % of the images are private. {checksum}{where}.")
    if remarks:
        sections.append(Section("about", "About this board", notes=remarks))
    return ReportPage(
        contest.title,
        board.version,
        {name: text for name, text in facts.items() if text},
        sections,
        reading=_READING,
        tabs=several if rest else {},
    )


def _sections(board: Board, prefix: str = "") -> list[Section]:
    """What a page says of a board; `prefix` is that of the sections' ids, where there are several boards."""
    keys = [("key first", "better than the column's"), ("key second", "worse"), ("", "= not separated")]
    is_by_team = len({row.team for row in board.rows}) == len(board.rows)
    pictures = []
    for key, metric in board.metrics.items():
        scores = [(row.team if is_by_team else row.system, row.scores[key]) for row in board.rows]
        rows = [Strip(name, score.value, score.interval) for name, score in scores if score.value is not None]
        pictures.append((metric.label, strips(rows, metric.label)))
    described: list[list[Value]] = []
    for key, metric in board.metrics.items():
        ends = (metric.smallest, metric.largest)
        range_ = " to ".join("∞" if end is None else f"{end:g}" for end in ends)
        range_ = "none is declared" if ends == (None, None) else range_
        better = "lower" if metric.lower_is_better else "higher"
        described.append([Cell(metric.label, term=key), better, range_, board.signatures[key]])
    heads = [Column(head, align="left", names=head == "metric") for head in ("metric", "better", "range", "signature")]
    ranks = _ranks_table(board, Figures())
    versus = f"Who is better than whom by {board.metrics[board.rank_by].label}"
    return [
        Section(f"{prefix}systems", "Ranks", table=ranks, kind="systems"),
        Section(f"{prefix}intervals", "Scores with their intervals", drawn=titled(pictures)),
        Section(f"{prefix}pairs", versus, keys, _separated_table(board), kind="pairs signs"),
        Section(f"{prefix}metrics", "What the scores are", table=Table(heads, described), kind="metrics"),
    ]


_SIGNS = {"+": "first depth-3", "−": "second depth-3", "=": "equal"}
"""The look of a cell of the picture of pairs, by its sign: better than the column's, worse, not separated."""


def _separated_table(board: Board) -> Table:
    """Who is better than whom by the metric that ranks: a row and a column for each system, in order."""
    pairs = {frozenset((pair.a, pair.b)): pair for pair in board.pairs if pair.metric == board.rank_by}
    names = {row.system: _isolated(row.system) for row in board.rows}

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
