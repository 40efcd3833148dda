"""FENSE and SPIDEr-FL against a plain computation, with a detector of random weights."""

from __future__ import annotations

import hashlib
import io
import json
import re
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.response import addinfourl

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import sacrecap
from learned.captions import CANDIDATES, REFERENCES
from reference import bertscore as reference
from sacrecap.errors import DataError
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.learned import fluency_errors
from sacrecap.resources.needs import Needs
from sacrecap.rewards import CaptionReward

pytestmark = pytest.mark.torch

BROKEN = CANDIDATES | {"1": "A dog runs, along the Beach!"}
"""Signs and capitals, which the detector does not see."""


def plain_probabilities(detector: str, candidates: dict[str, str]) -> dict[str, float]:
    """That each caption has an error, one caption at a time."""
    saved = torch.load(detector)
    reader = reference.Reader(saved["model_type"])
    weight, bias = saved["state_dict"]["clf.weight"].double(), saved["state_dict"]["clf.bias"].double()
    found = {}
    for image, caption in candidates.items():
        kept = "".join(letter for letter in caption.lower() if letter.isalnum() or letter in " _")
        first = torch.tensor(reader.vectors(kept, 4)[0]).double()
        found[image] = float(torch.sigmoid(weight @ first + bias)[-1])
    return found


def names(bert: str, detector: str, parameters: str = "") -> list[str]:
    return [f"fense(model={bert}, errors={detector}{parameters})", f"spider-fl(errors={detector}{parameters})"]


def scored(metrics: Any, candidates: Any = BROKEN, **options: Any) -> list[Any]:
    result = sacrecap.score(REFERENCES, candidates, metrics, **{"interval": None, **options})
    return [score.per_image for score in result.values()]


@pytest.mark.parametrize("penalty", [0.9, 0.25])
def test_scores_are_those_of_the_equations(bert: str, detector: str, penalty: float) -> None:
    likely = plain_probabilities(detector, BROKEN)
    between = sorted(likely.values())
    threshold = (between[2] + between[3]) / 2  # three captions have an error, three have none
    keep = [1 - penalty * (likely[image] > threshold) for image in BROKEN]
    assert len({*keep}) == 2
    reader = reference.Reader(bert)

    def vector(text: str) -> Any:
        return np.mean(reader.vectors(text, 4), axis=0)

    cosines = {
        image: [reference.cosine(vector(mine), vector(one)) for one in REFERENCES[image]] if mine else [0.0]
        for image, mine in BROKEN.items()
    }
    plain = [sum(own) / len(own) for own in cosines.values()]
    [spider] = scored("spider")
    fense, spider_fl = scored(names(bert, detector, f", threshold={threshold}, penalty={penalty}"))
    np.testing.assert_allclose(fense, np.multiply(plain, keep), atol=1e-6)
    np.testing.assert_array_equal(spider_fl, np.multiply(spider, keep))
    assert max(spider) > 1
    assert max(plain) > 0.5


def test_the_note_counts_errors_and_signatures_name_both_networks(bert: str, detector: str) -> None:
    metrics = names(bert, detector, ", threshold=0")
    result = sacrecap.score(REFERENCES, BROKEN, metrics, interval=None)
    assert [note for note in result.notes if note.endswith(": 6 of 6 captions have an error of fluency.")]
    fense, spider_fl = (result[metric].signature for metric in metrics)
    assert re.search(r"\|model:tiny-bert\d*\(\w{12}\)\|errors:tiny-errors.ckpt\(\w{12}\)\|", fense)
    assert "|threshold:0|penalty:0.9|" in spider_fl
    assert re.search(r"\|df:corpus\(6\)\|errors:tiny-errors.ckpt\(\w{12}\)\|", spider_fl)
    assert sacrecap.score(REFERENCES, BROKEN, metrics[0], samples=50)[metrics[0]].interval is not None


