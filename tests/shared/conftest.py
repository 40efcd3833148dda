"""What several tests of research data take: it is scored once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacrecap.judgments import Agreement, agreement


@pytest.fixture(scope="session")
def pascal(shared: Path) -> Agreement:
    """Every metric that the papers hold against PASCAL-50S."""
    metrics = "bleu-1, bleu-2, bleu-3, bleu-4, rouge-1, rouge-l, meteor, cider-d"
    return agreement(shared / "data/pascal50s", metrics, interval=None)
