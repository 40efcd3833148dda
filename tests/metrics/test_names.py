"""Names of metrics in the spellings that people and papers use, and lists of them."""

from __future__ import annotations

from itertools import permutations

import pytest

import sacrecap
from sacrecap.errors import UsageError
from sacrecap.metrics import METRICS, Bleu, CiderD, CiderPaper, Meteor, Metric, RefClipScore, RougeL, Spice, registry
from sacrecap.metrics.registry import ALIASES, canonical, folded, groups, own_metrics, parse_metrics


@pytest.fixture(autouse=True)
def nothing_stays_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_ADDED", dict(registry._ADDED))


def registered(name: str) -> Metric:
    """A metric of another package."""
    return sacrecap.metric(name=name)(_as_long)()


def _as_long(candidate: str, references: list[str]) -> float:
    """A caption is as long as the first reference."""
    return float(len(candidate) == len(references[0]))


@pytest.mark.parametrize("metric", own_metrics(), ids=lambda metric: metric.name)
def test_case_hyphens_underscores_and_blanks_do_not_count(metric: Metric) -> None:
    name = metric.name
    joined = {name.replace("-", sign) for sign in ("_", "", " ")}
    for spelling in {*joined, name.upper(), name.title(), metric.label.partition("(")[0]}:
        assert parse_metrics(spelling) == (metric,)
        assert parse_metrics(f"{spelling}()") == (metric,)
        assert parse_metrics(f" {spelling} , spice {spelling}") == tuple(dict.fromkeys((metric, Spice())))
        assert canonical(spelling) == name


def test_groups_are_folded_as_metrics_are() -> None:
    for name, members in groups().items():
        found = parse_metrics(name.upper())
        assert found == parse_metrics(f"{name[0]}_{name[1:]}")
        assert tuple(metric.name for metric in found) == members


def test_cider_is_what_everybody_means() -> None:
    for spelling in ("cider", "CIDEr", "CIDER", "c-i-d-e-r", "ciderd", "CIDEr_D", "cider d"):
        assert parse_metrics(spelling) == (CiderD(),)
        assert canonical(f"{spelling}(sigma=5)") == "cider-d(sigma=5)"
    assert parse_metrics("cider(sigma=5) ciderd (sigma=5)") == (CiderD(sigma=5),)
    assert parse_metrics("cider-paper, CIDEr paper, ciderpaper") == (CiderPaper(),)


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("bleu-4 cider-d", (Bleu(n=4), CiderD())),
        ("bleu-4, cider-d", (Bleu(n=4), CiderD())),
        ("  bleu-4\n cider-d\t", (Bleu(n=4), CiderD())),
        ("ROUGE L", (RougeL(),)),
        ("Bleu 4 ROUGE L meteor", (Bleu(n=4), RougeL(), Meteor())),
        ("CIDEr D (sigma=5) ROUGE L", (CiderD(sigma=5), RougeL())),
        ("cider-d(n=2, sigma=5) bleu4(k=2)", (CiderD(n=2, sigma=5), Bleu(n=4, k=2))),
        ("combine(bleu4 ROUGE L, cider(sigma=5))", (sacrecap.metrics.Combine(Bleu(n=4), RougeL(), CiderD(sigma=5)),)),
        ('RefCLIPScore(model="my, model (2)") spice', (RefClipScore(model="my, model (2)"), Spice())),
    ],
)
def test_blanks_separate_names_and_are_parts_of_names(text: str, metrics: tuple[Metric, ...]) -> None:
    assert parse_metrics(text) == metrics


def test_no_name_is_made_of_others() -> None:
    """So a blank between own names has one meaning."""
    known = {folded(name) for name in (*METRICS, *groups(), *ALIASES, "combine")}
    assert len(known) == len(METRICS) + len(groups()) + len(ALIASES) + 1
    assert not {one + other for one, other in permutations(known, 2)} & known


def test_an_exact_name_wins_over_a_folded_one() -> None:
    theirs = registered("bleu4")
    assert parse_metrics("bleu4") == parse_metrics("BLEU4") == (theirs,)
    assert parse_metrics("bleu-4") == parse_metrics("BLEU-4") == (Bleu(n=4),)
    for spelling in ("Bleu_4", "bleu 4", "b-leu4"):
        with pytest.raises(UsageError, match=f"'{spelling}' may be 'bleu-4' or 'bleu4'; write the name of one"):
            parse_metrics(spelling)


def test_where_a_blank_can_separate_it_does() -> None:
    theirs = registered("ref")
    assert parse_metrics("ref clipscore") == (theirs, sacrecap.metrics.ClipScore())
    assert parse_metrics("refclipscore") == (RefClipScore(),)


def test_an_alias_is_no_name_for_a_metric_or_group_of_others() -> None:
    with pytest.raises(UsageError, match="there is a metric or group of that name already"):
        registered("cider")
    with pytest.raises(UsageError, match="group 'cider' is sacrecap's own"):
        sacrecap.metric(name="as-long", groups=["cider"])(_as_long)


def test_text_that_names_no_metric_stays_as_it_is() -> None:
    for text in ("cidre", "No Such (x=1)", "", "(x)"):
        assert canonical(text) == text