def test_a_caption_just_at_the_threshold_has_no_error(detector: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fluency_errors.FluencyErrors, "probabilities", lambda _, captions: [0.9] * len(captions))
    [spider], [spider_fl] = scored("spider"), scored(f"spider-fl(errors={detector})")
    np.testing.assert_array_equal(spider_fl, spider)


def test_the_stream_and_rewards_have_the_same_scores(bert: str, detector: str, tmp_path: Path) -> None:
    metrics = names(bert, detector)
    whole = scored(metrics)
    for name, captions in (("references.json", REFERENCES), ("candidates.json", BROKEN)):
        (tmp_path / name).write_text(json.dumps(captions))
    result = sacrecap.score(
        tmp_path / "references.json", tmp_path / "candidates.json", metrics, engine="stream", interval=None
    )
    assert [score.value for score in result.values()] == pytest.approx([own.mean() for own in whole], abs=1e-12)
    for metric, own in zip(metrics, whole, strict=True):
        found = CaptionReward(REFERENCES, metric)([BROKEN[image] for image in ("4", "1")], ["4", "1"])
        np.testing.assert_allclose(found, own[[3, 0]], atol=1e-6)


def test_loading_leaves_the_random_numbers_alone(detector: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacrecap.resources.learned.checkpoint._networks", {})
    torch.manual_seed(3)
    wanted = torch.rand(3).tolist()
    torch.manual_seed(3)
    scored(f"spider-fl(errors={detector})")
    assert torch.rand(3).tolist() == wanted


def test_what_is_no_detector(bert: str, detector: str, tmp_path: Path) -> None:
    saved, file = torch.load(detector), tmp_path / "other.ckpt"

    def refused(message: str) -> None:
        with pytest.raises(DataError, match=message) as caught:
            scored(f"spider-fl(errors={file})")
        assert "\n" not in str(caught.value)

    refused("other.ckpt: no such file, and no detector of errors is called so; give a file .* echecker_clotho_audioca")
    file.write_text("nonsense")
    refused(r"no detector of errors could be loaded \(.*\); accepted are files of torch.save with model_type, num_")
    torch.save({**saved, "num_classes": 2}, file)
    refused("is no detector of 6 kinds of errors; accepted are")
    torch.save({**saved, "state_dict": {}}, file)
    refused(r"its weights are not those of .*tiny-bert\d* and a classifier \(")
    torch.save({**saved, "model_type": str(tmp_path)}, file)
    refused("no model of texts could be loaded")


def test_a_released_detector_is_fetched_once(detector: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = Path(detector).read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fluency_errors, "RELEASED", {"tiny": hashlib.sha256(content).hexdigest()})
    asked: list[str] = []

    def opened(url: str, method: str = "GET", **_: str) -> Any:
        asked.append(f"{method} {url.rpartition('/')[2]}")
        answer = addinfourl(io.BytesIO(content), Message(), url, 200)
        answer.headers["Content-Length"] = str(len(content))
        return answer

    monkeypatch.setattr("sacrecap.data.download.opened", opened)
    [metric] = parse_metrics("spider-fl(errors=tiny)")
    status = metric.status(Needs())
    assert status.why.startswith("it needs the detector of errors tiny, which is not on this machine: name the metric ")
    assert status.hindrance is None
    assert asked == []
    first = scored("spider-fl(errors=tiny)")
    assert np.array_equal(scored("spider-fl(errors=tiny)"), first)
    assert asked == ["HEAD tiny.ckpt", "GET tiny.ckpt"]
    np.testing.assert_array_equal(first, scored(f"spider-fl(errors={detector})"))
    (tmp_path / "sacrecap" / "detectors" / "tiny.ckpt").unlink()
    monkeypatch.setattr(fluency_errors, "RELEASED", {"tiny": "0" * 64})
    with pytest.raises(DataError, match="is not the published file .* give the right tiny.ckpt by its path, errors=FI"):
        scored("spider-fl(errors=tiny)")
