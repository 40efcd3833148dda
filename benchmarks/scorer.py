"""Batches of rows through `sacrecap.Scorer`, against one `sacrecap.score` of all rows.

usage: scorer.py REFERENCES [--rows 1000]

REFERENCES: captions of images in any format, such as COCO's captions_val2017.json; the last caption of an image is its
candidate. Both count the same document frequencies, with one thread. Scores are compared first, to the bit. Times are
the least of several calls, of the processor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow

import sacrecap
from measure import machine, shortest

METRICS = ("rouge-l", "cider-d", "bleu-4, rouge-l, cider-d", "coco")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("references")
    options.add_argument("--rows", type=int, default=1000)
    given = options.parse_args()
    captions = sacrecap.data.read_references(given.references).to_dict()
    references = {image: own[:-1] for image, own in captions.items()}
    candidates = {image: own[-1] for image, own in captions.items()}
    table = pyarrow.table({"caption": [*candidates.values()], "references": [*references.values()]})
    batches = table.to_batches(max_chunksize=given.rows)
    columns = [batch.to_pydict() for batch in batches]
    print(machine())
    print(f"{len(candidates):,} rows, batches of {given.rows:,}: milliseconds, and times those of sacrecap.score")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "train.df")
        sacrecap.DocumentFrequency.build(references).save(file)
        needs = sacrecap.Needs({"document_frequency": file}, threads=1)
        for metrics in METRICS:
            scorer = sacrecap.Scorer(metrics, needs=needs)

            def whole(metrics: str = metrics) -> sacrecap.Result:
                return sacrecap.score(references, candidates, metrics, needs=needs, interval=None, threads=1)

            def parts(batches: list[object], scorer: sacrecap.Scorer = scorer) -> list[object]:
                return [scorer(batch) for batch in batches]

            whole(), parts(batches)
            result, least = shortest(whole, 7, time.process_time)
            arrow, of_arrow = shortest(lambda: parts(batches), 7, time.process_time)
            _, of_lists = shortest(lambda: parts(columns), 7, time.process_time)
            for key in scorer.columns:
                if not np.array_equal(np.concatenate([batch.column(key) for batch in arrow]), result[key].per_image):
                    sys.exit(f"{key}: the scores differ")
            print(
                f"{metrics:25} score {1e3 * least:7.1f}   Arrow {1e3 * of_arrow:7.1f} ({of_arrow / least:.2f})   "
                f"lists {1e3 * of_lists:7.1f} ({of_lists / least:.2f})"
            )


if __name__ == "__main__":
    main()
