"""Settings are made and checked without torch."""

from __future__ import annotations

import subprocess
import sys

from sacrecap_captioning.models import MODELS
from sacrecap_captioning.settings import MODEL_NAMES


def test_settings_do_not_need_torch() -> None:
    """Names and numbers are checked before anything is loaded."""
    code = """
import sys
from sacrecap.errors import UsageError
from sacrecap_captioning.settings import Settings
Settings("data", model="att2in", loss="xe + 5*cider-d", baseline="others")
for wrong in ({"model": "att3in"}, {"baseline": "none"}, {"loss": "blue"}, {"schedule": "stairs"}):
    try:
        Settings("data", **wrong)
    except UsageError:
        continue
    raise AssertionError(wrong)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_model_has_its_name_among_the_settings() -> None:
    assert tuple(MODELS) == MODEL_NAMES
