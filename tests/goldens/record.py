"""Records the COCO caption evaluation code's tokens and scores: `python tests/goldens/record.py`.

Needs pycocoevalcap and a Java runtime. Writes, beside this file:

- `worked.json`: four small corpora of tokenised captions, with their scores;
- `example.json`: the captions of `sacrecap.example`, as the original tokenizer cuts them (all references in one
  stream, all candidates in another), with the scores of those tokens.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from oracle import suite
from sacrecap import example

WORKED: dict[str, tuple[dict[str, list[str]], dict[str, str]]] = {
    "four images": (
        {
            "1": ["a man rides a horse", "a person riding a horse"],
            "2": ["a dog runs", "the dog ran"],
            "3": ["a cat on a mat"],
            "4": ["two birds fly"],
        },
        {"1": "a man riding a brown horse", "2": "a dog ran in a field", "3": "", "4": "birds"},
    ),
    "captions that equal a reference": (
        {"1": ["two birds fly", "birds in the sky"], "2": ["a dog runs on the beach"], "3": ["a b c", "a b c d"]},
        {"1": "two birds fly", "2": "a dog runs on the beach", "3": "a b c"},
    ),
    "one image": ({"1": ["a b c", "a b c d e f g h i"]}, {"1": "a b c"}),
    "repeated words": (
        {"1": ["the cat the mat", "the the the"], "2": ["a a a a b", "b"], "3": ["x y x y x y"]},
        {"1": "the the the the the", "2": "a a b b a a", "3": "y x y x y x y x"},
    ),
}


def provenance() -> dict[str, str]:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    return {
        "recorded by": "tests/goldens/record.py",
        "from": f"pycocoevalcap {suite.VERSION}",
        "python": platform.python_version(),
        "java": java,
    }


def record(references: dict[str, list[str]], candidates: dict[str, str]) -> dict[str, Any]:
    scores = suite.scores(references, candidates)
    return {
        "references": references,
        "candidates": candidates,
        "corpus": {name: value for name, (value, _) in scores.items()},
        "per_image": {name: values for name, (_, values) in scores.items()},
    }


def write(name: str, document: dict[str, Any]) -> None:
    text = json.dumps({"provenance": provenance(), **document}, indent=1, ensure_ascii=False)
    (HERE / name).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    write("worked.json", {"corpora": {name: record(*corpus) for name, corpus in WORKED.items()}})
    references, systems = suite.tokens(example.references()), {}
    for system, captions in example.systems().items():
        # In the references' order: a caption's tokens may depend on the caption that follows it.
        candidates = suite.tokens({image: [captions[image]] for image in references})
        recorded = record(references, {image: one for image, [one] in candidates.items()})
        systems[system] = {name: value for name, value in recorded.items() if name != "references"}
    write("example.json", {"references": references, "systems": systems})


if __name__ == "__main__":
    main()
