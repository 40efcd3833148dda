"""The incumbent's job, as its users run it: pycocoevalcap from two JSON files to scores.

usage: incumbent.py REFERENCES CANDIDATES     prints {metric: score}
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import defaultdict


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


def main(references_path: str, candidates_path: str) -> dict[str, float]:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    references, candidates = load(references_path), load(candidates_path)
    candidates = {image: candidates[image] for image in references}
    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in references.items()})
    res = tokenizer.tokenize({i: [{"caption": c} for c in captions] for i, captions in candidates.items()})
    bleu, _ = Bleu(4).compute_score(gts, res)
    program = Meteor()
    meteor, _ = program.compute_score(gts, res)
    program.meteor_p.stdin.close()  # it ends then, and its processor time is counted
    program.meteor_p.wait()
    rouge, _ = Rouge().compute_score(gts, res)
    cider, _ = Cider().compute_score(gts, res)
    return {
        **{f"bleu-{n + 1}": score for n, score in enumerate(bleu)},
        "meteor": float(meteor),
        "rouge-l": float(rouge),
        "cider-d": float(cider),
    }


if __name__ == "__main__":
    # The suite prints progress on stdout; ours is the one line at the end.
    with contextlib.redirect_stdout(sys.stderr):
        scores = main(*sys.argv[1:3])
    print(json.dumps(scores))
