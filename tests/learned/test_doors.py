"""The metrics with a model through every door: rewards, comparisons, judgments, caption sets, the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import sacrecap
from learned.captions import CANDIDATES, REFERENCES
from report.opened import data_of
from sacrecap.errors import UsageError
from sacrecap.judgments.judged_rows import Ratings, Row
from sacrecap.rewards import CaptionReward

pytestmark = pytest.mark.torch


def test_rewards_are_scores(clip: str, bert: str, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"refclipscore(model={clip})", f"bertscore(model={bert}, layer=3)", f"sentence(model={bert})"]
    upper = {image: text.capitalize() + "." for image, text in CANDIDATES.items()}  # as said, not as tokenised
    references = {image: [text.capitalize() for text in own] for image, own in REFERENCES.items()}
    wanted = sacrecap.score(references, upper, names, images=images, interval=None)
    for name in names:
        reward = CaptionReward(references, name, images=str(images) if "clip" in name else None)
        order = ["6", "1", "4", "1", "2"]
        found = reward([upper[image] for image in order], order)
        places = [list(CANDIDATES).index(image) for image in order]
        assert found == wanted[name].per_image[places].tolist()
        assert sum(found) > 0
    mixture = CaptionReward(references, f"rouge-l + 0.5*{names[2]}")
    both = mixture([upper["1"]], ["1"])[0]
    rouge = sacrecap.score(references, upper, "rouge-l", interval=None)["rouge-l"].per_image[0]
    assert both == pytest.approx(rouge + 0.5 * wanted[names[2]].per_image[0])


def test_a_reward_looks_at_an_image_once(clip: str, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reward = CaptionReward(REFERENCES, f"clipscore(model={clip})", images=str(images))
    first = reward(["a dog"], ["1"])
    monkeypatch.setattr("sacrecap.data.images.ImageFile.read", lambda file: pytest.fail(f"{file} is read again"))
    assert reward(["a dog"], ["1"]) == first
    with pytest.raises(UsageError, match="clipscore: it needs the images: give images=DIR"):
        CaptionReward(REFERENCES, "clipscore")
    with pytest.raises(UsageError, match="learns from the references of all images, and a batch has few"):
        CaptionReward(REFERENCES, "bertscore(idf=yes)")


def test_intervals_and_comparisons(clip: str, bert: str, images: Path) -> None:
    names = [f"clipscore(model={clip})", f"bertscore(model={bert}, layer=3)"]
    other = {image: REFERENCES[image][0] for image in REFERENCES}
    found = sacrecap.compare(REFERENCES, {"a": CANDIDATES, "b": other}, names, images=images, samples=100)
    assert len(found.pairs) == 2
    for name in names:
        alone = sacrecap.score(REFERENCES, CANDIDATES, name, images=images, samples=100)[name]
        assert found["a"][name].value == alone.value
        assert alone.interval is not None
        assert alone.interval[0] < alone.value < alone.interval[1]
        assert alone.per_image.mean() == pytest.approx(alone.value)
    jackknife = sacrecap.score(REFERENCES, CANDIDATES, names[1], interval_method="jackknife")[names[1]].interval
    assert jackknife is not None
    assert jackknife[0] < alone.value < jackknife[1]


def test_agreement_sees_the_image_of_each_judgment(clip: str, images: Path) -> None:
    captions = [*CANDIDATES.values(), *(own[0] for own in REFERENCES.values())]
    ids = [*CANDIDATES, *REFERENCES]
    ratings = Ratings(
        "ratings",
        "here",
        [Row(image, REFERENCES[image], place) for place, image in enumerate(ids)],
        captions,
        [(float(place % 5),) for place in range(len(ids))],
        5,
    )
    name = f"clipscore(model={clip})"
    judged = sacrecap.judgments.agreement(ratings, name, images=images, interval=None)
    wanted = sacrecap.score(REFERENCES, CANDIDATES, name, images=images, interval=None)[name].per_image
    np.testing.assert_array_equal(judged.measured[0].scores["caption"][:6], wanted)


def test_caption_sets_have_it_as_their_accuracy(clip: str, images: Path) -> None:
    sets = {image: [text, REFERENCES[image][0]] for image, text in CANDIDATES.items() if len(REFERENCES[image]) > 1}
    references = {image: REFERENCES[image] for image in sets}
    name = f"clipscore(model={clip})"
    found = sacrecap.diversity(sets, references, accuracy=name, images=images, interval=None)
    first, second = (
        sacrecap.score(references, {image: own[n] for image, own in sets.items()}, name, images=images, interval=None)
        for n in (0, 1)
    )
    wanted = (first[name].value + second[name].value) / 2
    assert next(iter(found.values()))["accuracy"].value == pytest.approx(wanted)
    assert found.human is not None
    assert found.human["accuracy"].value > 0


def test_results_and_rewards_pickle(clip: str, bert: str, images: Path) -> None:
    name = f"clipscore(model={clip})"
    result = sacrecap.score(REFERENCES, CANDIDATES, name, images=str(images), interval=None)
    again = pickle.loads(pickle.dumps(result))
    assert again[name].per_image.tolist() == result[name].per_image.tolist()
    reward = CaptionReward(REFERENCES, f"sentence(model={bert})")
    assert pickle.loads(pickle.dumps(reward))(["a dog"], ["1"]) == reward(["a dog"], ["1"])


# The command line

TOLD = {image: text.replace(",", "") or "a" for image, text in CANDIDATES.items()}
"""Captions that a table without quotes can have."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("references.json").write_text(json.dumps(REFERENCES))
    Path("candidates.json").write_text(json.dumps(TOLD))
    lines = [f"{image},{text},{images}/{image}.png" for image, text in TOLD.items()]
    Path("candidates.csv").write_text("\n".join(["image_id,caption,photo", *lines]) + "\n")
    Path("photos").symlink_to(images)
    rows = [{"image_id": image, "caption": text, "photo": f"photos/{image}.png"} for image, text in TOLD.items()]
    Path("candidates.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def run(*arguments: str) -> Any:
    from click.testing import CliRunner

    from sacrecap.cli.main import cli

    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize("candidates", ["candidates.json", "candidates.csv", "candidates.jsonl"])
def test_images_by_folder_and_by_column(candidates: str, files: Path, clip: str, images: Path) -> None:
    metric = f"clipscore(model={clip})"
    given = str(images) if candidates == "candidates.json" else "photo"
    done = run(
        "score",
        "references.json",
        candidates,
        "--metrics",
        metric,
        "--images",
        given,
        "--format",
        "json",
        "--interval",
        "none",
        "--need",
        "device=cpu",
    )
    assert done.exit_code == 0, done.output
    wanted = sacrecap.score(REFERENCES, TOLD, metric, images=images, interval=None)
    assert json.loads(done.stdout)["scores"] == {metric: wanted[metric].value}


def test_a_column_that_is_not_there(files: Path, clip: str) -> None:
    metric = f"clipscore(model={clip})"
    message = "picture: there is no such folder or tar file, and no file of captions has a column"
    for arguments in (["score", "references.json"], ["compare", "references.json", "b=candidates.json"]):
        done = run(*arguments, "candidates.csv", "--metrics", metric, "--images", "picture")
        assert done.exit_code != 0
        assert message in str(done.exception)


def test_all_says_in_a_line_each_what_was_left_out(
    files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.warns(sacrecap.SacrecapWarning) as caught:
        done = run("score", "references.json", "candidates.json", "--metrics", "all", "--interval", "none")
    assert done.exit_code == 0, done.output
    lines = [str(one.message) for one in caught if "left out of group all" in str(one.message)]
    of_objects, of_images = ["VIFIDEL", "CHAIR-i", "CHAIR-s", "CHAIR-recall"], ["CLIPScore", "RefCLIPScore"]
    assert [line.split(" ")[0] for line in lines] == [*of_objects, *of_images, "BERTScore"]
    assert all(": it needs the " in line and "\n" not in line for line in lines)


def test_images_for_the_metric_and_for_the_report(files: Path, clip: str, images: Path) -> None:
    done = run(
        "score",
        "references.json",
        "candidates.csv",
        "--metrics",
        f"clipscore(model={clip})",
        "--images",
        "photo",
        "--report",
        "page.html",
        "--interval",
        "none",
    )
    assert done.exit_code == 0, done.output
    photos = [image["photo"] for image in data_of((files / "page.html").read_text())["images"]]
    assert len(photos) == 6
    assert all(photo.startswith("data:image/webp;base64") for photo in photos)
