"""`--images` of the commands that write reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from runner import Runner
from sacrecap import example

REFERENCES, CAREFUL = str(example.references_path()), str(example.system_path("careful"))
SETS = str(example.caption_set_path("varied"))


NO_FILE = {"agreement": "no such file"}
NO_COLUMN = "there is no such folder or tar file, and no file of captions has a column of that name"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("photos")
    for image in example.references():
        Image.new("RGB", (8, 6), "teal").save(place / f"{image}.jpg")
    return place


@pytest.mark.parametrize(
    "command",
    [
        ["score", REFERENCES, CAREFUL, "--metrics", "rouge-l", "--interval", "none"],
        ["compare", REFERENCES, CAREFUL, str(example.system_path("plain")), "--metrics", "rouge-l", "--samples", "100"],
        ["diversity", SETS, "--interval", "none"],
        ["agreement", "judged.jsonl", "--metrics", "rouge-l", "--interval", "none"],
    ],
    ids=lambda command: command[0],
)
def test_every_report_takes_images(run: Runner, folder: Path, tmp_path: Path, command: list[str]) -> None:
    judged = [
        json.dumps({"image_id": image, "references": captions, "caption": captions[0], "rating": number % 5})
        for number, (image, captions) in enumerate(example.references().items())
    ]
    (tmp_path / "judged.jsonl").write_text("\n".join(judged))
    run.ok(*command, "--report", "page.html", "--images", str(folder))
    assert len((tmp_path / "page.html").read_bytes()) > 30_000
    for options, message in (
        (["--images", str(folder)], "--images shows the images in a report; give --report FILE.html too"),
        (["--report", "p.html", "--images", "nowhere"], f"nowhere: {NO_FILE.get(command[0], NO_COLUMN)}"),
        (
            ["--report", "p.html", "--images", "none/{image_id}.jpg"],
            "no file was found for any of the 60 images; looked for",
        ),
    ):
        assert message in run.refused(*command, *options)
    assert not (tmp_path / "p.html").exists()
