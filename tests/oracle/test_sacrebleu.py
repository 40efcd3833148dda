"""BLEU's smoothings equal sacreBLEU's of the same names.

`bleu-n(smoothing=s, k=k)` is `BLEU(smooth_method=s, smooth_value=k, max_ngram_order=n, effective_order=False)` over
100, on tokens as they are, apart from two points: sacreBLEU stops with 0 where no n-gram of any order matches, whatever
the smoothing; and it has no rule for a corpus of one image, so images are compared within larger corpora.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from corpora import Pairs, pairs
from sacrecap.metrics import Bleu


def rectangle(references: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """One stream of references beside another, as sacreBLEU takes them; repeating a reference changes nothing."""
    most = max(map(len, references))
    return list(zip(*(sentences + sentences[-1:] * (most - len(sentences)) for sentences in references), strict=True))


def shares_a_word(candidate: str, references: tuple[str, ...]) -> bool:
    return any(set(candidate.split()) & set(reference.split()) for reference in references)


@pytest.mark.parametrize("smoothing", ["none", "floor", "add-k", "exp"])
@given(corpus=pairs(shortest=1, least=2), k=st.sampled_from([0.1, 0.5, 1.0, 2.0]))
def test_smoothings(smoothing: str, corpus: Pairs, k: float) -> None:
    value = k if smoothing in ("floor", "add-k") else None
    shared = [shares_a_word(*pair) for pair in zip(corpus.candidates, corpus.references, strict=True)]
    for n in (1, 2, 3, 4):
        theirs = BLEU(tokenize="none", smooth_method=smoothing, smooth_value=value, max_ngram_order=n, force=True)
        mine = next(iter(corpus.score(Bleu(n=n, smoothing=smoothing, k=k)).values()))
        if any(shared):
            whole = theirs.corpus_score(corpus.candidates, rectangle(corpus.references)).score
            assert mine.value == pytest.approx(whole / 100, rel=1e-9)
        for number, compared in enumerate(shared):
            if compared:
                one = theirs.sentence_score(corpus.candidates[number], corpus.references[number]).score
                assert mine.per_image[number] == pytest.approx(one / 100, rel=1e-9)
