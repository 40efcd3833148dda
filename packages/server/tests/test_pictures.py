"""Pictures in pages: what is drawn, and where."""

from __future__ import annotations

from sacrecap_server.pages import page_charts


def test_alpha_stands_between_its_thresholds() -> None:
    people = [{"alpha_without": 0.7}, {"alpha_without": None}]
    quality = {"alpha": 0.75, "alpha_interval": [0.7, 0.8], "alpha_judgment": "tentative", "people": people}
    drawn = page_charts.alpha(quality)
    assert drawn.count("guide") == 2
    assert (drawn.count("mark look-0"), drawn.count("mark look-1")) == (1, 1)
    assert "tentative: α 0.7500 [0.7000, 0.8000]; without one 0.7000 [0.7000, 0.7000]" in drawn


def test_bars_that_are_too_fast_are_marked() -> None:
    drawn = page_charts.seconds({"fast_below": 1.0, "seconds": [3, 2, *[1] * 14]})
    assert (drawn.count("bar look-2"), drawn.count("bar look-0")) == (2, 14)
