"""CLIPScore against a plain computation by transformers, with real checkpoints of random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from PIL import Image

import sacrecap
from learned.captions import CANDIDATES, REFERENCES

pytestmark = pytest.mark.torch


def plain(folder: str, images: Path, texts: list[str], *, limit: int, padding: Any = True) -> tuple[Any, Any]:
    """Unit vectors of all images, in the captions' order, and of texts, one call each."""
    from transformers import AutoModel, AutoProcessor

    model, processor = AutoModel.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)
    pictures = [Image.open(images / f"{image}.png").convert("RGB") for image in CANDIDATES]
    with torch.inference_mode():
        tokens = processor.tokenizer(texts, padding=padding, truncation=True, max_length=limit, return_tensors="pt")
        tokens = {"input_ids": tokens["input_ids"]} if "siglip" in folder else tokens
        inputs = {**tokens, **processor.image_processor(images=pictures, return_tensors="pt")}
        inputs.pop("token_type_ids", None)
        output = model(**inputs)
    unit = [rows / rows.norm(dim=-1, keepdim=True) for rows in (output.image_embeds, output.text_embeds)]
    return unit[0].double().numpy(), unit[1].double().numpy()


def expected(folder: str, images: Path, *, limit: int = 77, padding: Any = True) -> dict[str, list[float]]:
    """Both scores by the paper's equations; an empty caption has 0, an empty reference is left out."""
    texts = list(dict.fromkeys([*CANDIDATES.values(), *(r for own in REFERENCES.values() for r in own)]))
    said = ["A photo depicts " + text for text in texts]
    pictures, vectors = plain(folder, images, said, limit=limit, padding=padding)
    of = dict(zip(texts, vectors, strict=True))
    scores: dict[str, list[float]] = {"clipscore": [], "refclipscore": []}
    for picture, (image, candidate) in zip(pictures, CANDIDATES.items(), strict=True):
        fit = 2.5 * max(float(of[candidate] @ picture), 0) if candidate else 0.0
        nearest = max((float(of[candidate] @ of[one]) for one in REFERENCES[image] if one), default=0)
        nearest = max(nearest, 0)
        scores["clipscore"].append(fit)
        scores["refclipscore"].append(2 * fit * nearest / (fit + nearest) if fit * nearest else 0.0)
    return scores


@pytest.mark.parametrize("model", ["clip", "siglip"])
def test_scores_are_those_of_a_plain_computation(model: str, images: Path, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(model)
    settings: dict[str, Any] = {"limit": 12, "padding": "max_length"} if model == "siglip" else {}
    wanted = expected(folder, images, **settings)
    assert len({round(score, 3) for score in wanted["clipscore"]}) > 3, "the random weights tell captions apart"
    found = sacrecap.score(
        REFERENCES, CANDIDATES, f"clipscore(model={folder}), refclipscore(model={folder})", images=images, interval=None
    )
    for score, name in zip(found.values(), wanted, strict=True):
        np.testing.assert_allclose(score.per_image, wanted[name], atol=1e-5)
        assert score.value == pytest.approx(np.mean(wanted[name]), abs=1e-5)


def test_w_stretches(clip: str, images: Path) -> None:
    names = [f"clipscore(model={clip})", f"clipscore(model={clip}, w=1)"]
    found = sacrecap.score(REFERENCES, CANDIDATES, names, images=images, interval=None)
    first, second = (score.per_image for score in found.values())
    np.testing.assert_allclose(first, 2.5 * second)
    assert second.max() > 0


def test_a_scorer_finds_images_by_their_column_and_needs_no_references(clip: str, images: Path) -> None:
    name = f"clipscore(model={clip})"
    wanted = sacrecap.score(REFERENCES, CANDIDATES, name, images=images, interval=None)[name].per_image.tolist()
    batch = {
        "image_id": [*CANDIDATES, "absent", *CANDIDATES],
        "caption": [*CANDIDATES.values(), "a dog", *CANDIDATES.values()],
    }
    scorer = sacrecap.Scorer(name, images=images, on_bad_row="null")
    scores = scorer(batch)[name]
    assert scores.pop(len(CANDIDATES)) is None
    np.testing.assert_allclose(scores, wanted * 2, atol=1e-5)
    with pytest.raises(sacrecap.errors.DataError, match="row .* of the batch: .*no file was found for .*absent"):
        sacrecap.Scorer(name, images=images)(batch)


def test_a_scorer_forgets_the_images_and_texts_of_earlier_batches(
    clip: str, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sacrecap.resources import networks

    name = f"clipscore(model={clip})"
    wanted = sacrecap.score(REFERENCES, CANDIDATES, name, images=images, interval=None)[name].per_image.tolist()
    monkeypatch.setattr(networks, "MOST_REMEMBERED", 2)
    scorer = sacrecap.Scorer(name, images=images)
    for _ in range(2):
        scores = []
        for image, caption in CANDIDATES.items():
            scores += scorer({"image_id": [image], "caption": [caption]})[name]
            kept = [own for own in scorer._needs._cache.values() if isinstance(own, dict)]
            assert len(kept) == 2
            assert all(len(own) <= 3 for own in kept)
        np.testing.assert_allclose(scores, wanted, atol=1e-5)
