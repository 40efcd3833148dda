"""The scoring program of a Codabench competition: what a board may tell of a submission.

Zip this file with `metadata.yaml` as the scoring program. The reference data is a zip with `references.json`, a
submission one with a file of captions. Use an image with sacrecap: `docker_image` in `competition.yaml`. The columns of
the leaderboard have the keys of METRICS: `cider-d`, `bleu-4` and so on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sacrecap.boards import board
from sacrecap.data.listing import captions_in
from sacrecap.report.html import write_report

METRICS = "cider-d, bleu-4, meteor, rouge-l"


def main(given: Path, written: Path) -> None:
    """Scores the submission in `given/res` against the references in `given/ref`."""
    [references] = captions_in(given / "ref")
    submitted = captions_in(given / "res")
    if len(submitted) != 1:
        sys.exit(f"a submission is a zip with one file of captions; this one has {len(submitted)}")
    made = board(references, {"submission": {"submission": submitted[0]}}, METRICS)
    scores = {key: score.value for key, score in made.rows[0].scores.items()}
    (written / "scores.json").write_text(json.dumps(scores))
    write_report(made, written / "detailed_results.html", title="Scores of the submission")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
