"""`sacrecap caption generate`, from scenes to the figures of `sacrecap diversity`."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

from PIL import Image

from fake_endpoint import FakeEndpoint, Reply, always
from runner import Runner

TRAIN = ["--hidden", "16", "--embedding", "8", "--steps", "4", "--batch", "8", "--captions", "2", "--side", "32"]


def test_from_scenes_to_diversity(run: Runner) -> None:
    run.here("caption", "scenes", "scenes", "--images", "60")
    run.ok("caption", "train", "scenes", "-o", "fc", *TRAIN, "--device", "cpu", "--features", "features")
    generate = ["caption", "generate", "fc", "--features", "features", "--device", "cpu", "--captions", "3"]
    assert run.ok(*generate, "--method", "rs(temperature=0.7)", "-o", "rs.json") == ""
    assert [path.name for path in run.folder.glob("rs.json*")] == ["rs.json"]
    sets = json.loads((run.folder / "rs.json").read_text())
    assert {len(row["captions"]) for row in sets} == {3}
    shown = run.ok("diversity", "rs.json", "--references", "scenes", "--split", "test", "--interval", "none", "--quiet")
    assert "Self-CIDEr" in shown
    assert "did you mean 'rci'" in run.refused(*generate, "--method", "rcis", "-o", "no.json")


def page_commands(url: str) -> list[list[str]]:
    """Those of the page for the plane of a model, with that of an endpoint, which is here, in its place."""
    page = (Path(__file__).parents[4] / "docs" / "howto" / "train-captioners.md").read_text(encoding="utf-8")
    section = page.partition("### The plane of today's models")[2].partition("\n### ")[0]
    asked = re.findall(r"^\$ sacrecap (caption generate tiny-llava .*)$", section, re.MULTILINE)
    model = f"{url} --model NAME"
    return [shlex.split(one.replace("tiny-llava", model).replace(" --device cpu", "")) for one in asked]


def test_the_plane_of_a_model_behind_an_endpoint(run: Runner) -> None:
    """Sets by sampling, by temperature, by top-p and by prompts, and captions that need no model, as on the page."""
    run.here("caption", "scenes", "scenes", "--images", "20")
    (run.folder / "questions.txt").write_text("What is there?\nWhere is it?\nWhich colours?\n")
    answers = ["a red circle", "a blue square on white", "a green ring", "two shapes"]

    def answer(body: dict[str, Any], _: int) -> Reply:
        text = json.dumps(body["messages"][0]["content"][-1])
        return Reply(answers[(body.get("seed", 0) + len(text)) % 4])

    with FakeEndpoint(answer) as server:
        for words in page_commands(server.url):
            assert run.ok(*words) == ""
        asked = [(one.body["temperature"], one.body.get("top_p")) for one in server.requests]
    ways = {(1.0, None): 6, (0.5, None): 6, (1.0, 0.9): 6, (0.0, None): 6}
    assert {how: asked.count(how) for how in asked} == ways
    sets = [f"{way}.json" for way in ("cool", "nucleus", "plain", "questions", "typical")]
    assert sets == sorted(path.name for path in run.folder.glob("*.json"))
    drawn = ("--references", "scenes", "--split", "test", "--interval", "none", "--plots", "endpoint")
    assert "typical" in run.ok("diversity", *sets, *drawn)
    with (run.folder / "endpoint" / "plane.csv").open(encoding="utf-8") as file:
        rows = {row["system"]: float(row["accuracy"]) for row in csv.DictReader(file)}
    assert [*rows][-1] == "human"  # the others stand in the order of their scores
    assert sorted(rows) == sorted([*(name.removesuffix(".json") for name in sets), "human"])
    nearest = ["caption", "generate", server.url, "--images", "scenes", "--blind", "nearest", "-o", "x.json"]
    assert "no folder of sacrecap caption train" in run.refused(*nearest)
    assert "no captions of people" in run.refused(*nearest[:4], "scenes/images", *nearest[5:])


def test_no_place_for_the_output_is_said_at_once(run: Runner) -> None:
    assert "there is no folder 'nowhere'" in run.refused("caption", "generate", "fc", "-o", "nowhere/sets.json")


def test_an_endpoint_and_images_alone(run: Runner) -> None:
    (run.folder / "photos").mkdir()
    for number in range(3):
        Image.new("RGB", (2, 2), (number, 0, 0)).save(run.folder / "photos" / f"{number}.png")
    with always("a dog runs") as server:
        generate = ["caption", "generate", server.url, "--images", "photos", "--captions", "2", "-o", "sets.json"]
        assert "name the model behind this endpoint (--model NAME)" in run.refused(*generate)
        assert run.ok(*generate, "--model", "vlm", "--budget", "9000 tokens") == ""
        rows = json.loads((run.folder / "sets.json").read_text())
        assert rows == [{"image_id": str(number), "captions": ["a dog runs"] * 2} for number in range(3)]
        assert [path.name for path in run.folder.glob("sets.json*")] == ["sets.json"]
        (run.folder / "prompts.txt").write_text("What is there?\n\n Where is it? \nWho?\n")
        several = [*generate[:-4], "--model", "vlm", "--prompts", "prompts.txt", "-o", "asked.json"]
        assert run.ok(*several) == ""
        assert {one.text for one in server.requests[-9:]} == {"What is there?", "Where is it?", "Who?"}
        assert [len(row["captions"]) for row in json.loads((run.folder / "asked.json").read_text())] == [3, 3, 3]
        assert "--prompt is one prompt, and --prompts a file" in run.refused(*several, "--prompt", "What?")
        assert "cannot share out 4 captions" in run.refused(*several, "--captions", "4")
        (run.folder / "prompts.txt").write_text(" \n")
        assert "prompts.txt: has no prompt; write one per line" in run.refused(*several)
        broke = run.here(*generate, "--model", "other", "--budget", "5 tokens")
        assert broke.status == 2
        assert "has no room for another request" in broke.stderr
    wrong = run.refused("caption", "generate", "x/y", "--model", "vlm", "--images", "photos")
    assert "--model is for an endpoint, and x/y is a checkpoint of transformers: leave it out" in wrong
    wrong = run.refused("caption", "generate", "x/y", "--features", "x.npz", "--images", "photos")
    assert "--features is for a captioner of sacrecap caption train, and x/y is a checkpoint" in wrong
    assert "x/y is a checkpoint of transformers, which knows no images: give some" in run.refused(
        "caption", "generate", "x/y"
    )
    evaluate = ["caption", "evaluate", "owner/name", "--images", "photos"]
    assert "these images have no captions of people" in run.refused(*evaluate)
