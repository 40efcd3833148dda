"""What a model says behind its thoughts, in tags and boxes, and in JSON that is nearly right."""

from __future__ import annotations

from typing import Any

import pytest

from sacrecap.resources.replies import after_thoughts, boxed, tagged, values

THOUGHTS = [
    ("<think>", "</think>"),
    ("<Thinking>", "</Thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ('<think time="3">', "</think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysisWe ", "assistantfinal"),
    ("Here is my thought process:\n", "\nHere is my response:"),
]
"""Of DeepSeek and Qwen, Mistral, Kimi, Seed, Sky, Command, MedGemma, Gemma, gpt-oss with and without marks, Granite."""


@pytest.mark.parametrize(("opens", "closes"), THOUGHTS)
def test_thoughts_of_every_mark(opens: str, closes: str) -> None:
    assert after_thoughts(f'{opens}a draft {{"score": 20}}{closes}\n{{"score": 85}}') == '{"score": 85}'
    assert after_thoughts(f'{opens}a draft {{"score": 20}} is') == "", "a thought without an end says nothing"
    if not opens[0].isalpha():  # words are marks at the beginning of a line alone
        assert after_thoughts(f"{opens}a{closes}no {opens}b") == ""
        assert after_thoughts(f"{opens}a{closes}no {opens}b{closes}a dog") == "a dog"


def test_words_are_no_thoughts() -> None:
    for text in ("a dog thinks", "the analysis [of a thought] <b>is</b>", "I think: 85", "assistant, final", "{}"):
        assert after_thoughts(text) == text
    assert after_thoughts("the template opened it</think> a dog") == "a dog"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('{"score": 85}', [85]),
        ('```json\n{"score": 85,}\n```', ["85"]),
        ('{"result": {"score": 85}}', [85]),
        ('{"result": [{"Score": 85}]}', [85]),
        ('{"reason": "a dog\nruns", "score": 85}', [85]),
        ("{'score': 85, 'reason': 'a dog'}", ["85"]),
        ("{'result': {'score': 85}}", ["85"]),
        ("{score: 85}", ["85"]),
        ('{"score": 85/100}', ["85/100"]),
        ('{"score": "85/100"}', ["85/100"]),
        ('{"reason": "he says "oops"", "score": 85}', ["85"]),
        ('{"score": 85 // nice\n}', []),
        ('{"score": 85, "reason": "cut he', ["85"]),
        ('{"score": 85, "rea', ["85"]),
        ('{"score": 85,', ["85"]),
        ('{"score": 8', []),
        ('{"reason": "the caption says \\"score\\": 100", "score": 10}', [10]),
        ('{"reason": "it says "score": 100, no", "score": 10', []),
        ('{"reason": "it says "score": 100, "no": 1", "score": 10}', ["100", "10"]),
        ('{"score": a whole number from 0 to 100, "reason": "at most 20 words"}', []),
        ('{"score": <0-100>}', []),
        ("score: 85", []),
        ('{"a": {"b": [1, 2]}}', []),
        ("{" * 50_000, []),
    ],
)
def test_values_of_objects_that_are_nearly_right(written: str, found: list[Any]) -> None:
    assert values(written, "score") == found


def test_forms_of_prompts_have_no_values() -> None:
    assert values('{"better": 1, 2 or "tie", "reason": "at most 20 words"}', "better") == []
    assert values('{"better": 1, 2', "better") == []
    assert values('{"answers": ["yes", "no" or "not mentioned", …]}', "answers") == []
    assert values("{'answers': ['yes', 'no',]}", "answers") == [["yes", "no"]]


def test_tags_and_boxes() -> None:
    assert tagged("<caption>a</caption> or <CAPTION> a dog </CAPTION>!", "caption") == "a dog"
    assert tagged("<caption>a dog", "caption") == "a dog"
    assert tagged("a caption", "caption") is None
    assert boxed(r"so \boxed{a} or $\boxed{\text{a {brown} dog}}$") == "a {brown} dog"
    assert boxed(r"\boxed{a dog") is None
    assert boxed("a dog") is None
