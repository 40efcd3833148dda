"""The native core: captions are parsed, kept and counted in Rust."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from typing_extensions import Buffer, Self, final

from sacrecap.choices import SceneStatus

__all__ = [
    "CAPTION_FORMATS",
    "CORRELATIONS",
    "LARGEST_TOKEN_ID",
    "METEOR_LANGUAGES",
    "SIMILARITIES",
    "TOKENIZERS",
    "Captions",
    "CaptionsBuilder",
    "Corpus",
    "DocumentFrequency",
    "Embedded",
    "EncodedReferences",
    "Fold",
    "FrequencyCounter",
    "LanguageCounts",
    "LanguageModel",
    "MeteorTables",
    "NamedObjects",
    "ObjectWords",
    "Paragraphs",
    "Parser",
    "References",
    "Reward",
    "RowsOfText",
    "SceneGraphs",
    "Statistics",
    "Synonyms",
    "__version__",
    "bootstrap_intervals",
    "caption_vectors",
    "correlations",
    "correlations_by_image",
    "draws",
    "eigensystem",
    "evaluate",
    "header",
    "image_keys",
    "leave_one_out",
    "look",
    "mixed_keys",
    "names_of_lines",
    "novelty",
    "paired_bootstrap",
    "paired_exact",
    "paired_permutation",
    "seen",
    "seen_in_sample",
    "similarity_matrix",
    "spectral_diversity",
    "tokenize",
    "top",
    "transport",
    "word_counts",
]

__version__: str

CAPTION_FORMATS: list[str]
"""Names of the caption formats that `Captions.parse` reads."""

@final
class Captions:
    """Captions of many images, in the order of their file. Read-only."""

    @staticmethod
    def parse(data: Buffer, format: str | None = None, split: str | None = None) -> Captions:
        """Read the bytes of a caption file; bytes are not copied. A format that is not given is recognised."""

    @staticmethod
    def usual_coco(data: bytes) -> Captions | None:
        """Read COCO's annotations as they usually are; None for any other file, and for one with anything odd."""

    @staticmethod
    def from_dict(captions: Mapping[Any, Any]) -> Captions:
        """Take a mapping from image ids to a caption or annotation, or a list of these."""

    @staticmethod
    def of_arrow(ids: Any, captions: Any) -> Captions:
        """Take two Arrow columns without nulls, one row per image: ids, and texts or lists of texts."""

    @staticmethod
    def of_images(images: Sequence[tuple[str, Sequence[str]]], source: str | None) -> Captions: ...
    def to_dict(self) -> dict[str, list[str]]: ...
    def captions(self, image_id: str | int) -> list[str]: ...
    @property
    def image_ids(self) -> list[str]: ...
    def caption_counts(self) -> list[int]: ...
    def that_are(self, words: Sequence[str]) -> list[str]:
        """The images of the captions that are one of these words, in any case and with blanks around; once for each."""

    def have_bracket(self) -> bool:
        """Whether a caption begins with a bracket, as a list of captions does that was written as text."""

    def named(self, source: str) -> Captions: ...
    @property
    def source(self) -> str | None:
        """Name of their file, for messages; None for captions that were given as a mapping."""

    def problems(self) -> list[tuple[str, str]]:
        """Captions that cannot be scored: the image id, and what is wrong."""

    def __contains__(self, key: str, /) -> bool: ...
    @property
    def image_count(self) -> int: ...
    @property
    def caption_count(self) -> int: ...
    def __len__(self) -> int: ...

@final
class CaptionsBuilder:
    """Collects captions from the columns of a table, batch by batch."""

    def __new__(cls) -> Self: ...
    def extend(self, image_ids: list[object], captions: list[object]) -> None: ...
    def finish(self) -> Captions:
        """All captions; the builder is empty afterwards."""

LARGEST_TOKEN_ID: int
"""The largest token id that the reward takes."""

TOKENIZERS: list[str]
"""Names of the tokenizers."""

def look(data: Buffer) -> tuple[str, list[str]]:
    """How a file, or the beginning of one, is laid out; and the names of its columns, or the keys of its first rows.

    The layouts are `coco`, `karpathy`, `mapping` (an object of texts and lists of texts: a mapping or one row),
    `object`, `list`, `lines` (of JSON), `table`, `flickr` and `text`.
    """

