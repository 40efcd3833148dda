"""The caption in a completion: behind what a policy thinks, and without what chats put around it."""

from __future__ import annotations

import pytest

from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import ways_of

REFERENCES = {"beach": ["a dog runs along the beach"], "city": ["two cats sit in a city"]}
SAID = "a dog runs"


def spoken(written: str, *names: str) -> str:
    for way in ways_of(names):
        written = way(written)
    return written


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (f"<think>a beach</think><answer> {SAID} </answer>", SAID),
        (f"<answer>a cat</answer> no: <ANSWER>{SAID}</ANSWER> done", SAID),
        (f"<answer>{SAID}", SAID),  # cut
        (SAID, ""),
        ("", ""),
    ],
)
def test_answers(written: str, said: str) -> None:
    assert spoken(written, "answer") == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (f"<think>the image shows a beach</think>\n{SAID}", SAID),
        (f"the image shows a beach</think> {SAID}", SAID),  # the template opened it
        ("<think>the image shows", ""),
        (f"<think>a</think> hm <thinking>b</thinking>{SAID}", SAID),
        (SAID, SAID),
    ],
)
def test_what_follows_thinking(written: str, said: str) -> None:
    assert spoken(written, "after-thinking") == said


@pytest.mark.parametrize(
    ("way", "written"),
    [
        ("tag:description", f"<think>a</think><description>{SAID}</description>"),
        ("boxed", rf"so \boxed{{\text{{{SAID}}}}}."),
        ("json:caption", f'```json\n{{"caption": "{SAID}", "sure": true}}\n```'),
        ("json:Text", f"{{'text': '{SAID}'}}"),
        ("answer", f"[THINK]<answer>a cat</answer>[/THINK]<answer>{SAID}</answer>"),
    ],
)
def test_other_packings_by_name(way: str, written: str) -> None:
    assert spoken(written, way) == SAID
    assert spoken(f"<think>a draft: {written}" if "</" not in written else f"{written}<think>", way) == ""
    assert spoken("a cat", way) == ""


@pytest.mark.parametrize(
    "written",
    [
        f"<think>a beach</think><caption>{SAID}</caption>",
        f"<CAPTION> {SAID} </CAPTION>",
        rf"\boxed{{{SAID}}}",
        f'{{"caption": "{SAID}"}}',
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{SAID}",
        f"{SAID}<|im_end|>",
        f"<|im_start|>assistant\n{SAID}</s>",
        f"**Caption:** {SAID}",
        f'Sure! Here is a caption for the image: "{SAID}"',
        f"Certainly, here's a short description of the picture:\n\n{SAID}",
        f"# Caption: {SAID}<end_of_turn>",
        f"“{SAID}”",
        f"Answer: `{SAID}`",
        SAID,
    ],
)
def test_captions_without_their_packing(written: str) -> None:
    assert spoken(written, "caption") == SAID


@pytest.mark.parametrize(
    "kept",
    [
        "a sign says: no dogs",
        "Okay, a dog",  # who knows
        "an answer to a question is written on a board",
        'a "dog" and a "cat"',
        "the dog's ball isn't red",
        "a clock at 5:30",
    ],
)
def test_captions_stay_what_they_are(kept: str) -> None:
    assert spoken(kept, "caption") in {kept, "a dog"}


def test_ways_follow_each_other_in_a_reward() -> None:
    plain = CaptionReward(REFERENCES)([SAID], ["beach"])
    written = f"<think>hm, a beach</think> **Caption:** {SAID}<|im_end|>"
    assert CaptionReward(REFERENCES)([written], ["beach"]) != plain
    assert CaptionReward(REFERENCES, text=["after-thinking", "caption"])([written], ["beach"]) == plain
    assert CaptionReward(REFERENCES, text=lambda text: text.split("|")[1])([f"x|{SAID}"], ["beach"]) == plain
    assert CaptionReward(REFERENCES, text="answer")([SAID], ["beach"]) == [0.0]
