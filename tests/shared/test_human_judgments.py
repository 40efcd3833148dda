"""Published figures on the released judgments, reproduced to the digits given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacrecap.judgments import agreement, read_judgments

EXPERT = {
    "bleu-1": (0.3237, 0.3235, 0.4039, 0.4656),
    "bleu-2": (0.3237, 0.3251, 0.4062, 0.4569),
    "bleu-3": (0.3134, 0.3148, 0.3950, 0.3638),
    "bleu-4": (0.3063, 0.3076, 0.3866, 0.2013),
    "rouge-l": (0.3214, 0.3231, 0.4043, 0.4677),
    "meteor": (0.4154, 0.4182, 0.5187, 0.5595),
    "cider-d": (0.4360, 0.4389, 0.5425, 0.5568),
}
"""Kendall τ-b and τ-c, Spearman, Pearson; scores that rounding alone tells apart tie."""

PASCAL = {
    "bleu-1": (0.948, 0.923),
    "bleu-2": (0.947, 0.899),
    "bleu-3": (0.938, 0.875),
    "bleu-4": (0.936, 0.848),
    "rouge-l": (0.959, 0.917),
    "cider-d": (0.986, 0.903),
    "meteor": (0.975, 0.932),
}
"""HI and HM, with the document frequencies of all 4,000 pairs, of which 2,000 are at hand."""

ABSTRACT = {
    48: {
        "bleu-1": (0.5183, 0.9239, 0.7242),
        "bleu-2": (0.6178, 0.9289, 0.7758),
        "bleu-3": (0.6283, 0.9137, 0.7732),
        "bleu-4": (0.6283, 0.9036, 0.7680),
        "rouge-l": (0.6178, 0.9188, 0.7706),
        "cider-d": (0.7068, 0.9391, 0.8247),
        "meteor": (0.6963, 0.9442, 0.8222),
    },
    5: {
        "bleu-1": (0.5969, 0.8782, 0.7397),
        "bleu-2": (0.6073, 0.8528, 0.7320),
        "bleu-3": (0.5916, 0.8376, 0.7165),
        "bleu-4": (0.5812, 0.8223, 0.7036),
        "rouge-l": (0.6335, 0.8376, 0.7371),
        "cider-d": (0.6702, 0.9137, 0.7938),
        "meteor": (0.6335, 0.8934, 0.7655),
    },
}
"""HC, HI and all, by number of references."""


def test_flickr8k_expert(shared: Path) -> None:
    found = agreement(shared / "data/flickr8k", interval=None)
    assert (found.judgments.dataset, len(found.judgments.rows), found.n) == ("flickr8k-expert", 5664, 16992)
    for measured in found.measured:
        values = [measured.statistics[name].value for name in ("kendall_b", "kendall_c", "spearman", "pearson")]
        assert values == pytest.approx(EXPERT[measured.name], abs=5.1e-5), measured.name
    assert {measured.name for measured in found.measured} == set(EXPERT)


def test_pascal50s(shared: Path) -> None:
    pascal = agreement(shared / "data/pascal50s", list(PASCAL), interval=None)
    measured = {one.name: one.statistics for one in pascal.measured}
    for name, wanted in PASCAL.items():
        assert [measured[name][kind].value for kind in ("HI", "HM")] == pytest.approx(wanted, abs=0.0031), name


def test_pascal50s_with_the_released_references(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a test set; the figures are those of another implementation, with ties as half."""
    monkeypatch.setenv("SACRECAP_TEST_SETS", str(tmp_path))
    (tmp_path / "pascal50S.mat").symlink_to(shared / "data/pascal50s/pascal50S.mat")
    judged = read_judgments(shared / "data/pascal50s", captions="pascal-50s")
    assert {len(row.references) for row in judged.rows} == {50}
    [found] = agreement(judged, "cider-paper", references=[48], ties="half", interval=None).measured
    values = [found.statistics[kind].value for kind in ("HC", "HI", "HM", "MM")]
    assert values == pytest.approx([0.707, 0.997, 0.910, 0.720], abs=0.0011)


@pytest.mark.parametrize("file", ["", pytest.param("consensus_abstract.mat", marks=pytest.mark.soak)])
def test_abstract50s(shared: Path, file: str) -> None:
    found = agreement(shared / "data/abstract50s" / file, references=sorted(ABSTRACT), interval=None)
    assert found.n == 388
    for measured in found.measured:
        wanted = ABSTRACT[measured.references or 0][measured.name]
        values = [measured.statistics[name].value for name in ("HC", "HI", "all")]
        assert values == pytest.approx(wanted, abs=5.1e-5), (measured.name, measured.references)


def test_every_release_at_hand_is_read(shared: Path) -> None:
    formats, tokens = shared / "data/formats", shared / "data/flickr8k/Flickr8k.token.txt"
    crowd = read_judgments(formats / "CrowdFlowerAnnotations-head.txt", captions=tokens)
    assert (crowd.dataset, len(crowd.rows)) == ("flickr8k-cf", 200)
    assert read_judgments(formats / "thumb.jsonl").dataset == "thumb"
    composite = read_judgments(formats / "composite.jsonl", drop_own_reference=True)
    assert (composite.dataset, len(composite.rows)) == ("ratings", 30)
    assert {len(row.references) for row in composite.rows} == {4, 5}
    references = {row.image_id: list(row.references) for row in read_judgments(shared / "data/pascal50s").rows}
    pascal = read_judgments(formats / "pair_pascal_head.mat", captions=_file(references))
    assert (pascal.dataset, len(pascal.rows)) == ("pascal-50s", 60)


def _file(references: dict[str, list[str]]) -> Path:
    import json
    import tempfile

    path = Path(tempfile.mkdtemp()) / "references.json"
    path.write_text(json.dumps(references), encoding="utf-8")
    return path


@pytest.mark.soak
def test_a_thousand_samples_of_17_000_ratings_are_seconds_not_minutes(shared: Path) -> None:
    found = agreement(shared / "data/flickr8k", "bleu-1, cider-d", samples=1000)
    [first, second] = found.measured
    assert all(
        np.isfinite(estimate.samples).all() for estimate in (*first.statistics.values(), *second.statistics.values())
    )
    low, high = second.statistics["kendall_c"].interval(0.95) or (0, 0)
    assert low < 0.4389 < high
    assert first.statistics["kendall_c"].interval(0.95) is not None