def names_of_lines(data: Buffer) -> list[str]:
    """The keys of the first JSON lines; `doc.id` is `id` in the object `doc`."""

def header(data: Buffer) -> tuple[list[str], str, int] | None:
    """The columns of a text table, its delimiter, and the byte where its rows begin; None without a delimiter."""

@final
class RowsOfText:
    """Rows of a piece of text, in columns that are named. The first column has the image ids."""

    @staticmethod
    def of_lines(data: Buffer, names: list[str], first: int) -> RowsOfText:
        """Rows of JSON lines: texts, lists of texts or null. They are numbered from `first`, blank lines too."""

    @staticmethod
    def of_table(
        data: Buffer, columns: list[str], delimiter: str, names: list[str], first: int, last: bool
    ) -> RowsOfText:
        """Rows of a piece of a text table, without its header; a row that may go on is read in the `last` piece."""

    @property
    def numbers(self) -> bytes:
        """The number of each row: u64, little-endian."""

    @property
    def bad(self) -> list[tuple[int, str | None, str]]:
        """The rows that cannot be used: number, image where that is known, and what is wrong."""

    @property
    def read(self) -> int:
        """How many bytes were read."""

    @property
    def count(self) -> int:
        """How many numbers were given."""

    def values(self, place: int) -> list[Any]:
        """A column: a text, a list of texts, or None for each row."""

    def buffers(self, place: int) -> tuple[bool, list[bytes | None]]:
        """Whether a column has lists, and the buffers of it as an Arrow array of large strings, or large lists of them:
        validity, offsets, and the text; of lists, validity and offsets of their texts before it.
        """

@final
class References:
    """References of chosen images, tokenised and interned once."""

    def __new__(cls, captions: Captions, images: Sequence[int], tokenizer: str, threads: int = 0) -> References:
        """Encode the images with these numbers, in this order."""

    @staticmethod
    def none(captions: Captions, images: Sequence[int], tokenizer: str) -> References:
        """The images with these numbers, without references."""

    @property
    def image_ids(self) -> list[str]: ...
    @property
    def tokenizer(self) -> str: ...
    @property
    def counts(self) -> list[int]: ...
    def __len__(self) -> int: ...

@final
class Corpus:
    """References with the candidates of one system."""

    def __new__(
        cls, references: References, captions: Captions, images: Sequence[int | None], threads: int = 0
    ) -> Corpus:
        """Encode candidates. `images`: for each image of the references its number in `captions`; None: no caption."""

    @property
    def references(self) -> References: ...
    @property
    def rows(self) -> int: ...
    @property
    def vocabulary(self) -> list[str]:
        """Distinct words, in the order of their numbers."""

    @property
    def counts(self) -> list[int]: ...
    def stemmed(self) -> Corpus:
        """The same captions with every word reduced to its stem."""

    def longer_than(self, words: int) -> list[tuple[int, int]]:
        """The number of the image and the tokens of each sentence of more tokens, image by image, references first."""

    def texts(self, image: int) -> tuple[list[str], list[str]]:
        """Tokens of an image's candidates and references, joined by blanks."""

