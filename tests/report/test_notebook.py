"""What notebooks show of results: tables as HTML that are whole and say what the printed ones say."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

import sacrecap
from sacrecap import example


def results() -> dict[str, Any]:
    systems = example.systems()
    name, candidates = next(iter(systems.items()))
    named = {f"<{name}> & more": candidates, **{key: value for key, value in systems.items() if key != name}}
    return {
        "result": sacrecap.score(example.references(), candidates, "bleu-4, rouge-l, cider-d, wmd"),
        "comparison": sacrecap.compare(example.references(), named, "bleu-4, cider-d", samples=200),
        "diversity": sacrecap.diversity(example.caption_sets(), example.references(), samples=100),
    }


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words += data.split()


@pytest.mark.parametrize("name", ["result", "comparison", "diversity"])
def test_html_says_what_the_printed_table_says(name: str) -> None:
    result = results()[name]
    html = result._repr_html_()
    ElementTree.fromstring(html)  # noqa: S314  (well-formed, so that it cannot break the page around it)
    assert "<script" not in html
    assert "color:#" not in html.replace("background:#4c8dd6", "")  # the page's own colours
    read = Text()
    read.feed(html)
    printed = str(result)
    for number in (word for word in printed.replace("*", " ").split() if word.count(".") == 1 and word[0].isdigit()):
        assert any(number.strip("();,") in word for word in read.words), number
    if name == "comparison":
        assert "&lt;" in html
        assert "<template>" not in html
