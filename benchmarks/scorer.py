"""Batches of rows through `sacrecap.Scorer`, against one `sacrecap.score` of all rows.

usage: scorer.py REFERENCES [--rows 1000]

REFERENCES: captions of images in any format, such as COCO's captions_val2017.json; the last caption of an image is its
candidate. Both count the same document frequencies, with one thread. Scores are compared first, to the bit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow

import sacrecap
from measure import machine, race

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
    print(f"{len(candidates):,} rows, batches of {given.rows:,}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "train.df")
        sacrecap.DocumentFrequency.build(references).save(file)
        needs = sacrecap.Needs({"document_frequency": file}, threads=1)
        for metrics in METRICS:
            scorer = sacrecap.Scorer(metrics, needs=needs)
            whole = partial(sacrecap.score, references, candidates, metrics, needs=needs, interval=None, threads=1)
            result, parts = whole(), [scorer(batch) for batch in batches]
            for key in scorer.columns:
                if not np.array_equal(np.concatenate([batch.column(key) for batch in parts]), result[key].per_image):
                    sys.exit(f"{key}: the scores differ")
            race(
                {
                    f"{metrics}: batches of Arrow": lambda scorer=scorer: list(map(scorer, batches)),
                    "dictionaries of lists": lambda scorer=scorer: list(map(scorer, columns)),
                    "one sacrecap.score": whole,
                }
            )


if __name__ == "__main__":
    main()
