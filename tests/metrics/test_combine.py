"""Combinations: the weighted mean of the members' scores; text that names them; errors of theirs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import Pairs, pairs
from laws.registered import SCORABLE
from sacrecap import example
from sacrecap.errors import UsageError
from sacrecap.metrics import (
    Bleu,
    CiderD,
    CiderPaper,
    Combine,
    Fluency,
    Meteor,
    Metric,
    RougeL,
    Status,
    Vifidel,
    Wmd,
    registry,
)
from sacrecap.metrics.declared import parameter, spell
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs

weights = st.floats(1e-6, 1e6) | st.integers(1, 9)


@st.composite
def combinations(draw: st.DrawFn, *, nested: bool = True) -> Combine:
    simple = st.sampled_from([*SCORABLE, CiderD(sigma=5), Fluency(n=2, own=True)])
    member: st.SearchStrategy[Metric] = simple | combinations(nested=False) if nested else simple
    members = draw(st.lists(member, min_size=2, max_size=4))
    given_weights = draw(st.none() | st.tuples(*[weights] * len(members)))
    return Combine(*members, weights=given_weights)


@given(combined=combinations())
def test_the_printed_text_parses_back(combined: Combine) -> None:
    for text in (combined.key, str(combined), combined.label, f" {combined.key} , {combined}"):
        [parsed] = parse_metrics(text)
        assert parsed == combined
        assert hash(parsed) == hash(combined)
        assert parsed.key == combined.key


@given(corpus=pairs(), combined=combinations(nested=False))
def test_scores_are_the_weighted_means_of_the_members(corpus: Pairs, combined: Combine) -> None:
    scores = corpus.score([combined, *combined.members])
    mine, members = scores[combined.key], [scores[member.key] for member in combined.members]
    total = sum(combined.weights)
    turned = [combined.lower_is_better != member.metric.lower_is_better for member in members]
    pairs_ = [(-w if turn else w, m) for w, m, turn in zip(combined.weights, members, turned, strict=True)]
    assert mine.value == pytest.approx(sum(w * m.value for w, m in pairs_) / total, rel=1e-12, nan_ok=True)
    # An image that a member does not score has no score.
    assert mine.per_image == pytest.approx(sum(w * m.per_image for w, m in pairs_) / total, rel=1e-12, nan_ok=True)


def test_the_interval_is_over_the_same_draws_of_images() -> None:
    """The mean of two metrics over captions is a mean over captions: its bootstrap can be made by hand."""
    texts = ("combine(rouge-l, 3*cider-d)", "rouge-l", "cider-d")
    result = sacrecap.score(example.references_path(), example.system_path("plain"), texts, samples=400)
    combined, *members = result.values()
    assert combined.interval is not None
    assert combined.interval[0] < combined.value < combined.interval[1]
    draws = np.random.default_rng(1).integers(0, len(result.image_ids), (4000, len(result.image_ids)))
    by_hand = ((members[0].per_image + 3 * members[1].per_image) / 4)[draws].mean(axis=1)
    assert combined.interval == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])), rel=0.02)


def test_a_combination_declares_what_its_members_need() -> None:
    combined = Combine(RougeL(), Meteor(), CiderD(), weights=(1, 1, 2))
    assert combined.needs == RougeL.needs == ("references",)
    assert combined.upper == (1 + 1 + 2 * 10) / 4
    assert combined.uses_document_frequency
    assert not combined.trained_on_references
    assert combined.equation.startswith("Combine = (2*CIDEr-D + METEOR + ROUGE-L) / 4;  CIDEr-D = ")
    assert combined.source.startswith("Madhyastha et al., ACL 2019; Vedantam et al., ")
    assert combined.source.count("COCO caption evaluation") == 1
    with_objects = Combine(RougeL(), Vifidel())
    assert with_objects.needs == ("references", *(need for need in Vifidel.needs if need != "references"))
    assert with_objects.status(Needs()) == Vifidel().status(Needs())
    assert with_objects.status(Needs()).kind == "left out"
    assert combined.nothing["ROUGE-L, empty caption"] == RougeL.nothing["empty caption"]


def test_a_status_hinders_a_call_unless_the_metric_is_only_costly() -> None:
    assert Status.left_out(None) == Status()
    assert Status().hindrance is None
    assert Status.left_out("a large download", costly=True).hindrance is None
    assert Status.left_out("no objects").hindrance == "no objects"
    assert Status("not installed", "no tables").hindrance == "no tables"


def test_the_member_that_hinders_most_is_the_status_of_a_combination(monkeypatch: pytest.MonkeyPatch) -> None:
    costly, lacking = Status.left_out("a large download", costly=True), Status.left_out("no objects")
    monkeypatch.setattr(Wmd, "status", lambda *_: costly)
    monkeypatch.setattr(Fluency, "status", lambda *_: lacking)
    for members, status in (((RougeL(), Wmd()), costly), ((Wmd(), RougeL(), Fluency()), lacking)):
        assert Combine(*members).status(Needs()) == status
    assert Combine(RougeL(), CiderD()).status(Needs()) == Status()


def test_the_signature_holds_members_and_weights() -> None:
    corpus = Pairs(("a b", "c"), (("a b",), ("c", "d")))
    [score] = corpus.score("combine(fluency(n=2), 2.5*cider-d)").values()
    assert re.fullmatch(
        r"combine\(2\.5\*cider-d,fluency\(n=2\)\)\|images:2/2\|refs:1-2@[0-9a-f]{8}\|caps:[0-9a-f]{8}\|df:corpus\(2\)\|"
        r"lm:references\(2\)\|tok:none\|sacrecap:.*",
        score.signature,
    )


def test_document_frequencies_are_checked_for_each_member() -> None:
    corpus = Pairs(("a b", "c"), (("a b",), ("c", "d")))
    with pytest.raises(UsageError, match=r"^cider-paper needs document frequencies of stems"):
        corpus.score("combine(cider-d, cider-paper)", document_frequency=corpus.frequencies())


def test_alignments_are_there_when_a_member_is_meteor() -> None:
    references, candidates = example.references_path(), example.system_path("plain")
    result = sacrecap.score(references, candidates, "combine(meteor, bleu-1)", interval=None)
    assert "alignment" in result.explains
    assert result.alignment(result.image_ids[0]) is not None


def test_equal_weights_are_no_weights() -> None:
    plain = Combine(RougeL(), CiderD())
    assert Combine(RougeL(), CiderD(), weights=(2, 2)) == plain
    assert plain.key == "combine(cider-d, rouge-l)"
    assert Combine(RougeL(), CiderD(), weights=(1, 2)).key == "combine(2*cider-d, rouge-l)"
    assert Combine(CiderD(), RougeL(), weights=(2, 1)) == Combine(RougeL(), CiderD(), weights=(1, 2))


def test_a_group_stands_for_its_members() -> None:
    [combined] = parse_metrics("combine(coco, fluency)")
    assert isinstance(combined, Combine)
    assert combined.members == tuple(sorted((*parse_metrics("coco"), Fluency()), key=lambda member: member.key))
    doubled = Combine(*parse_metrics("coco"), Fluency(), weights=(*(2,) * 7, 1))
    assert parse_metrics("combine(2*coco, fluency)") == (doubled,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("combine", "Combine: members must be two metrics or more, as in combine(fluency, cider-d)"),
        ("combine()", "Combine: members must be two metrics or more, as in combine(fluency, cider-d)"),
        ("combine(bleu-4)", "Combine: members must be two metrics or more, as in combine(fluency, cider-d)"),
        ("combine(bleu-4, cider-d, weights=1:2)", "weights=1:2 is not of the form weight*name, as in 0.5*rouge-l"),
        ("combine(bleu-4, 0*cider-d)", "combine(bleu-4, 0*cider-d): a weight is a number above 0, got 0"),
        ("combine(bleu-4, -2*cider-d)", "a weight is a number above 0, got -2"),
        ("combine(bleu-4, 1e999*cider-d)", "a weight is a number above 0, got inf"),
        ("combine(bleu-4, 0..5@100*cider-d)", "a weight is a number above 0, got 0..5@100"),
        ("combine(bleu-4, nan*cider-d)", "nan*cider-d is not of the form weight*name"),
        ("combine(bleu-4, 2*)", "2* is not of the form weight*name"),
        ("combine(1e308*bleu-4, 1e308*cider-d)", "weights must have a finite sum, got 1e+308, 1e+308"),
        ("combine(2*bleu-4 rouge-l, cider-d)", "2*bleu-4 rouge-l: a weight belongs to one name; put commas between"),
        ("bleu-4 + 2*cider-d", "a weighted sum of metrics is written combine(cider-d, 0.5*rouge-l)"),
        ("2*cider-d", "a weighted sum of metrics is written combine(cider-d, 0.5*rouge-l)"),
        ("combine(bleu-4, cidr-d)", "unknown metric 'cidr-d' (did you mean 'cider-d'?)"),
        ("combine(bleu-4, cider-d(sigma=0))", "CIDEr-D: sigma must be a number above 0, got 0"),
        ("combin(bleu-4, cider-d)", "(did you mean 'combine'?)"),
        ("combine(bleu-4, cider-d(n=2)", "'cider-d(n=2' (did you mean 'cider-d'?); its parentheses do not match"),
        ("bleu-4), cider-d", "unknown metric 'bleu-4)' (did you mean"),
        ("combine(bleu-4, cider-d))", "'cider-d)' (did you mean 'cider-d'?); its parentheses do not match"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_metrics(text)
    assert message in str(caught.value)


def test_weights_are_numbers_one_for_each_member() -> None:
    with pytest.raises(UsageError, match="^Combine: 2 members have 2 weights, got 1$"):
        Combine(RougeL(), CiderD(), weights=(1,))
    for weight in (0, -1.0, True, "2", float("nan")):
        with pytest.raises(UsageError, match="^Combine: a weight is a number above 0, got "):
            Combine(RougeL(), CiderD(), weights=(1, weight))  # type: ignore[arg-type]


def test_members_are_metrics() -> None:
    with pytest.raises(UsageError, match=r"members must be metrics, as sacrecap.metrics.CiderD\(\), got 'cider-d'"):
        Combine(RougeL(), "cider-d")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        Combine(RougeL(), CiderD()).weights = (1, 2)  # type: ignore[misc]


class Reader(Metric):
    """A metric with a parameter of any text that is not blank."""

    path: str = parameter("a file", default="none")

    title = "Reader"


@given(
    path=st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip)
    | st.sampled_from(["~/my vectors (v2), final.txt", "a=b"])
)
def test_a_path_as_parameter_survives(path: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry._ADDED, "reader", registry.AddedMetric(Reader(), (), "a test"))
        reader = Reader(path=path)
        assert parse_metrics(f"reader(path={spell(path)})") == (reader,)
        combined = Combine(reader, CiderPaper(), Bleu(n=1), weights=(1, 2, 3))
        assert parse_metrics(f"bleu-1, {combined.key}, cider-paper") == (Bleu(n=1), combined, CiderPaper())
    assert spell("../data/glove.6B 50d.txt") == "../data/glove.6B 50d.txt"


def test_the_largest_score_follows_the_members_parameters() -> None:
    assert Combine(CiderPaper(scale=1), RougeL()).largest == 1
    assert Combine(CiderPaper(), RougeL(), weights=(1, 3)).largest == pytest.approx(13 / 4)
    assert Combine(Wmd(similarity=False), RougeL()).largest == 0.5
    assert Combine(Wmd(similarity=False), RougeL()).smallest is None


def test_members_whose_low_scores_are_better_are_subtracted_as_in_a_reward() -> None:
    scores = {"image_id": [], "system": [], "errors": [], "calls": []}
    for name, captions in example.systems().items():
        for place, image in enumerate(captions):
            for key, value in (("image_id", image), ("system", name), ("errors", place % 5), ("calls", place % 3)):
                scores[key].append(value)
    errors, calls = "errors(better=lower)", "calls(better=lower)"
    mixed, alike = f"combine(rouge-l, 0.5*{errors})", f"combine({errors}, {calls})"
    systems = example.systems()
    found = sacrecap.compare(
        example.references(), systems, f"rouge-l, {errors}, {calls}, {mixed}, {alike}", scores=scores, samples=50
    )
    for result in found.values():
        rouge, wrong, asked, both, none = result.values()
        assert both.value == pytest.approx((rouge.value - 0.5 * wrong.value) / 1.5)
        assert both.per_image == pytest.approx((rouge.per_image - 0.5 * wrong.per_image) / 1.5)
        assert none.value == pytest.approx((wrong.value + asked.value) / 2)
        assert (both.metric.lower_is_better, none.metric.lower_is_better) == (False, True)
        assert both.interval is not None
        assert both.interval[0] < both.value < both.interval[1]
    bounded = "combine(rouge-l, 3*errors(better=lower, range=0..4))"
    [metric] = sacrecap.compare(example.references(), systems, bounded, scores=scores)["plain"].values()
    assert (metric.metric.smallest, metric.metric.largest) == (-3.0, 0.25)
    assert metric.metric.equation.startswith("Combine = (− 3*errors(better=lower, range=0..4) + ROUGE-L) / 4;")