@final
class DocumentFrequency:
    """Counts of n-grams over documents, by words."""

    @staticmethod
    def build(references: References, stem: bool, n: int, threads: int = 0) -> DocumentFrequency: ...
    @staticmethod
    def from_token_ids(
        ids: bytes, lengths: Sequence[int], sizes: Sequence[int], n: int, threads: int = 0
    ) -> DocumentFrequency:
        """Count over token ids: all references' ids (little-endian u32), their lengths, the references per image."""

    @staticmethod
    def load(path: str) -> DocumentFrequency: ...
    @staticmethod
    def from_counts(
        words: Sequence[str], ids: bytes, lengths: bytes, counts: bytes, documents: int
    ) -> DocumentFrequency:
        """Take counts: the distinct words, and the distinct n-grams as positions in them, one after the other.

        `ids` and `counts` are little-endian u32. `lengths` has the number of words of each n-gram, one byte each.
        """

    def token_id_counts(self, order: int) -> tuple[bytes, bytes]:
        """The n-grams of one order as token ids, and the count of each, both as little-endian u32."""

    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: Buffer) -> DocumentFrequency:
        """What `to_bytes` made, in any object with a buffer, which is used in place."""

    def split(self, pieces: int) -> list[DocumentFrequency]:
        """The counts in pieces by the words of each n-gram; equal n-grams of other counts are in the same piece.

        The first piece has the number of documents, so that merging all has it once.
        """

    def merge(self, other: DocumentFrequency) -> DocumentFrequency: ...
    def count(self, words: Sequence[str]) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def ngrams(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def n(self) -> int:
        """The longest n-gram counted."""

    @property
    def tokenizer(self) -> str: ...
    @property
    def stem(self) -> bool: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...

METEOR_LANGUAGES: list[tuple[str, str | None, list[str], list[tuple[str, list[tuple[str, float]]]]]]
"""METEOR's languages: code, file of abbreviations, modules, and tasks with parameters, the default first."""

@final
class FrequencyCounter:
    """Counts in how many images each n-gram occurs, part by part of a corpus, in bounded memory.

    Any parts, in any order, give the same bytes as `DocumentFrequency.build` on all references at once.
    """

    def __new__(cls, n: int, stem: bool, tokenizer: str, *, memory: int, folder: str) -> Self:
        """An empty counter. Counts that do not fit into `memory` bytes are in files of `folder` until the end."""

    def add(self, references: References, threads: int = 0) -> None: ...
    def merge(self, other: DocumentFrequency, threads: int = 0) -> None: ...
    @property
    def documents(self) -> int: ...
    def finish(self, minimum: int = 1, path: str | None = None, threads: int = 0) -> DocumentFrequency:
        """N-grams of at least `minimum` documents; in a file at `path` if memory did not hold all. The counter ends."""

@final
class LanguageCounts:
    """Counts n-grams in references, part by part of a corpus, for the language model of Fluency. It can be pickled.

    Any parts, in any order, give the scores of a model of all references at once.
    """

    def __new__(cls, n: int, *, memory: int) -> Self:
        """No counts yet. The model may take `memory` bytes, apart from its distinct words."""

    def add(self, references: References, threads: int = 0) -> None: ...
    def merge(self, other: LanguageCounts, threads: int = 0) -> None: ...
    def finish(self, threads: int = 0) -> LanguageModel: ...
    @staticmethod
    def from_bytes(bytes: Buffer, memory: int) -> LanguageCounts: ...

@final
class LanguageModel:
    """A language model of references that came part by part, or of captions of other images; a resource of Fluency. It
    can be pickled.
    """

    @staticmethod
    def build(references: References, n: int, threads: int = 0) -> LanguageModel:
        """The model of captions of other images than those to score."""

    @property
    def images(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def tokenizer(self) -> str | None:
        """What cut the captions that it learnt from; None if they are the references being scored."""

    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: Buffer) -> LanguageModel: ...

@final
class Synonyms:
    """WordNet's synonym sets by word."""

    def __new__(cls, table: bytes) -> Synonyms: ...
    @staticmethod
    def build(synsets: str, exceptions: str) -> Synonyms: ...
    def to_bytes(self) -> bytes: ...
    @property
    def checksum(self) -> int: ...
    def sets(self, word: str) -> list[int]:
        """Numbers of the synonym sets of a word and its base forms, sorted."""

@final
class Parser:
    """Words, tags and dependencies of English captions."""

    def __new__(cls, model: bytes) -> Parser: ...
    @property
    def checksum(self) -> int: ...
    def denied(self, texts: Sequence[str], tokenizer: str, threads: int = 0) -> list[tuple[list[str], list[int]]]:
        """The tokens of each text, and the places of those that it denies: `no dog`."""

_SceneGraphParts: TypeAlias = tuple[
    list[tuple[str, list[int]]], list[tuple[int, str, list[int]]], list[tuple[int, str, int, list[int]]]
]
"""Objects (name, words), attributes (object, name, words) and relations (subject, predicate, object, words)."""
_ReadSide: TypeAlias = tuple[
    list[tuple[list[str], list[int]]], list[tuple[str, list[str], list[tuple[int, int]], float, float]]
]
_StatusGraphParts: TypeAlias = tuple[
    list[tuple[str, list[int], SceneStatus]],
    list[tuple[int, str, list[int], SceneStatus]],
    list[tuple[int, str, int, list[int], SceneStatus]],
]
"""The same, each with its status."""
_ComparedPart: TypeAlias = tuple[list[list[str]], tuple[int, str] | None]
"""A proposition: its parts, each with its names; the number of the one that it matches, and the rule."""

@final
class ObjectWords:
    """A vocabulary of objects: phrases, and the objects that they name."""

    def __new__(
        cls,
        parts: int,
        phrases: Sequence[tuple[Sequence[int], int]],
        objects: Sequence[int | None],
        drops: Sequence[tuple[int, int]],
    ) -> ObjectWords:
        """Make it.

        Args:
            parts: number of different words of phrases.
            phrases: the parts of each phrase, and its term. The longest match counts; of equally long ones the first.
            objects: the object that each term names, by number from 0; None for one that names nothing.
            drops: pairs of terms: in a caption that has both, the first does not count.
        """

@final
class NamedObjects:
    """What a corpus names, and what is in its images: a resource of CHAIR."""

    def __new__(
        cls,
        words: ObjectWords,
        parts: Sequence[int | None],
        annotated: Sequence[Sequence[int]] | None,
        breaks: Sequence[tuple[Sequence[int], Sequence[int]]],
        denied: Sequence[tuple[Sequence[int], Sequence[int]]],
    ) -> NamedObjects:
        """Make it.

        Args:
            words: the vocabulary.
            parts: for each word of the corpus' vocabulary the part that it is, None for one in no phrase.
            annotated: the objects given for each image; None where none are.
            breaks: captions as numbers of words, with the places, ascending, of words that follow a mark.
            denied: captions as numbers of words, with the places of words that name nothing, as they are denied.
        """

    def image(
        self, corpus: Corpus, image: int
    ) -> tuple[list[list[tuple[int, int, int]]], list[list[tuple[int, int, int]]], list[int]]:
        """What candidates and references name, as (first word, word after the last, object), and the objects given."""

@final
class Paragraphs:
    """Captions of a corpus as coverage and precision read them: a resource of the two."""

    def __new__(
        cls, parser: Parser, tokenizer: str, candidates: Sequence[str], references: Sequence[str]
    ) -> Paragraphs:
        """All candidates and all references, as they were given, in the order of the corpus."""

    def explain(self, synonyms: Synonyms, corpus: Corpus, image: int, worth: float) -> tuple[_ReadSide, _ReadSide]:
        """What an image's first candidate and its references say.

        Each side has its captions, as tokens and the places behind sentences but the last; and its statements: kind,
        parts, the caption and the place of each word that says it, weight, and how far the other side says it.
        """

    def said(self, synonyms: Synonyms, corpus: Corpus, candidate: tuple[int, int], worth: float) -> list[float | None]:
        """How far a candidate, by the numbers of its image and in it, says each of the image's references."""

@final
class SceneGraphs:
    """The source of captions' scene graphs: a resource of SPICE."""

    @staticmethod
    def parsed(parser: Parser, candidates: dict[int, list[int]], references: dict[int, list[int]]) -> SceneGraphs:
        """Graphs that the parser makes when they are needed.

        Captions of several sentences are given by their number among all candidates, or all references, of a corpus,
        with the positions after the last token of each sentence but the last.
        """

    @staticmethod
    def given(graphs: list[tuple[str, _SceneGraphParts]]) -> SceneGraphs:
        """Graphs by caption (tokens joined by blanks); every other caption has an empty graph."""

    @staticmethod
    def merged(sides: list[tuple[str, list[list[str]]]]) -> SceneGraphs:
        """Propositions of sides whose names are merged already: for the captions of a side (tokens joined by blanks,
        one line per caption), tuples of one to three labels, whose names are joined by `/`. Every other side has none.
        """

    def graphs(
        self, captions: Sequence[tuple[Sequence[str], Sequence[int]]], threads: int = 0
    ) -> list[tuple[list[str], _StatusGraphParts]]:
        """The words and the graph of each caption: its tokens, and the positions after the last token of each sentence
        but the last.
        """

    @staticmethod
    def paragraphs(
        parser: Parser, texts: Sequence[str], tokenizer: str, threads: int = 0
    ) -> list[tuple[list[str], _StatusGraphParts]]:
        """The tokens and the graph of each text, by the rules for paragraphs."""

    def explain(
        self, synonyms: Synonyms, corpus: Corpus, image: int
    ) -> tuple[list[_ComparedPart], list[_ComparedPart], tuple[int, int, int]]:
        """The propositions of an image's first candidate and of its references; then three numbers of propositions:
        the candidate's that match, all of the candidate, all of the references.
        """

@final
class MeteorTables:
    """Function words, abbreviations, synonym sets and paraphrases of a language."""

    VERSION: ClassVar[int]
    """The version of the file's format."""

    def __new__(cls, file: bytes) -> MeteorTables: ...
    @staticmethod
    def build(
        language: str,
        function_words: str,
        prefixes: str,
        synonyms: str,
        exceptions: str,
        paraphrases: bytes | None,
        progress: Callable[[float], object],
    ) -> MeteorTables:
        """Build them from the texts of a METEOR release; paraphrases may be gzipped."""

    @staticmethod
    def load(path: str, *, known_good: bool = False) -> MeteorTables:
        """Map a file; of one that is known to be good, only the header is read."""

    def to_bytes(self) -> bytes: ...
    @property
    def modules(self) -> list[str]: ...
    @property
    def checksum(self) -> int: ...
    def explain(
        self, candidate: str, references: Sequence[str], weights: Sequence[float]
    ) -> tuple[int, list[str], list[str], list[tuple[str, tuple[int, int], tuple[int, int]]], list[float], int] | None:
        """The alignment with the best reference.

        Returns:
            Its number; tokens of candidate and reference; links (module, candidate span, reference span); precision,
            recall, F, penalty and score; chunks. None without references.
        """

@final
class Embedded:
    """Vectors of a corpus' words, and the objects of its images."""

    def __new__(
        cls,
        dimension: int,
        vectors: bytes,
        words: Sequence[Sequence[int]],
        objects: tuple[Sequence[int], Sequence[int], Sequence[float]] | None = None,
    ) -> Embedded:
        """Take the vectors of a corpus' words.

        Args:
            dimension: length of a vector.
            vectors: float64, row by row.
            words: the rows of each word of the vocabulary; −1 for an unknown word, no row for a word to ignore.
            objects: the number of labels per image; the rows of the labels; their counts.
        """

    def explain_vifidel(
        self, corpus: Corpus, parameters: Mapping[str, bool | float | str], image: int
    ) -> dict[str, Any]:
        """VIFIDEL's plan for an image's first candidate, by name: numbers as little-endian float64, known objects as
        numbers among the image's labels, words as rows.
        """

@final
class Statistics:
    """One metric's statistics: one row per candidate or per caption set, and the formula over sums of rows."""

    @staticmethod
    def combined(name: str, members: list[tuple[float, Statistics]]) -> Statistics: ...
    def standardised(self, name: str, mean: float, deviation: float) -> Statistics:
        """The same with scores as distances from a mean, in deviations; a deviation below 0 turns the direction."""

    def members(self) -> list[Statistics]:
        """What `combined` was given, in its order; nothing of other statistics."""

    @staticmethod
    def of_rows(
        name: str,
        values: Buffer,
        width: int,
        formula: Callable[[list[float]], float] | None = None,
        row_formula: Callable[[list[float]], float] | None = None,
    ) -> Statistics:
        """Statistics made in Python, which intervals, tests and merging treat as native ones.

        `values`: little-endian float64, row by row, all finite. `formula` computes the score from the columns' sums
        alone, called from any thread, one call at a time; None: the mean of rows (score, 1). `row_formula` computes
        that of a row.
        """

    @staticmethod
    def restored(name: str, values: bytes, width: int, kind: str, made_of: object) -> Statistics: ...
    @property
    def rows(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def unscored(self) -> int: ...
    def score(self) -> float:
        """Score of all rows together. What a formula in Python raises is raised here."""

    def formula(self, sums: Sequence[float]) -> float:
        """Score of these sums of the columns: the formula by itself."""

    def scores_without_each(self) -> bytes:
        """For each row, the score of all other rows, as little-endian float64."""

    def sums(self) -> list[float]: ...
    def row_scores(self) -> bytes:
        """Score of each row, as little-endian float64."""

    def values(self) -> bytes:
        """All numbers, row by row, as little-endian float64."""

    def select(self, rows: Sequence[int]) -> Statistics:
        """The rows with these numbers, in this order; repeats are allowed."""

    def merge(self, other: Statistics) -> Statistics: ...
    def grouped(self, sizes: Sequence[int], best: bool) -> Statistics:
        """One row per group of `sizes` consecutive rows: the mean of their scores, or the best."""

    def f(self, accuracy: Statistics, beta2: float) -> Statistics:
        """F of this diversity and of an accuracy."""

@final
class Fold:
    """Sums over rows that are not kept: scores, intervals and paired tests of any number of images.

    Folds of parts, in any order, give the same bits as the whole: as `Statistics.score`, and as `bootstrap_intervals`
    and `paired_bootstrap` with ids.
    """

    def __new__(cls, samples: int, seed: int) -> Self:
        """An empty fold with this number of samples of the Poisson bootstrap; 0 for scores alone."""

    def add(self, statistics: Sequence[Statistics], ids: Any, threads: int = 0) -> None:
        """Add rows: the statistics of each metric, and the id of each row's image, which is added once."""

    def merge(self, other: Fold) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    def sums(self) -> list[list[float]]: ...
    def scores(self) -> list[float]: ...
    def unscored(self) -> list[int]: ...
    def intervals(self, level: float) -> list[tuple[float, float]]: ...
    @staticmethod
    def paired(
        folds: Sequence[Fold], level: float
    ) -> tuple[list[tuple[float, float]], list[tuple[tuple[float, float], float]]]:
        """The same as `paired_bootstrap`, from one fold per system, all of the same images."""

    def with_formulas(self, statistics: Sequence[Statistics]) -> Fold:
        """The same sums with the names and formulas of `statistics`, whose rows do not matter."""

    def statistics(self, number: int) -> Statistics:
        """The metric with this number, as statistics of a single row: its sums, with its formula."""

    def to_bytes(self) -> bytes:
        """The fold as bytes, without its formulas."""

    @staticmethod
    def from_bytes(bytes: bytes, statistics: Sequence[Statistics] | None = None) -> Fold:
        """What `to_bytes` made; the names and formulas are those of `statistics`, whose rows do not matter."""

    @staticmethod
    def restored(samples: int, seed: int, bytes: bytes | None, statistics: Sequence[Statistics]) -> Fold: ...

def tokenize(captions: Sequence[str], tokenizer: str, threads: int = 0) -> list[list[str]]: ...

_Parameter: TypeAlias = bool | float | str | Sequence[tuple[float, str, Mapping[str, _Parameter]]]

def evaluate(
    corpus: Corpus,
    metrics: Sequence[tuple[str, str, Mapping[str, _Parameter]]],
    resources: Sequence[object] = ...,
    threads: int = 0,
) -> list[Statistics]:
    """Statistics of every candidate for each metric: printed name, kernel name, parameters.

    A combination's parameter `members` has the weight, kernel name and parameters of each member. `resources` are what
    metrics need in addition to captions, such as `DocumentFrequency`, `MeteorTables` and `Embedded`: at most one of
    each type. Resources that no metric needs are ignored.
    """

def transport(
    sizes: Sequence[tuple[int, int]],
    supplies: bytes,
    demands: bytes,
    costs: bytes,
    plans: bool = True,
    threads: int = 0,
) -> tuple[bytes, bytes, bytes]:
    """Solve many problems of optimal transport, of these `sizes` (rows, columns), one after the other.

    Takes and returns little-endian float64: values, plans (row by row), and duals of rows and columns.
    """

def seen(
    corpus: Corpus, references: Captions, candidates: Captions, threads: int = 0
) -> list[tuple[str, str, int, int, str, str]]:
    """Look at every image: part, name and number of what was counted, how many, image id and caption of an example."""

def seen_in_sample(corpus: Corpus, candidates: Captions, size: int) -> list[tuple[str, str, int, int, str, str]]:
    """Look at a sample of the images; the same columns."""

def image_keys(ids: Any) -> bytes:
    """The number that stands for each image in the bootstrap, as little-endian u64; `ids` are strings or of Arrow."""

def mixed_keys(keys: bytes) -> bytes:
    """The same numbers with their bits mixed: in this order images are taken into a sample."""

def bootstrap_intervals(
    statistics: Sequence[Statistics],
    samples: int,
    level: float,
    seed: int,
    threads: int = 0,
    ids: Sequence[str] | None = None,
) -> list[tuple[float, float]]:
    """Percentile intervals, the same draws of rows for all metrics; with the rows' `ids` by the Poisson bootstrap."""

def paired_bootstrap(
    systems: Sequence[Sequence[Statistics]],
    samples: int,
    level: float,
    seed: int,
    threads: int = 0,
    ids: Sequence[str] | None = None,
) -> tuple[list[tuple[float, float]], list[tuple[tuple[float, float], float]]]:
    """As `bootstrap_intervals`: intervals of the scores, system by system, metric by metric; interval and p of the
    differences, pair by pair (0 and 1, 0 and 2, … 1 and 2, …), metric by metric.
    """

def paired_exact(systems: Sequence[Sequence[Statistics]], threads: int = 0) -> list[float]:
    """p-values of the differences by all swaps, without drawing, pair by pair, metric by metric."""

def paired_permutation(
    systems: Sequence[Sequence[Statistics]], samples: int, seed: int, threads: int = 0
) -> list[float]:
    """p-values of the differences by approximate randomisation, pair by pair, metric by metric."""

SIMILARITIES: list[str]
"""Names of the similarities of two captions."""

def similarity_matrix(
    corpus: Corpus, image: int, parameters: Mapping[str, bool | float | str], resources: Sequence[object] = ...
) -> bytes:
    """The image's matrix, row by row, as little-endian float64."""

def caption_vectors(
    corpus: Corpus, image: int, parameters: Mapping[str, bool | float | str], resources: Sequence[object] = ...
) -> tuple[list[str], bytes] | None:
    """The image's n-grams, and its captions' vectors over them; None if the similarity is not an inner product."""

def eigensystem(matrix: bytes, n: int) -> tuple[bytes, bytes]:
    """Eigenvalues, largest first, and unit eigenvectors, one after the other, of a symmetric matrix."""

def spectral_diversity(eigenvalues: Sequence[float]) -> tuple[float, bool]:
    """The diversity of a matrix with these eigenvalues, and whether one of them is negative."""

def top(corpus: Corpus, scores: bytes, most: int) -> tuple[Corpus, list[list[int]]]:
    """The corpus with only the best candidates of each set, and their positions in their sets."""

def leave_one_out(corpus: Corpus, threads: int = 0) -> Corpus:
    """Each reference as the candidate of an image of its own, against the other references of its image."""

def novelty(corpus: Corpus, training: References) -> Statistics:
    """For each candidate 1 if no training caption has the same words, else 0."""

def word_counts(corpus: Corpus) -> list[tuple[str, int]]:
    """Each word of the candidates with its count, the commonest first."""

@final
class Reward:
    """CIDEr-D on token ids."""

    def __new__(cls, frequencies: DocumentFrequency, n: int, sigma: float) -> Reward: ...
    def encode(self, ids: bytes, lengths: Sequence[int], sizes: Sequence[int], threads: int) -> EncodedReferences:
        """Encode references: the ids of all (little-endian u32), their lengths, the references per image."""

    def score(self, ids: bytes, lengths: Sequence[int], references: EncodedReferences, threads: int) -> bytes:
        """Rewards of the samples, as little-endian float64."""

@final
class EncodedReferences:
    """References of several images."""

    def select(self, images: Sequence[int]) -> EncodedReferences: ...
    def __len__(self) -> int: ...

CORRELATIONS: list[str]
"""The statistics of `correlations`, in order."""

def correlations(scores: bytes, ratings: bytes, images: bytes, samples: int, seed: int, threads: int = 0) -> bytes:
    """`CORRELATIONS` of points (float64, float64, u32), as float64: a row for all, then one per sample of images."""

def correlations_by_image(scores: bytes, ratings: bytes, images: bytes) -> bytes:
    """`CORRELATIONS` within each image, as little-endian float64; NaN where scores or ratings are constant."""

def draws(count: int, samples: int, seed: int) -> bytes:
    """How often each of `count` images is drawn in each bootstrap sample, as little-endian u16."""
