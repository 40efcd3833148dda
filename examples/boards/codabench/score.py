"""The scoring program of a Codabench competition: what a board may tell of a submission.

Zip this file with `metadata.yaml` as the scoring program. The reference data is a zip with the references, a submission
one with a file of captions. Use an image with sacrecap: `docker_image` in `competition.yaml`. The columns of
the leaderboard have the keys of METRICS, `cider-d`, `bleu-4` and so on; those of a second set `c40-cider-d`.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from sacrecap.boards import SUFFIXES, Contest
from sacrecap.report.html import render_html

METRICS = "cider-d, bleu-4, meteor, rouge-l"
REFERENCES: list[str] = []
"""Of several sets of references the files, the one with all images first: `["c5.json", "c40.json"]`."""


def main(inputs: Path, written: Path) -> None:
    """Scores the submission in `given/res` against the references in `given/ref`."""
    files = [inputs / "ref" / name for name in REFERENCES] or [the_file_in(inputs / "ref", "the reference data")]
    sets = {path.stem: str(path) for path in files}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "submissions", "submission")
        place.mkdir(parents=True)
        submitted = the_file_in(inputs / "res", "a submission")
        shutil.copyfile(submitted, place / f"captions{submitted.suffix.lower()}")
        result = Contest(folder, "Scores of the submission", sets, metrics=METRICS).board()
    for problems in result.first.refused.values():
        sys.exit("\n".join(problems))
    scores = {
        key if number == 0 else f"{name}-{key}": score.value
        for number, (name, board) in enumerate(result.sets.items())
        for key, score in board.rows[0].scores.items()
    }
    (written / "scores.json").write_text(json.dumps(scores))
    (written / "detailed_results.html").write_text(render_html(result), encoding="utf-8")


def the_file_in(folder: Path, what: str) -> Path:
    """The one file of captions, wherever it is in the zip; not what operating systems add, nor a readme."""
    lines = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.suffix.lower() in SUFFIXES
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and path.stem.lower() != "readme"
    ]
    if len(lines) != 1:
        names = ", ".join(str(path.relative_to(folder)) for path in lines[:5])
        kinds = ", ".join(SUFFIXES)
        sys.exit(f"{what} is a zip with one file of captions ({kinds}); this one has {names or 'none'}")
    return lines[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
