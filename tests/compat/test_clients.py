"""Programs that import pycocoevalcap get the same from sacrecap: both are run on the same captions."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
import subprocess
import threading
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compat import clients
from compat.clients import ORIGINAL, OURS, assert_equal, quietly
from corpora import Pairs, pairs
from oracle.meteor import INSTALLED, PROGRAM, SUITE
from sacrecap import SacrecapWarning

BLANKS = st.sampled_from([" "] * 6 + ["  ", "   ", " \t ", " \n", "\N{NO-BREAK SPACE}"])
ENDS = st.sampled_from(["", "", " ", "  ", "\n"])


@st.composite
def untokenised(draw: st.DrawFn) -> str:
    """Words with one or more blanks between them, and perhaps around them."""
    words = draw(st.lists(st.sampled_from(["A", "a", "dog", "dogs.", "runs", "run,", "it's", "1/2"]), max_size=8))
    return draw(ENDS) + "".join(word + draw(BLANKS) for word in words) + draw(ENDS)


@st.composite
def untokenised_pairs(draw: st.DrawFn) -> Pairs:
    """Two images or more; some candidates are one of their references."""
    groups = st.lists(st.lists(untokenised(), min_size=1, max_size=5).map(tuple), min_size=2, max_size=8)
    references = tuple(draw(groups))
    return Pairs(tuple(draw(untokenised() | st.sampled_from(sentences)) for sentences in references), references)


def both(client: Any, *arguments: Any) -> None:
    with warnings.catch_warnings(), quietly() as printed:
        warnings.simplefilter("ignore", SacrecapWarning)  # one image: every IDF is 0, and the original is silent
        expected = client(ORIGINAL, *arguments)
        told = printed.getvalue()
        printed.truncate(0)
        printed.seek(0)
        found = client(OURS, *arguments)
    assert_equal(found, expected)
    assert without_times(printed.getvalue()) == without_times(told)


def without_times(printed: str) -> str:
    """pycocotools, which programs use beside the suite, prints how long it took."""
    return re.sub(r"\(t=\d+\.\d+s\)", "(t)", printed)


@given(corpus=untokenised_pairs())
def test_vlmevalkit(corpus: Pairs) -> None:
    assume(any(caption.split() for captions in corpus.references for caption in captions))  # else the original fails
    references, candidates = corpus.by_id
    both(clients.vlmevalkit, references, candidates)


@given(corpus=pairs(most=3))
def test_youcook2(corpus: Pairs) -> None:
    assume(all(any(map(str.split, captions)) for captions in corpus.references))
    references, candidates = corpus.by_id
    both(clients.youcook2, references, candidates)


SUBJECTS = ("A man", "Two dogs", "The old lady's cat", "A boy, smiling,", "(People)")
VERBS = ("is riding", "runs along", "sits on", "can't see", "looks at")
OBJECTS = ("a horse.", "the beach", "a T.V. set!", "a red bus - and a car", "the sofa of its owner")


def corpus(images: int, seed: int) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Untokenised captions; the ids are not sorted."""
    draw = random.Random(seed)
    ids = draw.sample(range(1000), images)
    made = [" ".join(draw.choice(part) for part in (SUBJECTS, VERBS, OBJECTS)) for _ in range(6 * images)]
    references = {image: made[6 * k : 6 * k + 5] for k, image in enumerate(ids)}
    return references, {image: made[6 * k + 5] for k, image in enumerate(ids)}


PARAPHRASES = (
    "0.015169446369000002\na red\nis\n"
    "0.010310322785444704\nalong a\nalong the\n"
    "0.053670467341637\nlooks\nis\n"
    "0.022288932022081747\nman\npeople\n"
    "0.013812148350000001\nman is\npeople\n"
    "0.048650679861431935\nruns\nis\n"
    "0.04698057959719724\nsits\nis\n"
)
"""Of METEOR's five million paraphrases those of `corpus(12, seed=1)`: reading all takes the original ten seconds."""


@pytest.fixture
def original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The original without SPICE; one METEOR serves all of it, and no text is tokenised twice."""
    suite, tokenizer = import_module(f"{ORIGINAL}.eval"), import_module(f"{ORIGINAL}.tokenizer.ptbtokenizer")
    monkeypatch.setattr(suite, "Spice", clients.NoSpice)
    table = tmp_path / "paraphrases.gz"
    table.write_bytes(gzip.compress(PARAPHRASES.encode()))
    command = [*PROGRAM, "-", "-", "-stdio", *SUITE, "-a", table]
    with subprocess.Popen(command, cwd=INSTALLED, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        started = object.__new__(suite.Meteor)
        started.lock, started.meteor_p = threading.Lock(), program
        monkeypatch.setattr(suite, "Meteor", lambda: started)
        tokenize, known = tokenizer.PTBTokenizer.tokenize, {}

        def once(self: Any, captions: Any) -> Any:
            text = json.dumps([[image, [one["caption"] for one in some]] for image, some in captions.items()])
            if text not in known:
                known[text] = tokenize(self, captions)
            return copy.deepcopy(known[text])

        monkeypatch.setattr(tokenizer.PTBTokenizer, "tokenize", once)
        yield


@pytest.mark.java
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_programs_that_evaluate_files(original: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAVIS, open_flamingo, mmpretrain and lmms-eval: COCOEvalCap and its scorers on untokenised captions.

    The original leaves its pipes open.
    """
    monkeypatch.setattr(import_module(f"{OURS}.eval"), "Spice", clients.NoSpice)
    references, candidates = corpus(12, seed=1)
    both(clients.lavis, references, candidates)
    some = dict(list(candidates.items())[:7][::-1])
    both(clients.open_flamingo, references, some)
    both(lambda package: clients.mmpretrain(package, tmp_path, references, [*candidates.items(), *some.items()]))
    both(lambda package: clients.lmms_eval(package, references, candidates))
    # METEOR of captions that nothing has tokenised.
    gts = {image: [f" {one.replace(' ', '  ', 1)}\t" for one in captions] for image, captions in references.items()}
    both(clients.meteor, gts, {image: [caption.replace(" ", "   ", 2)] for image, caption in candidates.items()})


