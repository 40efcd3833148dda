"""What was given and is not scored: counted by its reason, for every way in which captions come."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from sacrecap import Corpus
from sacrecap._core import Captions
from sacrecap.corpus.sets import encode_sets

REFERENCES = {"1": ["a dog runs", " "], "2": ["a red bus"], "3": ["two men"], "4": ["a cat"]}
CANDIDATES = {"1": "a dog", "2": "a bus", "4": "a cat"}
LEFT_OUT = {"no candidate": 1, "blank reference": 1}
pytestmark = pytest.mark.filterwarnings("ignore::sacrecap.errors.DataWarning")


def counts(corpus: Corpus) -> tuple[dict[str, int], int, str]:
    """What a corpus knows of what was left out."""
    return dict(corpus.left_out), corpus.images_left_out, corpus.missing


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("interval", [None, 0.95])
def test_of_every_engine(engine: Any, interval: float | None) -> None:
    """Images without candidate and blank references are counted, with rows and without."""
    result = sacrecap.score(
        REFERENCES, CANDIDATES, "bleu-1", on_missing="skip", engine=engine, interval=interval, samples=10
    )
    assert counts(result.corpus) == (LEFT_OUT, 1, "skip")
    assert counts(pickle.loads(pickle.dumps(result)).corpus) == (LEFT_OUT, 1, "skip")
    filled = sacrecap.score(REFERENCES, CANDIDATES, "bleu-1", on_missing="zero", engine=engine, interval=None)
    assert counts(filled.corpus) == ({"blank reference": 1}, 0, "zero")


def test_nothing_is_left_out() -> None:
    """Of captions that are all scored nothing is said."""
    whole = {image: ["a dog"] for image in CANDIDATES}
    for on_missing in ("error", "skip", "zero"):
        assert counts(Corpus(whole, CANDIDATES, on_missing=on_missing)) == ({}, 0, "")  # type: ignore[arg-type]


def test_of_several_systems() -> None:
    """An image that one of two systems lacks is left out of both."""
    systems = {"a": CANDIDATES, "b": {"1": "x", "2": "y", "3": "z"}}
    for corpus in Corpus.of_systems(REFERENCES, systems, on_missing="skip").values():
        assert counts(corpus) == ({"no candidate": 2, "blank reference": 1}, 2, "skip")
    systems["b"].pop("3")
    for corpus in Corpus.of_systems(None, systems, on_missing="skip").values():
        assert counts(corpus) == ({"no candidate": 1}, 1, "skip")


def test_of_caption_sets() -> None:
    """Images of references, and of other systems, of which a system has no set."""
    sets = {"a": {"1": ["a"], "2": ["b"]}, "b": {"1": ["a"], "2": ["b"], "3": ["c"]}}
    for corpus in encode_sets(sets, REFERENCES, on_missing="skip").values():
        assert counts(corpus) == ({"no candidate": 2, "blank reference": 1}, 2, "skip")
    with pytest.warns(sacrecap.SacrecapWarning, match="3 of its 4 images"):
        [corpus] = encode_sets({"a": {"1": ["a"]}}, REFERENCES).values()
    assert counts(corpus) == ({"no candidate": 3, "blank reference": 1}, 3, "skip")
    corpora = encode_sets(sets, None, on_missing="zero")
    assert [counts(corpora[name]) for name in "ab"] == [({}, 0, "zero"), ({}, 0, "")]


def test_of_rows_of_a_pipeline() -> None:
    """Rows that cannot be scored are left out; sums over batches have all."""
    scorer = sacrecap.Scorer("bleu-1", on_bad_row="null")
    batch = {"caption": ["a dog", "a bus", "x"], "references": [["a dog", ""], ["a bus"], []]}
    for collected in (scorer.rows(batch) + scorer.rows(batch), scorer.statistics(batch) + scorer.statistics(batch)):
        assert collected.bad_rows == 2
        result = collected.score(interval=None) if isinstance(collected, sacrecap.Rows) else collected.result()
        assert counts(result.corpus) == ({"bad row": 2, "blank reference": 2}, 2, "")


def test_excluded_by_the_data_set(tmp_path: Path) -> None:
    """Captions that VizWiz marks as rejected are counted, read whole and piece by piece."""
    rows = "image_id,caption,references,is_rejected\n1,a dog,a dog runs,0\n2,a bus,a red bus,0\n3,spam,a cat,1\n"
    (tmp_path / "rows.csv").write_text(rows)
    for engine in ("local", "stream"):
        result = sacrecap.score(tmp_path / "rows.csv", metrics="bleu-1", engine=engine, interval=None)  # type: ignore[arg-type]
        assert result.images == 2
        assert result.corpus.left_out["excluded annotation"] == 1


def test_captions_keep_what_was_left_out() -> None:
    """Of what is made of captions, the source and what was left out are the same."""
    captions = Captions.from_dict({"1": ["a", ""], "2": ["b"]}).named("x.json").without_empty()[0]
    captions = captions.leaving_out("extra candidate", 2).leaving_out("extra candidate", 1)
    made = [
        captions,
        captions.with_texts({"1": "c"}),
        captions.select([0]),
        captions.aligned(["7"], [1]),
        captions.named("x.json"),
        captions.without_empty()[0],
        pickle.loads(pickle.dumps(captions)),
    ]
    for own in made:
        assert (own.source, own.left_out) == ("x.json", {"blank reference": 1, "extra candidate": 3})
    assert captions.leaving_out("no candidate", 0).left_out == captions.left_out
