"""Pictures in pages: where things are drawn."""

from __future__ import annotations

import datetime as dt
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap_server.web import pictures
from sacrecap_server.web.pictures import Improvement, Scale


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_and_inside(low: float, width: float) -> None:
    scale = Scale(low, low + width)
    if scale.high <= scale.low:
        return
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 7
    slack = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - slack <= tick <= scale.high + slack for tick in ticks)
    steps = {f"{later - tick:.3e}" for tick, later in pairwise(ticks)}
    assert all(step.startswith(("1.000", "2.000", "5.000", "9.999", "1.999", "4.999")) for step in steps)


def test_one_value_and_none_have_a_scale() -> None:
    assert Scale.around([0.3]) == Scale(-0.2, 0.8)
    assert Scale.around([float("nan")]) == Scale.around([]) == Scale(0.0, 1.0)


def test_an_interval_is_drawn_where_it_lies() -> None:
    drawn = pictures.interval(0.5, 0.25, 1.0, Scale(0.0, 1.0))
    assert 'class="extent" x1="25.000%" x2="100.000%"' in drawn
    assert 'class="point" x1="50.000%"' in drawn
    assert 'aria-label="0.2500 to 1.0000"' in drawn


@pytest.mark.parametrize("value", [0.0, 0.2, -0.2])
def test_no_difference_is_in_the_middle(value: float) -> None:
    drawn = pictures.difference(value, value - 0.1, value + 0.1)
    dot = float(re.search(r'class="point" x1="([0-9.]+)%"', drawn)[1])
    assert (dot > 50, dot < 50) == (value > 0, value < 0)


def test_the_line_of_progress_rises_at_each_new_best_only() -> None:
    day = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    steps = [
        Improvement(day, 0.1, "<One>"),
        Improvement(day + dt.timedelta(1), 0.05, "Two"),
        Improvement(day + dt.timedelta(2), 0.3, "Two"),
    ]
    drawn = pictures.progress(steps, "CIDEr-D")
    assert len(re.findall("V", re.search(r'class="best" d="([^"]+)"', drawn)[1])) == 1
    assert len(re.findall('class="dot"', drawn)) == 2
    assert len(re.findall('class="other"', drawn)) == 1
    assert "&lt;One&gt;: 0.1000" in drawn
    assert "from 0.1000 to 0.3000" in drawn
