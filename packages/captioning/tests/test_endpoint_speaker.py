"""Captions by a model behind an endpoint: one that fails, refuses and cuts, and one whose caller is interrupted."""

from __future__ import annotations

import base64
import hashlib
import io
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fake_endpoint import BROKEN, BUSY, FakeEndpoint, Reply
from sacrecap import Endpoint
from sacrecap.errors import SacrecapError, SacrecapWarning, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages, images_to_caption
from sacrecap_captioning.generation import caption_sets


def shown(body: dict[str, Any]) -> bytes:
    """The image of a request."""
    [part] = [part for part in body["messages"][0]["content"] if part["type"] == "image_url"]
    return base64.b64decode(part["image_url"]["url"].partition("base64,")[2])


def caption_of(image: bytes, seed: object) -> str:
    return f"image {hashlib.sha256(image).hexdigest()[:12]} of seed {seed}"


def says(body: dict[str, Any], _: int) -> Reply:
    return Reply(caption_of(shown(body), body.get("seed")))


def photos(folder: Path, count: int) -> dict[str, bytes]:
    """Images in a tar file of webdataset, by id."""
    folder.mkdir(exist_ok=True)
    found = {}
    with tarfile.open(folder / "photos.tar", "w") as tar:
        for number in range(count):
            file = io.BytesIO()
            Image.new("RGB", (2, 2), (number % 256, number // 256 % 256, 9)).save(file, "PNG")
            found[f"{number:06}"] = file.getvalue()
            info = tarfile.TarInfo(f"{number:06}.png")
            info.size = len(file.getvalue())
            tar.addfile(info, io.BytesIO(file.getvalue()))
    return found


def those(folder: Path) -> CaptionedImages:
    return images_to_caption(folder / "photos")


def test_sets_of_images_alone(tmp_path: Path) -> None:
    images = photos(tmp_path / "photos", 5)
    with FakeEndpoint(says) as server:
        endpoint = Endpoint(server.url, "vlm", answers=str(tmp_path / "answers"))
        sets = caption_sets(endpoint, those(tmp_path), captions=3, seed=7, prompts=["What is there?"])
        assert sets == {name: [caption_of(image, seed) for seed in (7, 8, 9)] for name, image in images.items()}
        [asked] = {(one.body["temperature"], one.body["max_tokens"], one.text) for one in server.requests}
        assert asked == (1.0, 64, "What is there?")
        once = caption_sets(endpoint, those(tmp_path), captions=1, method="beam", limit=9)
        assert once == {name: [caption_of(image, None)] for name, image in images.items()}
        assert (server.requests[-1].body["temperature"], server.requests[-1].body["max_tokens"]) == (0.0, 9)
        nucleus = caption_sets(endpoint, those(tmp_path), captions=1, method="rs(temperature=0.7, nucleus=0.9)")
        assert nucleus == {name: [caption_of(image, 0)] for name, image in images.items()}
        assert (server.requests[-1].body["temperature"], server.requests[-1].body["top_p"]) == (0.7, 0.9)
        assert "top_p" not in server.requests[0].body
        before = len(server.requests)
        assert caption_sets(endpoint, those(tmp_path), captions=3, seed=7, prompts=["What is there?"]) == sets
        assert len(server.requests) == before  # what was answered is not asked again
        with pytest.raises(UsageError, match=r"an endpoint samples with a temperature.* got diverse-beam"):
            caption_sets(endpoint, those(tmp_path), method="diverse-beam")
        with pytest.raises(UsageError, match="an endpoint samples with a temperature"):
            caption_sets(endpoint, those(tmp_path), method="beam", captions=2)
        with pytest.raises(UsageError, match=r"got rs\(top_k=5\) for 10 captions by a prompt"):
            caption_sets(endpoint, those(tmp_path), method="rs(top_k=5)")


def test_several_prompts_share_out_the_captions(tmp_path: Path) -> None:
    photos(tmp_path / "photos", 2)
    with FakeEndpoint(lambda body, _: Reply(f"answer with seed {body.get('seed')}")) as server:
        endpoint = Endpoint(server.url, "vlm", answers=str(tmp_path / "answers"))
        sets = caption_sets(endpoint, those(tmp_path), captions=4, seed=5, prompts=["What?", "Where?"])
        assert list(sets.values()) == [[f"answer with seed {seed}" for seed in (5, 6, 7, 8)]] * 2
        asked = sorted((one.text, one.body["seed"]) for one in server.requests)
        assert asked == sorted([("What?", 5), ("What?", 6), ("Where?", 7), ("Where?", 8)] * 2)
        once = caption_sets(endpoint, those(tmp_path), captions=2, method="beam", prompts=["What?", "Where?"])
        assert [len(captions) for captions in once.values()] == [2, 2]
        assert {one.body["temperature"] for one in server.requests[-4:]} == {0.0}
        with pytest.raises(UsageError, match="2 prompts cannot share out 5 captions"):
            caption_sets(endpoint, those(tmp_path), captions=5, prompts=["What?", "Where?"])


def test_cut_and_refused_captions_are_told_of(tmp_path: Path) -> None:
    images = photos(tmp_path / "photos", 10)
    replies = {image: number for number, image in enumerate(images.values())}

    def answer(body: dict[str, Any], _: int) -> Reply:
        number = replies[shown(body)]
        if number == 0:
            return Reply("", refusal="I do not look at this")
        return Reply("a dog runs along the", finish="length" if number < 4 else "stop")

    with FakeEndpoint(answer) as server:
        endpoint = Endpoint(server.url, "vlm", answers=str(tmp_path / "answers"))
        with pytest.warns(SacrecapWarning) as told:
            sets = caption_sets(endpoint, those(tmp_path), captions=1, limit=5)
    assert list(sets.values()) == [[""], *[["a dog runs along the"]] * 9]
    assert [str(each.message) for each in told] == [
        "1 of 10 captions are empty: the endpoint refused them, or did not accept the image",
        "3 of 10 captions were cut at 5 tokens; give a larger --limit",
    ]


@pytest.mark.parametrize(
    ("count", "each"), [(300, 2), pytest.param(10_000, 1, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]
)
def test_none_is_lost_or_doubled_whatever_breaks(count: int, each: int, tmp_path: Path) -> None:
    """A fifth of the requests meet a fault, and twice the endpoint goes down in the middle."""
    images = photos(tmp_path / "photos", count)
    draws, down = random.Random(0), {"at": each * count // 4}

    def answer(body: dict[str, Any], times: int) -> Reply:
        down["at"] -= 1
        if down["at"] == 0:
            return Reply(status=401, error={"message": "the key has expired"})
        if times == 1 and draws.random() < 0.2:
            return draws.choice([BUSY, BROKEN, Reply("half", cut=True)])
        return says(body, times)

    tries = 0
    with FakeEndpoint(answer) as server:
        while True:
            tries += 1
            endpoint = Endpoint(server.url, "vlm", at_once=16, answers=str(tmp_path / "answers"))
            try:
                sets = caption_sets(endpoint, those(tmp_path), captions=each, seed=3)
                break
            except SacrecapError as error:
                assert "401" in str(error)
                down["at"] = each * count // 2 if tries == 1 else -1
    assert tries == 3
    assert sets == {name: [caption_of(image, seed) for seed in range(3, 3 + each)] for name, image in images.items()}
    paid = [(shown(one.body), one.body["seed"]) for one in server.answered if not one.replied.cut]
    assert len(set(paid)) == each * count
    assert len(paid) <= each * count + 2 * 16  # but for those under way when the caller went down
