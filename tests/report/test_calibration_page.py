"""The page of a calibration: each figure with the witnesses and by the ratings alone."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import HOSTILE, Opened

from runner import Runner
from sacrecap.judgments import Calibration, calibrate
from sacrecap.report.html import render_html, write_report


def calibrated(folder: Path, systems: tuple[str, ...], *, chosen: bool = False, **how: Any) -> Calibration:
    """Of 40 images, a witness and people's ratings of half the captions, or choices on half the images."""
    random = np.random.default_rng(3)
    truth = random.normal(3, 1, (40, len(systems)))
    with (folder / "scores.csv").open("w", newline="") as file:
        rows = [
            (image, system, truth[image, place] + random.normal() / 2)
            for image in range(40)
            for place, system in enumerate(systems)
        ]
        csv.writer(file).writerows([("image_id", "system", "judge"), *rows])
    answers = folder / "answers.jsonl"
    with answers.open("w") as file:
        for image in range(0, 40, 1 if chosen else 2):
            if chosen:
                b, c = image % len(systems), (image + 1) % len(systems)
                winner = "b" if truth[image, b] > truth[image, c] else "c"
                names = {"b_system": systems[b], "c_system": systems[c]}
                captions = {"b": f"caption {image} of {b}", "c": f"caption {image} of {c}"}
                file.write(json.dumps({"image_id": image, **names, **captions, "winner": winner}) + "\n")
                continue
            for place, system in enumerate(systems):
                file.write(json.dumps({"image_id": image, "system": system, "rating": truth[image, place]}) + "\n")
    return calibrate(folder / "scores.csv", answers, **how)


def test_each_figure_stands_beside_that_of_the_ratings_alone(tmp_path: Path) -> None:
    calibration = calibrated(tmp_path, ("a", "b", "c"), plan=True)
    page = render_html(calibration)
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) == 2  # ratings, and differences of them
    for picture, figures in zip(
        drawn, ([calibration.overall, *calibration.systems.values()], calibration.pairs.values()), strict=True
    ):
        told = [float(value) for value in re.findall(r"<title>[^<]*: (-?[\d.]+)</title>", picture)]
        expected = [value for figure in figures for value in (figure.estimate, figure.alone)]
        assert told == pytest.approx(expected, abs=5e-5)
        for look in (0, 1):
            assert picture.count(f'class="reach look-{look}"') == len(figures)
            assert picture.count(f'class="mark look-{look}"') == len(figures)
    for line in (*calibration.notes, "20 images", "Plan: the mean rating of all captions", "with the witnesses"):
        assert line in page
    assert "Intervals</dt><dd>95%<" in page


def test_choices(tmp_path: Path) -> None:
    calibration = calibrated(tmp_path, ("a", "b", "c"), chosen=True)
    page = render_html(calibration)
    assert [name for name in ("how often the first is chosen", "strengths") if f"<strong>{name}<" in page] == [
        "how often the first is chosen",
        "strengths",
    ]
    assert "Pairs of captions" in page


def test_choices_of_two_systems_are_one_share(tmp_path: Path) -> None:
    [picture] = re.findall(r"<svg.*?</svg>", render_html(calibrated(tmp_path, ("a", "b"), chosen=True)), re.DOTALL)
    assert (picture.count('class="mark look-0"'), picture.count('class="mark look-1"')) == (1, 1)


def test_a_single_system_has_one_picture(tmp_path: Path) -> None:
    assert render_html(calibrated(tmp_path, ("a",))).count("<svg") == 1


@pytest.mark.browser
def test_names_are_text(browser: Any, tmp_path: Path) -> None:
    write_report(calibrated(tmp_path, (HOSTILE[0], HOSTILE[1])), tmp_path / "page.html")
    opened = Opened(browser, tmp_path / "page.html")
    assert opened.page.evaluate("window.ran") is None
    opened.check()


def test_the_command_writes_it(tmp_path: Path) -> None:
    run = Runner(tmp_path)
    calibrated(tmp_path, ("a", "b"))
    table = run.ok("calibrate", "scores.csv", "answers.jsonl")
    assert run.ok("calibrate", "scores.csv", "answers.jsonl", "--report", "page.html") == table
    assert "What people would say" in (tmp_path / "page.html").read_text()
    assert "both write" in run.refused("calibrate", "scores.csv", "answers.jsonl", "--report", "a.txt", "-o", "a.txt")
