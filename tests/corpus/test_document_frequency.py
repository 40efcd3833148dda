"""Document frequencies: counting, files, merging, and their use in scoring."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import WORDS, Pairs, pairs, stem
from reference.document_frequency import Frequencies, document_frequencies, word_form
from sacrecap import DocumentFrequency, SacrecapWarning
from sacrecap.errors import DataError, UsageError

references_only = pairs(WORDS[:5], longest=6, most=5)


def assert_counts(df: DocumentFrequency, slow: Frequencies, vocabulary: Sequence[str]) -> None:
    assert df.documents == slow.documents
    assert df.ngrams == len(slow.of)
    assert df.words == len({word for gram in slow.of for word in gram})
    for n in range(5):
        for gram in product(vocabulary, repeat=n):
            assert df.count(gram) == slow.of[gram], gram


@pytest.mark.parametrize("stemmed", [False, True], ids=["forms", "stems"])
@given(corpus=references_only, n=st.integers(1, 4))
def test_counts_equal_the_slow_reference(stemmed: bool, corpus: Pairs, n: int) -> None:
    slow = document_frequencies(corpus.references, n=n, stem=stem if stemmed else word_form)
    df = corpus.frequencies(stem=stemmed, n=n)
    assert_counts(df, slow, sorted({*map(stem, WORDS[:5])} if stemmed else WORDS[:5]))
    assert (df.n, df.stem, df.tokenizer, df.source) == (n, stemmed, "none", "built")


@given(corpus=references_only, threads=st.integers(1, 8))
def test_threads_do_not_matter(corpus: Pairs, threads: int) -> None:
    one = DocumentFrequency.build(corpus.by_id[0], tokenizer="none", threads=1)
    assert one == DocumentFrequency.build(corpus.by_id[0], tokenizer="none", threads=threads)


id_groups = st.lists(st.lists(st.integers(1, 4), max_size=5), min_size=1, max_size=3)


@given(groups=st.lists(id_groups, min_size=1, max_size=4))
def test_counts_over_token_ids_count_the_end_as_a_word(groups: list[list[list[int]]]) -> None:
    padded = [[row + [0] * (7 - len(row)) for row in group] for group in groups]
    strings = [[" ".join(map(str, [*row, 0])) for row in group] for group in groups]
    assert_counts(DocumentFrequency.from_token_ids(padded), document_frequencies(strings), ["0", "1", "2", "3", "4"])


def test_no_document_has_an_ngram_that_was_not_counted() -> None:
    df = DocumentFrequency.build({"1": ["a b c d e"], "2": ["b c d e"]}, tokenizer="none", n=4)
    assert df.count(["b", "c", "d", "e"]) == 2
    assert df.count(["a", "b", "c", "d", "e"]) == 0
    assert df.count(["x"]) == df.count([]) == 0


@given(one=references_only, other=references_only)
def test_merging_is_counting_together_in_either_order(one: Pairs, other: Pairs) -> None:
    together = Pairs(one.candidates + other.candidates, one.references + other.references).frequencies()
    merged = one.frequencies().merge(other.frequencies())
    assert merged == together
    assert merged == other.frequencies().merge(one.frequencies())
    assert merged.source == "built+built"


def test_merging_different_things_is_refused(tmp_path: Path) -> None:
    def build(**changes: object) -> DocumentFrequency:
        return DocumentFrequency.build({"1": ["a dog"]}, **{"tokenizer": "none", **changes})  # type: ignore[arg-type]

    for other, message in [
        (build(n=3), "n-grams up to 4 cannot be added to those up to 3; build both with the same n"),
        (build(tokenizer="whitespace"), r"of tokens \(tokenizer none\) cannot be .* tokens \(tokenizer whitespace\)"),
        (build(stem=True), r"of tokens \(.*\) cannot be .* stems \(tokenizer none\); build both with the same"),
    ]:
        with pytest.raises(UsageError, match=message):
            build().merge(other)


def test_equality() -> None:
    df = DocumentFrequency.build({"1": ["a dog"], "2": ["a cat"]}, tokenizer="none")
    assert df == DocumentFrequency.build({"2": ["a cat"], "1": ["a dog", "dog"]}, tokenizer="none")
    for other in [
        DocumentFrequency.build({"1": ["a dog"], "2": ["a dog"]}, tokenizer="none"),
        DocumentFrequency.build({"1": ["a dog"], "2": ["a cat"], "3": ["dog"]}, tokenizer="none"),
        DocumentFrequency.build({"1": ["a dog"], "2": ["a cat"]}, tokenizer="none", stem=True),
        "a dog",
    ]:
        assert df != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(df)


@given(corpus=references_only)
def test_a_file_holds_everything(corpus: Pairs, tmp_path_factory: pytest.TempPathFactory) -> None:
    df = corpus.frequencies(stem=True, n=3)
    path = tmp_path_factory.mktemp("df") / "here.df"
    df.save(path)
    loaded = DocumentFrequency.load(path)
    assert loaded == df
    assert (loaded.n, loaded.stem, loaded.tokenizer, loaded.source) == (3, True, "none", "here.df")
    assert_counts(loaded, document_frequencies(corpus.references, n=3, stem=stem), WORDS[:3])
    loaded.save(path)  # over the file that is mapped
    assert DocumentFrequency.load(str(path)) == df


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "saved.df"
    DocumentFrequency.build({"1": ["a dog runs"], "2": ["a cat"]}, tokenizer="none").save(path)
    return path


def test_a_damaged_file_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for cut in (0, 5, 20, 63, 64, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:cut])
        with pytest.raises(DataError, match=r"saved\.df: .*(damaged|not a document-frequency file)"):
            DocumentFrequency.load(saved)
    for place in (9, 13, 20, 60, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(DataError, match=r"saved\.df: .*(damaged|format version).*build it again"):
            DocumentFrequency.load(saved)
    saved.write_bytes(whole + b"\0")
    with pytest.raises(DataError, match="damaged"):
        DocumentFrequency.load(saved)


@pytest.mark.parametrize("content", [b"[]", b"PK\x03\x04" + bytes(100), b"\x80\x04}\x94.", "é".encode() * 50])
def test_a_foreign_file_is_refused(saved: Path, content: bytes) -> None:
    saved.write_bytes(content)
    with pytest.raises(DataError, match=r"saved\.df: not a document-frequency file of sacrecap; make one with `sac"):
        DocumentFrequency.load(saved)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.df: no such file"):
        DocumentFrequency.load(tmp_path / "none.df")
    with pytest.raises(DataError, match="is a directory; name a file in it"):
        DocumentFrequency.load(tmp_path)
    with pytest.raises(DataError, match=r"absent.here\.df"):
        DocumentFrequency.build({"1": ["a"]}, tokenizer="none").save(tmp_path / "absent" / "here.df")


@pytest.mark.parametrize("n", [0, 5, -1, 2.0, True, None, "4"])
def test_orders_outside_1_to_4_are_refused(n: object) -> None:
    message = "n must be a whole number from 1 to 4, got"
    with pytest.raises(UsageError, match=message):
        DocumentFrequency.build({"1": ["a"]}, n=n)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        DocumentFrequency.from_token_ids([[[1, 0]]], n=n)  # type: ignore[arg-type]


def test_unusable_references_are_refused() -> None:
    with pytest.raises(DataError, match="the references: no caption in it"):
        DocumentFrequency.build({"1": []})
    with pytest.raises(UsageError, match="tokenizer must be one of ptb"):
        DocumentFrequency.build({"1": ["a"]}, tokenizer="moses")


REFERENCES: Mapping[str, list[str]] = {"1": ["a dog runs fast"], "2": ["a cat sits here"]}


def test_stems_and_forms_are_not_taken_for_each_other(saved: Path) -> None:
    forms = DocumentFrequency.load(saved)
    stems = DocumentFrequency.build(REFERENCES, tokenizer="none", stem=True)
    candidates = {"1": "a dog runs", "2": "a cat"}

    def score(metric: str, df: DocumentFrequency) -> float:
        result = sacrecap.score(REFERENCES, candidates, metric, tokenizer="none", document_frequency=df, interval=None)
        return result[metric].value

    with pytest.raises(UsageError, match=r"cider-paper needs .* of stems, these are of word forms.*stem=True"):
        score("cider-paper", forms)
    with pytest.raises(UsageError, match="cider-d needs document frequencies of word forms, these are of stems"):
        score("cider-d", stems)
    assert score("cider-paper", stems) > 0
    assert score("cider-d", forms) > 0
    assert score("cider-paper(stem=no)", forms) > 0
    assert score("bleu-1", stems) > 0


def test_frequencies_that_do_not_fit_the_metric_or_the_captions(tmp_path: Path) -> None:
    candidates = {"1": "a dog runs", "2": "a cat"}

    def score(metric: str, df: DocumentFrequency) -> float:
        return sacrecap.score(REFERENCES, candidates, metric, document_frequency=df, interval=None)[metric].value

    short = DocumentFrequency.build(REFERENCES, n=2)
    with pytest.raises(UsageError, match=r"n-grams up to 4, these go up to 2; .*n=4\), or ask for cider-d\(n=2\)"):
        score("cider-d", short)
    assert score("cider-d(n=2)", short) > 0
    for longest in (1, 2, 3):
        assert score(f"cider-d(n={longest})", DocumentFrequency.build(REFERENCES, n=longest)) > 0
        with pytest.raises(UsageError, match=f"n-grams up to {longest + 1}, these go up to {longest}; "):
            score(f"cider-d(n={longest + 1})", DocumentFrequency.build(REFERENCES, n=longest))
    with pytest.raises(UsageError, match="cider-d needs document frequencies of words, these are of token ids"):
        score("cider-d", DocumentFrequency.from_token_ids([[[1, 2]]]))
    path = tmp_path / "idxs.p"
    path.write_bytes(pickle.dumps({"document_frequency": {("1",): 2.0, ("1", "23"): 1.0}, "ref_len": 3.0}))
    message = (
        'these are of token ids, for rewards; give document_frequency="coco-train", or a file of sacrecap df build'
    )
    with pytest.raises(UsageError, match=message):
        score("cider-d", DocumentFrequency.import_pickle(path))
    with pytest.warns(SacrecapWarning, match="are of whitespace tokens, the captions are cut by ptb"):
        score("cider-d", DocumentFrequency.build(REFERENCES, tokenizer="whitespace"))
    assert score("cider-d", DocumentFrequency.build(REFERENCES, tokenizer="ptb-stream")) > 0


def test_the_references_themselves_are_the_default() -> None:
    candidates = {"1": "a dog runs", "2": "a cat"}
    own = sacrecap.score(REFERENCES, candidates, "cider-d", interval=None)["cider-d"]
    given_ = DocumentFrequency.build(REFERENCES)
    result = sacrecap.score(REFERENCES, candidates, "cider-d", document_frequency=given_, interval=None)["cider-d"]
    assert result.per_image.tolist() == own.per_image.tolist()
    assert "|df:corpus(2)|" in own.signature
    assert f"|df:{given_.checksum}(2)|" in result.signature


def test_one_image_is_scored_without_a_warning_where_frequencies_are_given(saved: Path) -> None:
    df = DocumentFrequency.load(saved)
    result = sacrecap.score(
        {"1": ["a dog runs"]}, {"1": "a dog runs"}, "cider-d", tokenizer="none", document_frequency=df
    )
    assert result["cider-d"].value == pytest.approx(7.5)
    assert f"|df:{df.checksum}(2)|" in result["cider-d"].signature
    with pytest.warns(SacrecapWarning, match="one image is a corpus in which every n-gram is in every document"):
        sacrecap.score({"1": ["a dog runs"]}, {"1": "a dog runs"}, "cider-d")
