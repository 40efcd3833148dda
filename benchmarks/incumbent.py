"""The incumbent's job, as its users run it: pycocoevalcap from two JSON files to scores.

usage: incumbent.py REFERENCES CANDIDATES     prints {"scores": …, "seconds": {stage: …}}
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import defaultdict
from typing import Any


def load(path: str) -> dict[str, list[str]]:
    with open(path, encoding="utf8") as file:
        data = json.load(file)
    grouped: dict[str, list[str]] = defaultdict(list)
    if isinstance(data, dict) and "annotations" in data:
        for image in data["images"]:
            grouped[str(image["id"])] = []
        data = data["annotations"]
    if isinstance(data, dict):
        return {image: [captions] if isinstance(captions, str) else captions for image, captions in data.items()}
    for row in data:
        grouped[str(row["image_id"])].append(row["caption"])
    return grouped


def main(references_path: str, candidates_path: str) -> dict[str, Any]:
    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[stage] = now - clock
        clock = now

    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    lap("import")
    references, candidates = load(references_path), load(candidates_path)
    candidates = {image: candidates[image] for image in references}
    lap("read")
    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in references.items()})
    res = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in candidates.items()})
    lap("tokenise")
    bleu, _ = Bleu(4).compute_score(gts, res)
    lap("bleu")
    rouge, _ = Rouge().compute_score(gts, res)
    lap("rouge-l")
    cider, _ = Cider().compute_score(gts, res)
    lap("cider-d")
    scores = {
        **{f"bleu-{n + 1}": score for n, score in enumerate(bleu)},
        "rouge-l": float(rouge),
        "cider-d": float(cider),
    }
    return {"scores": scores, "seconds": seconds}


if __name__ == "__main__":
    # The suite prints progress on stdout; ours is the one line at the end.
    with contextlib.redirect_stdout(sys.stderr):
        outcome = main(*sys.argv[1:3])
    print(json.dumps(outcome))