def test_what_evaluate_leaves_behind() -> None:
    """Every key of the original, SPICE's numbers too, for each image its own."""
    references, candidates = corpus(8, seed=2)
    with quietly() as printed:
        scores, of_images = clients.lavis(OURS, references, candidates)
    assert list(scores) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr", "SPICE"]
    assert list(of_images) == list(references)
    told = printed.getvalue().splitlines()
    assert told[:3] == ["tokenization...", "setting up scorers...", "computing Bleu score..."]
    assert f"SPICE: {scores['SPICE']:0.3f}" in told
    for image, of_image in of_images.items():
        assert list(of_image) == ["image_id", *scores]
        assert of_image["image_id"] == image
        with quietly():
            _, alone = clients.lavis(OURS, {image: references[image], -1: ["x"]}, {image: candidates[image], -1: "x"})
        assert_equal(alone[image]["SPICE"], of_image["SPICE"])
        spice = of_image["SPICE"]
        assert set(spice) == {"All", "Object", "Attribute", "Relation", "Color", "Cardinality", "Size"}
        assert all(set(numbers) == {"pr", "re", "f", "fn", "fp", "tp", "numImages"} for numbers in spice.values())
        for counted in ("tp", "fp", "fn"):
            parts = sum(spice[part][counted] for part in ("Object", "Attribute", "Relation"))
            assert spice["All"][counted] == parts


# Training: rewards by document frequencies of other references.


@given(corpus=pairs(least=3), data=st.data())
def test_self_critical(corpus: Pairs, data: st.DataObject) -> None:
    """CIDEr-D with the frequencies of the whole, of a part of the images; against the original on the whole."""
    assume(any(map(any, corpus.references)))
    from pycocoevalcap.cider.cider import Cider

    from sacrecap.compat.pyciderevalcap.ciderD.ciderD import CiderD

    some = data.draw(st.lists(st.integers(0, len(corpus.candidates) - 1), min_size=1, max_size=6))
    references, candidates = corpus.by_id
    ids = list(references)
    _, truth = Cider().compute_score(references, {image: [caption] for image, caption in candidates.items()})
    scorer = CiderD()
    for captions in references.values():
        scorer.cider_scorer += (None, captions)
    scorer.cider_scorer.compute_doc_freq()
    scorer.cider_scorer.ref_len = clients.np.log(float(len(scorer.cider_scorer.crefs)))
    scorer.cider_scorer.df_mode = "given"
    score, scores = scorer.compute_score(
        references, [{"image_id": ids[one], "caption": [candidates[ids[one]]]} for one in some]
    )
    assert_equal(scores, truth[some])
    assert_equal(score, truth[some].mean())


def test_rewards_of_samples_and_greedy_captions() -> None:
    """The shape of get_self_critical_reward: several samples of an image, a baseline, BLEU-4 beside CIDEr-D."""
    from pycocoevalcap.bleu.bleu import Bleu as OriginalBleu
    from pycocoevalcap.cider.cider import Cider as OriginalCider

    from sacrecap.compat.pyciderevalcap.ciderD.ciderD import CiderD
    from sacrecap.compat.pycocoevalcap.bleu.bleu import Bleu

    class OnSamples:
        def compute_score(self, gts: Any, res: Any) -> Any:
            return OriginalCider().compute_score(gts, {one["image_id"]: one["caption"] for one in res})

    draw = random.Random(3)

    def caption() -> str:
        return " ".join(str(draw.choice([4, 4, 4, 17, 8, 9, 300])) for _ in range(draw.randrange(3, 9))) + " 0"

    references = [[caption() for _ in range(5)] for _ in range(6)]
    samples = [[caption(), draw.choice(of_image), caption()] for of_image in references]
    greedy = [draw.choice(of_image) for of_image in references]
    with quietly():
        expected = clients.self_critical(OnSamples(), OriginalBleu(4), references, samples, greedy)
        found = clients.self_critical(CiderD(), Bleu(4), references, samples, greedy)
    assert_equal(found, expected)


@pytest.mark.java
def test_tokenizers() -> None:
    """One text of all captions, an image without any, an image named twice in a row."""
    references, _ = corpus(9, seed=5)
    given: dict[Any, Sequence[dict[str, str]]] = {
        image: [{"caption": caption} for caption in captions] for image, captions in references.items()
    }
    given |= {"none": [], ("a", "tuple"): [{"caption": "a box of vitamin c."}], "next": [{"caption": "The dog\nruns."}]}
    found, expected = (
        import_module(f"{package}.tokenizer.ptbtokenizer").PTBTokenizer().tokenize(given)
        for package in (OURS, ORIGINAL)
    )
    assert_equal(found, expected)
