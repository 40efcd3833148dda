"""The evaluation script of an EvalAI challenge: what a board may tell of a submission.

Zip this file as `evaluation_script` of the challenge, and name sacrecap in its requirements. The annotation file of a
phase has its references. The leaderboard's labels are those of METRICS: `CIDEr-D`, `BLEU-4` and so on.
"""

from __future__ import annotations

from typing import Any

from sacrecap.boards import board

METRICS = "cider-d, bleu-4, meteor, rouge-l"


def evaluate(test_annotation_file: str, user_submission_file: str, phase_codename: str, **_: Any) -> dict[str, Any]:
    """The scores of the submission, as EvalAI's workers take them; an error's text is shown to the team."""
    made = board(test_annotation_file, {"submission": {"submission": user_submission_file}}, METRICS)
    scores = {made.metrics[key].label: score.value for key, score in made.rows[0].scores.items()}
    return {"result": [{phase_codename: scores}], "submission_result": made.to_dict()}
