"""A vision-language model of random weights as the judge, behind an endpoint on this machine."""

from __future__ import annotations

import base64
import io
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from PIL import Image

import sacrecap
from fake_endpoint import FakeEndpoint, Reply
from sacrecap.example.tiny_llava import write_tiny_llava

pytestmark = pytest.mark.torch

HUNDREDTHS = [f"{number:02}" for number in range(0, 100, 7)]
CAPTIONS = {"1": "a brown dog", "2": "two cats", "3": "a red bus"}
COLOURS = {"1": "tan", "2": "grey", "3": "red"}
IMAGES = {image: Image.new("RGB", (40, 30), colour) for image, colour in COLOURS.items()}


class Model:
    """Says `0.` and two digits, those that the network finds likeliest, as servers do that are told a grammar."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoProcessor, LlavaForConditionalGeneration

        write_tiny_llava(folder, [*CAPTIONS.values(), "0 .", " ".join(HUNDREDTHS)])
        self.processor = AutoProcessor.from_pretrained(folder)
        self.network = LlavaForConditionalGeneration.from_pretrained(folder).eval()
        self.tokens = self.processor.tokenizer.convert_tokens_to_ids(HUNDREDTHS)

    def logprobs(self, image: Image.Image, text: str) -> dict[str, float]:
        """The log-probability of each two digits after `0.`."""
        content = [{"type": "image"}, {"type": "text", "text": text}]
        asked = self.processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
        inputs = self.processor(images=image.convert("RGB"), text=asked + "0 .", return_tensors="pt")
        with torch.inference_mode():
            logits = self.network(**inputs).logits[0, -1, self.tokens]
        return dict(zip(HUNDREDTHS, logits.double().log_softmax(0).tolist(), strict=True))

    def reply(self, body: dict[str, Any], _: int) -> Reply:
        picture, text = body["messages"][0]["content"]
        content = base64.b64decode(picture["image_url"]["url"].partition(",")[2])
        found = self.logprobs(Image.open(io.BytesIO(content)), text["text"])
        likeliest = max(found, key=lambda digits: found[digits])
        return Reply(f"0.{likeliest}", tokens=[("0", {"0": 0.0}), (".", {".": 0.0}), (likeliest, found)])


def test_scores_are_those_of_the_network(tmp_path: Path) -> None:
    judge, prompt = Model(tmp_path / "tiny-llava"), tmp_path / "prompt.txt"
    prompt.write_text("describe this image {caption}")
    expected = []
    for image, caption in CAPTIONS.items():
        likely = judge.logprobs(IMAGES[image], f'describe this image "{caption}"')
        weights = {digits: math.exp(logprob) for digits, logprob in likely.items()}
        expected.append(sum(p * int(digits) / 100 for digits, p in weights.items()) / sum(weights.values()))
    references = {image: ["a dog"] for image in CAPTIONS}
    with FakeEndpoint(judge.reply) as fake:
        endpoint = sacrecap.Endpoint(fake.url, "tiny-llava", answers=str(tmp_path / "answers.sqlite"))
        result = sacrecap.score(
            references, CAPTIONS, "judge(image)", judge=endpoint, judge_prompt=prompt, images=IMAGES, interval=None
        )
        assert result["judge(image)"].per_image.tolist() == pytest.approx(expected)
        assert len({*expected}) == 3, "it looks at both, image and caption"
        assert "|by:expectation|" in result["judge(image)"].signature
        ours = sacrecap.score(references, CAPTIONS, "judge(image)", judge=endpoint, images=IMAGES, interval=None)
        assert 0 < ours["judge(image)"].value < 1
