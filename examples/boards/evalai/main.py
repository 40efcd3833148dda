"""The evaluation script of an EvalAI challenge: what a board may tell of a submission.

Zip the files of this folder as the challenge's evaluation script. The annotation file of a phase is one file of
references, or a zip of several sets: it stays with the host. SPLITS names the data-set splits that get the scores; the
leaderboard's labels are those of METRICS: `CIDEr-D`, `BLEU-4` and so on.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from sacrecap.boards import SUFFIXES, Contest

METRICS = "cider-d, bleu-4, meteor, rouge-l"
SPLITS: dict[str, str | dict[str, str]] = {"dev": "val_split", "test": "test_split"}
"""By the codename of a phase that of its data-set split, as in `challenge_config.yaml`. Of a phase with several sets of
references, that of each by its file, `c5` of `c5.json` in the zip, the one with all images first:
`{"test": {"c5": "test_c5", "c40": "test_c40"}}`."""


def evaluate(test_annotation_file: str, user_submission_file: str, phase_codename: str, **_: Any) -> dict[str, Any]:
    """The scores of the submission, as EvalAI's worker takes them; an error's text is shown to the team."""
    if phase_codename not in SPLITS:
        raise ValueError(f"main.py: SPLITS has no phase {phase_codename!r}; it has {', '.join(SPLITS)}")
    splits = SPLITS[phase_codename]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(splits, str):
            splits = {"references": splits}
            sets = {"references": test_annotation_file}
        else:
            sets = unpacked(test_annotation_file, folder, list(splits))
        suffix = Path(user_submission_file).suffix.lower()
        submitted = Path(folder, "submissions", "submission", f"captions{suffix if suffix in SUFFIXES else '.json'}")
        submitted.parent.mkdir(parents=True)
        shutil.copyfile(user_submission_file, submitted)
        scored = Contest(folder, "Scores of the submission", sets, metrics=METRICS).board()
    for problems in scored.first.refused.values():
        raise ValueError("\n".join(problems))
    result = [
        {splits[name]: {board.metrics[key].label: score.value for key, score in board.rows[0].scores.items()}}
        for name, board in scored.sets.items()
    ]
    return {"result": result, "submission_result": scored.to_dict()}


def unpacked(file: str, folder: str, names: list[str]) -> dict[str, str]:
    """The paths of the sets of references in a zip."""
    if not zipfile.is_zipfile(file):
        raise ValueError(f"main.py: SPLITS names {', '.join(names)}; the annotation file has to be a zip of them")
    with zipfile.ZipFile(file) as packed:
        packed.extractall(folder)
    files = {path.stem: str(path) for path in Path(folder).rglob("*.*") if not path.name.startswith((".", "_"))}
    if missing := [name for name in names if name not in files]:
        raise ValueError(f"main.py: the annotation file lacks {', '.join(missing)}; it has {', '.join(files)}")
    return {name: files[name] for name in names}
