"""Pictures in pages: what is drawn, and where."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re

import pytest

from sacrecap.boards.standing import Standings
from sacrecap_server.boards.board_view import BoardScore, BoardView, Entry
from sacrecap_server.pages import page_charts
from sacrecap_server.web import format as written


def test_an_interval_is_drawn_where_it_lies() -> None:
    drawn = written.interval(0.5, 0.25, 1.0, (0.0, 1.0))
    assert 'class="extent" x1="25.000%" x2="100.000%"' in drawn
    assert 'class="point" x1="50.000%"' in drawn
    assert 'aria-label="0.2500 to 1.0000"' in drawn


@pytest.mark.parametrize("value", [0.0, 0.2, -0.2])
def test_no_difference_is_in_the_middle(value: float) -> None:
    drawn = written.difference(value, value - 0.1, value + 0.1)
    dot = float(re.search(r'class="point" x1="([0-9.]+)%"', drawn)[1])
    assert (dot > 50, dot < 50) == (value > 0, value < 0)


def step(days: int, value: float, team: str) -> Entry:
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(days)
    scores = {"cider-d": BoardScore(value, value, value, "")}
    return Entry(1, 1, team, "", "", moment, moment, baseline=False, scores=scores)


def test_the_line_of_progress_rises_at_each_new_best_only() -> None:
    steps = [step(0, 0.1, "<One>"), step(1, 0.05, "Two"), step(2, 0.3, "Two")]
    drawn = page_charts.progress(steps, "cider-d", "CIDEr-D")
    places = [place.split() for place in re.search(r'class="line look-0" d="M([^"]+)"', drawn)[1].split("L")]
    assert len(places) == 4
    assert [y for _, y in places] == [places[0][1]] * 2 + [places[-1][1]] * 2
    assert float(places[0][1]) > float(places[-1][1])
    assert (drawn.count("mark look-0"), drawn.count("mark look-1")) == (2, 1)
    assert "&lt;One&gt;: 0.1000, 2026-01-01" in drawn
    assert "from 0.1000 to 0.3000" in drawn


def test_progress_of_one_submission_and_of_none() -> None:
    assert page_charts.progress([], "cider-d", "CIDEr-D") == ""
    drawn = page_charts.progress([step(0, 0.1, "One")], "cider-d", "CIDEr-D")
    assert drawn.count("2026-01-01</text>") == 1
    assert drawn.count("<circle") == 1


def test_pairs_of_the_first_40_rows_are_drawn_and_names_are_escaped() -> None:
    rows = [dataclasses.replace(step(0, 0.1, f"<{number}>"), id=number) for number in range(41)]
    placed = Standings({}, {(0, 1)}, {(3, 2)})
    drawn = page_charts.pairs(BoardView(rows, placed, ["cider-d"], "cider-d", "cider-d", None, {}))
    titles = re.findall(r'title="([^"]+)"><span class="value">(.?)</span></td>', drawn)
    assert len(titles) == 40 * 39
    assert ("&lt;0&gt; is better than &lt;1&gt;", "+") in titles
    assert ("&lt;1&gt; is worse than &lt;0&gt;", "−") in titles
    assert [sign for words, sign in titles if "not compared" in words] == ["", ""]
    assert "<0>" not in drawn
    assert "&lt;39&gt;" in drawn
    assert "&lt;40&gt;" not in drawn


def test_alpha_stands_between_its_thresholds() -> None:
    people = [{"alpha_without": 0.7}, {"alpha_without": None}]
    quality = {"alpha": 0.75, "alpha_interval": [0.7, 0.8], "alpha_judgment": "tentative", "people": people}
    drawn = page_charts.alpha(quality)
    assert [drawn.count(f"area look-{look}") for look in (2, 3, 4)] == [1, 1, 1]
    assert (drawn.count("mark look-0"), drawn.count("mark look-1")) == (1, 1)
    assert "α: 0.75 [0.70, 0.80]; tentative" in drawn


def test_bars_that_are_too_fast_are_marked() -> None:
    drawn = page_charts.seconds({"fast_below": 1.0, "seconds": [3, 2, *[1] * 14]})
    assert (drawn.count("bar look-2"), drawn.count("bar look-0")) == (2, 14)
