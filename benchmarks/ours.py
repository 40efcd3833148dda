"""capeval's job in one process, stage by stage.

usage: ours.py REFERENCES CANDIDATES     prints {"scores": …, "seconds": {stage: …}}; each stage is the best of 5
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

METRICS = "bleu-1,bleu-2,bleu-3,bleu-4,rouge-l,cider-d"


def main(references_path: str, candidates_path: str) -> dict[str, Any]:
    started = time.perf_counter()
    from capeval.corpus.corpus import Corpus
    from capeval.data import read_candidates, read_references
    from capeval.metrics.registry import parse_metrics
    from capeval.scoring.score import score_corpus

    seconds = {"import": time.perf_counter() - started}
    for _ in range(5):
        clock = [time.perf_counter()]
        references, candidates = read_references(references_path), read_candidates(candidates_path)
        clock.append(time.perf_counter())
        corpus = Corpus(references, candidates)
        clock.append(time.perf_counter())
        result = score_corpus(corpus, parse_metrics(METRICS))
        clock.append(time.perf_counter())
        for stage, start, end in zip(("read", "tokenise", "score"), clock, clock[1:], strict=False):
            seconds[stage] = min(seconds.get(stage, end - start), end - start)
    return {"scores": result.to_dict()["scores"], "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:3])))
