"""The native core: captions are parsed, kept and counted in Rust."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from typing_extensions import Buffer, Self, final

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
    "draws",
    "eigensystem",
    "evaluate",
    "header",
    "image_keys",
    "kendall_b_by_image",
    "leave_one_out",
    "look",
    "names_of_lines",
    "novelty",
    "paired_bootstrap",
    "paired_permutation",
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
        """Read the bytes of a caption file. If no format is given, it is recognised from the bytes.

        Args:
            data: the whole file, as bytes or another object with a buffer; only bytes are not copied.
            format: one of `CAPTION_FORMATS`.
            split: keep only the images of this split of a Karpathy file.

        Raises:
            DataError: the file cannot be used; the message says where and why.
            UsageError: an unknown format or split.
        """

    @staticmethod
    def from_dict(captions: Mapping[Any, Any]) -> Captions:
        """Take a mapping from image ids (text or whole numbers) to a caption or a list of captions.

        A caption may also be an annotation, `{"caption": "a dog"}`.

        Raises:
            DataError: an id is of another type, a caption is not a string, or ``5`` and ``"5"`` are both there.
        """

    @staticmethod
    def of_arrow(ids: Any, captions: Any) -> Captions:
        """Take two Arrow columns, as pyarrow has them, chunked or not: one row per image.

        Args:
            ids: image ids, strings or whole numbers, without nulls.
            captions: strings or lists of strings, in any Arrow type for these, without nulls.

        Raises:
            DataError: an id occurs twice, a column has nulls or another type, or a text is not UTF-8.
            UsageError: the columns have different lengths.
        """

    @staticmethod
    def of_images(images: Sequence[tuple[str, Sequence[str]]], source: str | None) -> Captions:
        """Images with their captions, in order, and their name in messages."""

    def to_dict(self) -> dict[str, list[str]]:
        """All captions, by image id."""

    def captions(self, image_id: str | int) -> list[str]:
        """The captions of one image.

        Raises:
            DataError: no image has this id.
        """

    @property
    def image_ids(self) -> list[str]:
        """The image ids, in order."""

    def caption_counts(self) -> list[int]:
        """Number of captions per image, in the order of `image_ids`."""

    def shortest(self) -> int:
        """Characters of the shortest caption; 0 without captions."""

    def named(self, source: str) -> Captions:
        """The same captions with another name in messages."""

    @property
    def source(self) -> str | None:
        """Name of their file, for messages; None for captions that were given as a mapping."""

    def problems(self) -> list[tuple[str, str]]:
        """Captions that cannot be scored: the image id, and what is wrong."""

    def __contains__(self, key: str, /) -> bool:
        """Whether there is an image with this id."""

    @property
    def image_count(self) -> int:
        """Number of images, with or without captions."""

    @property
    def caption_count(self) -> int:
        """Number of captions over all images."""

    def __len__(self) -> int:
        """Number of images."""

@final
class CaptionsBuilder:
    """Collects captions from the columns of a table, batch by batch."""

    def __new__(cls) -> Self: ...
    def extend(self, image_ids: list[object], captions: list[object]) -> None:
        """Add rows: the image id of each, and its caption or list of captions."""

    def finish(self) -> Captions:
        """All captions; the builder is empty afterwards.

        Raises:
            DataError: an id or a caption was of another type.
        """

LARGEST_TOKEN_ID: int
"""The largest token id that the reward takes."""

TOKENIZERS: list[str]
"""Names of the tokenizers."""

def look(data: Buffer) -> tuple[str, list[str]]:
    """How a file, or the beginning of one, is laid out; and the names of its columns, or the keys of its first rows.

    The layouts are `coco`, `karpathy`, `mapping` (an object of texts and lists of texts: a mapping or one row),
    `object`, `list`, `lines` (of JSON), `table`, `flickr` and `text`.

    Raises:
        DataError: the file is empty, or not UTF-8.
    """

def names_of_lines(data: Buffer) -> list[str]:
    """The keys of the first JSON lines; `doc.id` is `id` in the object `doc`."""

def header(data: Buffer) -> tuple[list[str], str, int] | None:
    """The columns of a text table, its delimiter, and the byte where its rows begin; None without a delimiter.

    Raises:
        DataError: the text is not UTF-8.
    """

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
        """Rows of a piece of a text table with these columns, without its header.

        The last row may go on in the next piece: only that of the `last` piece is read.

        Raises:
            DataError: a double quote is never closed.
        """

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
    def image_ids(self) -> list[str]:
        """Image ids, in the order encoded."""

    @property
    def tokenizer(self) -> str:
        """Name of the tokenizer."""

    @property
    def counts(self) -> list[int]:
        """References per image, by image."""

    def __len__(self) -> int:
        """Number of images."""

@final
class Corpus:
    """References with the candidates of one system."""

    def __new__(
        cls, references: References, captions: Captions, images: Sequence[int | None], threads: int = 0
    ) -> Corpus:
        """Encode candidates. `images`: for each image of the references its number in `captions`; None: no caption."""

    @property
    def references(self) -> References:
        """The references."""

    @property
    def rows(self) -> int:
        """Number of candidates."""

    @property
    def vocabulary(self) -> list[str]:
        """Distinct words, in the order of their numbers."""

    @property
    def counts(self) -> list[int]:
        """Candidates per image, by image."""

    def longest(self) -> tuple[int, int]:
        """Tokens of the longest sentence, and the number of its image."""

    def texts(self, image: int) -> tuple[list[str], list[str]]:
        """Tokens of an image's candidates and references, joined by blanks."""

@final
class DocumentFrequency:
    """Counts of n-grams over documents, by words."""

    @staticmethod
    def build(references: References, stem: bool, n: int, threads: int = 0) -> DocumentFrequency:
        """Count the n-grams of orders 1 to `n`, of word forms or stems."""

    @staticmethod
    def from_token_ids(
        ids: bytes, lengths: Sequence[int], sizes: Sequence[int], n: int, threads: int = 0
    ) -> DocumentFrequency:
        """Count over token ids: all references' ids (little-endian u32), their lengths, the references per image."""

    @staticmethod
    def load(path: str) -> DocumentFrequency:
        """Map a saved file.

        Raises:
            OSError: it cannot be opened.
            DataError: it is another kind of file, of another version, or damaged.
        """

    @staticmethod
    def from_counts(
        words: Sequence[str], ids: bytes, lengths: bytes, counts: bytes, documents: int
    ) -> DocumentFrequency:
        """Take counts: the distinct words, and the distinct n-grams as positions in them, one after the other.

        `ids` and `counts` are little-endian u32. `lengths` has the number of words of each n-gram, one byte each.

        Raises:
            DataError: there is no n-gram, or the arrays do not fit together.
        """

    def token_id_counts(self, order: int) -> tuple[bytes, bytes]:
        """The n-grams of one order as token ids, and the count of each, both as little-endian u32.

        Raises:
            UsageError: a word is not a token id.
        """

    def to_bytes(self) -> bytes:
        """The bytes of its file."""

    @staticmethod
    def from_bytes(bytes: Buffer) -> DocumentFrequency:
        """What `to_bytes` made, in any object with a buffer, which is used in place."""

    def split(self, pieces: int) -> list[DocumentFrequency]:
        """The counts in pieces by the words of each n-gram; equal n-grams of other counts are in the same piece.

        The first piece has the number of documents, so that merging all has it once.
        """

    def merge(self, other: DocumentFrequency) -> DocumentFrequency:
        """The sum of both.

        Raises:
            UsageError: orders, tokenizers or stemming differ.
        """

    def count(self, words: Sequence[str]) -> int:
        """Number of documents in which the n-gram occurs."""

    @property
    def documents(self) -> int:
        """Number of documents."""

    @property
    def ngrams(self) -> int:
        """Number of distinct n-grams."""

    @property
    def words(self) -> int:
        """Number of distinct words."""

    @property
    def n(self) -> int:
        """The longest n-gram counted."""

    @property
    def tokenizer(self) -> str:
        """Name of the tokenizer that cut captions into words."""

    @property
    def stem(self) -> bool:
        """Whether words are stems."""

    def __eq__(self, value: object, /) -> bool:
        """Whether both hold the same counts."""

    def __ne__(self, value: object, /) -> bool:
        """Whether they differ."""

METEOR_LANGUAGES: list[tuple[str, str | None, list[str], list[tuple[str, list[tuple[str, float]]]]]]
"""METEOR's languages: code, file of abbreviations, modules, and tasks with parameters, the default first."""

@final
class FrequencyCounter:
    """Counts in how many images each n-gram occurs, part by part of a corpus, in bounded memory.

    Any parts, in any order, give the same bytes as `DocumentFrequency.build` on all references at once.
    """

    def __new__(cls, n: int, stem: bool, tokenizer: str, *, memory: int, folder: str) -> Self:
        """An empty counter.

        Args:
            n: the longest n-gram, 1 to 4 words.
            stem: whether words are stemmed.
            tokenizer: name of the references' tokenizer.
            memory: most bytes for the tables of counts; the distinct words need more.
            folder: where counts are written that do not fit into memory; they are removed at the end.

        Raises:
            UsageError: an unknown tokenizer, or another n.
        """

    def add(self, references: References, threads: int = 0) -> None:
        """Add the references of images, none of which was added before.

        Raises:
            UsageError: they have another tokenizer, or the counter has ended.
            DataError: the folder cannot be written; the counter has ended.
        """

    def merge(self, other: DocumentFrequency, threads: int = 0) -> None:
        """Add counts of other images.

        Raises:
            UsageError: it has another n, tokenizer or kind of words, or the counter has ended.
            DataError: the folder cannot be written; the counter has ended.
        """

    @property
    def documents(self) -> int:
        """Number of images so far."""

    def finish(self, minimum: int = 1, path: str | None = None, threads: int = 0) -> DocumentFrequency:
        """The document frequencies; the counter has ended.

        Args:
            minimum: keep n-grams that occur in at least this number of documents.
            path: a file for them, which is memory-mapped if memory did not hold all counts.
            threads: number of threads, 0 for one per core.

        Raises:
            OSError: the folder or the file cannot be written.
        """

@final
class LanguageCounts:
    """Counts n-grams in references, part by part of a corpus, for the language model of Fluency. It can be pickled.

    Any parts, in any order, give the scores of a model of all references at once.
    """

    def __new__(cls, n: int, *, memory: int) -> Self:
        """No counts yet.

        Args:
            n: order of the model, 1 to 4.
            memory: most bytes that the model may take, apart from its distinct words.

        Raises:
            UsageError: another n.
        """

    def add(self, references: References, threads: int = 0) -> None:
        """Count the references of images, none of which was counted before.

        Raises:
            DataError: the model takes more memory than it may, or has more words than 32 bits count.
            UsageError: the counts have ended.
        """

    def merge(self, other: LanguageCounts, threads: int = 0) -> None:
        """Add counts of other images.

        Raises:
            DataError: as for `add`, or a model of another order.
            UsageError: the counts have ended.
        """

    def finish(self, threads: int = 0) -> LanguageModel:
        """The model; the counts have ended."""

    @staticmethod
    def from_bytes(bytes: Buffer, memory: int) -> LanguageCounts:
        """What `pickle` made of counts.

        Raises:
            DataError: the bytes are damaged.
        """

@final
class LanguageModel:
    """A language model of references that came part by part; a resource of Fluency. It can be pickled."""

    @property
    def images(self) -> int:
        """Number of images that it learnt from."""

    @staticmethod
    def from_bytes(bytes: Buffer) -> LanguageModel:
        """What `pickle` made of a model.

        Raises:
            DataError: the bytes are damaged.
        """

@final
class Synonyms:
    """WordNet's synonym sets by word."""

    def __new__(cls, table: bytes) -> Synonyms:
        """Read a table. Its bytes are not copied.

        Raises:
            DataError: it is another kind of file, of another version, or damaged.
        """

    @staticmethod
    def build(synsets: str, exceptions: str) -> Synonyms:
        """Build it from the WordNet texts in METEOR 1.5.

        Raises:
            DataError: a text has another format.
        """

    def to_bytes(self) -> bytes:
        """The table as a file."""

    @property
    def checksum(self) -> int:
        """CRC-32 of the contents."""

    def sets(self, word: str) -> list[int]:
        """Numbers of the synonym sets of a word and its base forms, sorted."""

@final
class Parser:
    """Words, tags and dependencies of English captions."""

    def __new__(cls, model: bytes) -> Parser:
        """Read a model.

        Raises:
            DataError: it is another kind of file, of another version, or damaged.
        """

    @property
    def checksum(self) -> int:
        """CRC-32 of the model."""

_SceneGraphParts: TypeAlias = tuple[
    list[tuple[str, list[int]]], list[tuple[int, str, list[int]]], list[tuple[int, str, int, list[int]]]
]
"""Objects (name, words), attributes (object, name, words) and relations (subject, predicate, object, words)."""
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

        Raises:
            UsageError: the number of a part or term that does not exist.
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
    ) -> NamedObjects:
        """Make it.

        Args:
            words: the vocabulary.
            parts: for each word of the corpus' vocabulary the part that it is, None for one in no phrase.
            annotated: the objects given for each image; None where none are.
            breaks: captions as numbers of words, with the places, ascending, of words that follow a mark.

        Raises:
            UsageError: a number of a part or object that there is not.
        """

    def image(
        self, corpus: Corpus, image: int
    ) -> tuple[list[list[tuple[int, int, int]]], list[list[tuple[int, int, int]]], list[int]]:
        """What the image's candidates and its references name, caption by caption, and the objects given for it.

        A mention is the position of its first word, the position after its last word, and the object.

        Raises:
            UsageError: there is no image with this number.
        """

@final
class SceneGraphs:
    """The source of captions' scene graphs: a resource of SPICE."""

    @staticmethod
    def parsed(parser: Parser, sentences: list[tuple[str, list[int]]]) -> SceneGraphs:
        """Graphs that the parser makes when they are needed.

        A caption is one sentence, except for those in `sentences`: tokens joined by blanks, and the positions after
        the last token of each sentence.
        """

    @staticmethod
    def given(graphs: list[tuple[str, _SceneGraphParts]]) -> SceneGraphs:
        """Graphs by caption (tokens joined by blanks); every other caption has an empty graph.

        Raises:
            UsageError: a graph names an object that it does not have.
        """

    @staticmethod
    def merged(sides: list[tuple[str, list[list[str]]]]) -> SceneGraphs:
        """Propositions of sides whose names are merged already: for the captions of a side (tokens joined by blanks,
        one line per caption), tuples of one to three labels, whose names are joined by `/`. Every other side has none.

        Raises:
            UsageError: a tuple has no part, or more than three.
        """

    def graphs(self, captions: Sequence[Sequence[str]], threads: int = 0) -> list[tuple[list[str], _SceneGraphParts]]:
        """The words and the graph of each caption. Captions are lists of tokens."""

    def explain(
        self, synonyms: Synonyms, candidate: Sequence[str], references: Sequence[Sequence[str]]
    ) -> tuple[list[_ComparedPart], list[_ComparedPart], tuple[int, int, int]]:
        """The propositions of a candidate and of its references, which are lists of tokens; then three numbers of
        propositions: the candidate's that match, all of the candidate, all of the references.
        """

@final
class MeteorTables:
    """Function words, abbreviations, synonym sets and paraphrases of a language."""

    VERSION: ClassVar[int]
    """The version of the file's format."""

    def __new__(cls, file: bytes) -> MeteorTables:
        """Read the bytes of a file.

        Raises:
            DataError: they are another kind of file, of another version, or damaged.
        """

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
        """Build them from the texts of a METEOR release; paraphrases may be gzipped.

        Raises:
            DataError: a text has another format.
        """

    @staticmethod
    def load(path: str) -> MeteorTables:
        """Map a file.

        Raises:
            OSError: it cannot be opened.
            DataError: it is another kind of file, of another version, or damaged.
        """

    def to_bytes(self) -> bytes:
        """The bytes of the file."""

    @property
    def modules(self) -> list[str]:
        """The kinds of match that the tables allow."""

    @property
    def checksum(self) -> int:
        """A checksum of the contents."""

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

        Raises:
            UsageError: a row does not exist, or the sizes do not add up to the number of labels.
        """

    def explain_vifidel(
        self, corpus: Corpus, parameters: Mapping[str, bool | float | str], image: int
    ) -> dict[str, Any]:
        """VIFIDEL's plan for an image's first candidate, by name: numbers as little-endian float64, known objects as
        numbers among the image's labels, words as rows.

        Raises:
            UsageError: unacceptable parameters.
        """

@final
class Statistics:
    """One metric's statistics: one row per candidate or per caption set, and the formula over sums of rows."""

    @staticmethod
    def combined(name: str, members: list[tuple[float, Statistics]]) -> Statistics:
        """The weighted mean of several metrics' scores of the same rows. `members`: the weight and statistics of each.

        Raises:
            UsageError: members of other rows, or weights that are not above 0.
        """

    @staticmethod
    def of_rows(
        name: str,
        values: Buffer,
        width: int,
        formula: Callable[[list[float]], float] | None = None,
        row_formula: Callable[[list[float]], float] | None = None,
    ) -> Statistics:
        """Statistics made in Python. Intervals, tests and merging treat them as native ones.

        Args:
            name: the metric's key; only statistics with the same name are merged or compared.
            values: little-endian float64, row by row, all finite; for example an array of shape (rows, width).
            width: numbers per row.
            formula: computes the score from the columns' sums. It must depend on the sums alone. It is called once per
                resample, from any thread, one call at a time. None: the mean; then a row is (score, 1).
            row_formula: computes the score of a single row, if it differs from the formula of its numbers.

        Raises:
            UsageError: the values are not rows of this width or not finite, or the formula is not callable.
        """

    @staticmethod
    def restored(name: str, values: bytes, width: int, kind: str, made_of: object) -> Statistics:
        """What pickling took apart."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Numbers per row."""

    @property
    def unscored(self) -> int:
        """Number of rows whose score is NaN."""

    def score(self) -> float:
        """Score of all rows together.

        An exception of a formula in Python is raised, here and wherever statistics are scored or resampled.
        """

    def formula(self, sums: Sequence[float]) -> float:
        """Score of these sums of the columns: the formula by itself.

        Raises:
            UsageError: another number of sums than the rows have columns.
        """

    def scores_without_each(self) -> bytes:
        """For each row, the score of all other rows, as little-endian float64."""

    def sums(self) -> list[float]:
        """Sums of the columns."""

    def row_scores(self) -> bytes:
        """Score of each row, as little-endian float64."""

    def values(self) -> bytes:
        """All numbers, row by row, as little-endian float64."""

    def select(self, rows: Sequence[int]) -> Statistics:
        """The rows with these numbers, in this order; repeats are allowed.

        Raises:
            UsageError: there is no such row.
        """

    def merge(self, other: Statistics) -> Statistics:
        """These rows, then those of the other.

        Raises:
            UsageError: the other is of another metric.
        """

    def grouped(self, sizes: Sequence[int], best: bool) -> Statistics:
        """One row per group of `sizes` consecutive rows: the mean of their scores, or the best.

        Raises:
            UsageError: the sizes do not add up to the number of rows.
        """

    def f(self, accuracy: Statistics, beta2: float) -> Statistics:
        """F of this diversity and of an accuracy.

        Raises:
            UsageError: they are not of the same images.
        """

@final
class Fold:
    """Sums over rows that are not kept: scores, intervals and paired tests of any number of images.

    Folds of parts, in any order, give the same bits as the whole: as `Statistics.score`, and as `bootstrap_intervals`
    and `paired_bootstrap` with ids.
    """

    def __new__(cls, samples: int, seed: int) -> Self:
        """An empty fold with this number of samples of the Poisson bootstrap; 0 for scores alone."""

    def add(self, statistics: Sequence[Statistics], ids: Any, threads: int = 0) -> None:
        """Add rows: the statistics of each metric, and the id of each row's image. Each image is added once.

        Ids are strings, or a column of Arrow of strings or whole numbers.

        Raises:
            UsageError: not one id per row, or other metrics than before.
        """

    def merge(self, other: Fold) -> None:
        """Add the rows of another fold.

        Raises:
            UsageError: it is of other metrics, samples or seed, or it is this fold.
        """

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def samples(self) -> int:
        """Number of samples."""

    @property
    def seed(self) -> int:
        """Seed of the samples."""

    @property
    def names(self) -> list[str]:
        """Names of the metrics; none before the first rows."""

    def sums(self) -> list[list[float]]:
        """Sums of each metric's columns, rounded once."""

    def scores(self) -> list[float]:
        """Score of all rows by each metric."""

    def unscored(self) -> list[int]:
        """Number of rows whose score is NaN, by each metric."""

    def intervals(self, level: float) -> list[tuple[float, float]]:
        """Percentile intervals of each metric's score.

        Raises:
            UsageError: there is no sample or no row.
        """

    @staticmethod
    def paired(
        folds: Sequence[Fold], level: float
    ) -> tuple[list[tuple[float, float]], list[tuple[tuple[float, float], float]]]:
        """The same as `paired_bootstrap`, from one fold per system, all of the same images.

        Raises:
            UsageError: there is no sample or no row, or they are of other metrics, images, samples or seeds.
        """

    def with_formulas(self, statistics: Sequence[Statistics]) -> Fold:
        """The same sums with the names and formulas of `statistics`, whose rows do not matter.

        Raises:
            DataError: the statistics have other columns.
        """

    def statistics(self, number: int) -> Statistics:
        """The metric with this number, as statistics of a single row: its sums, with its formula.

        Raises:
            UsageError: there is no such metric.
        """

    def to_bytes(self) -> bytes:
        """The fold as bytes, without its formulas.

        Raises:
            UsageError: it has no rows yet.
        """

    @staticmethod
    def from_bytes(bytes: bytes, statistics: Sequence[Statistics] | None = None) -> Fold:
        """What `to_bytes` made; the names and formulas are those of `statistics`, whose rows do not matter.

        Raises:
            DataError: the bytes are damaged, or of other metrics.
        """

    @staticmethod
    def restored(samples: int, seed: int, bytes: bytes | None, statistics: Sequence[Statistics]) -> Fold:
        """What pickling took apart."""

def tokenize(captions: Sequence[str], tokenizer: str, threads: int = 0) -> list[list[str]]:
    """Tokens of each caption."""

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

    Raises:
        UsageError: a kernel's parameters are unacceptable, missing or unknown; a metric lacks a resource; an object is
            not a resource.
    """

def transport(
    sizes: Sequence[tuple[int, int]],
    supplies: bytes,
    demands: bytes,
    costs: bytes,
    plans: bool = True,
    threads: int = 0,
) -> tuple[bytes, bytes, bytes]:
    """Solve many problems of optimal transport: values, plans, and duals of rows and columns, little-endian float64.

    Args:
        sizes: rows and columns of each problem.
        supplies: the supply of each row, float64, problem after problem.
        demands: the demand of each column.
        costs: the cost from each row to each column, row by row.
        plans: whether plans and duals are wanted.
        threads: number of threads.

    Raises:
        UsageError: a supply, demand or cost is negative or not finite, or their number does not fit the sizes.
    """

def image_keys(ids: Any) -> bytes:
    """The number that stands for each image in the bootstrap, as little-endian u64; `ids` are strings or of Arrow."""

def bootstrap_intervals(
    statistics: Sequence[Statistics],
    samples: int,
    level: float,
    seed: int,
    threads: int = 0,
    ids: Sequence[str] | None = None,
) -> list[tuple[float, float]]:
    """Percentile intervals over rows drawn with replacement, the same draws for all metrics.

    With the rows' `ids` it is the Poisson bootstrap, whose draws depend on the seed and the id alone.

    Raises:
        UsageError: no sample, no row, tables of different lengths, or not one id per row.
    """

def paired_bootstrap(
    systems: Sequence[Sequence[Statistics]],
    samples: int,
    level: float,
    seed: int,
    threads: int = 0,
    ids: Sequence[str] | None = None,
) -> tuple[list[tuple[float, float]], list[tuple[tuple[float, float], float]]]:
    """Percentile intervals and tests over images drawn with replacement, the same draws for all.

    With the images' `ids` it is the Poisson bootstrap, whose draws depend on the seed and the id alone.

    Returns:
        Intervals of the scores, system by system, metric by metric; interval and p of the differences, pair by pair
        (0 and 1, 0 and 2, … 1 and 2, …), metric by metric.

    Raises:
        UsageError: no sample, no row, tables of different lengths or other metrics.
    """

def paired_permutation(
    systems: Sequence[Sequence[Statistics]], samples: int, seed: int, threads: int = 0
) -> list[float]:
    """p-values of the differences by approximate randomisation, pair by pair, metric by metric.

    Raises:
        UsageError: no sample, no row, tables of different lengths or other metrics.
    """

SIMILARITIES: list[str]
"""Names of the similarities of two captions."""

def similarity_matrix(
    corpus: Corpus, image: int, parameters: Mapping[str, bool | float | str], resources: Sequence[object] = ...
) -> bytes:
    """The image's matrix, row by row, as little-endian float64.

    Raises:
        UsageError: unacceptable parameters (`kernel` names the similarity), or there is no image with this number.
    """

def caption_vectors(
    corpus: Corpus, image: int, parameters: Mapping[str, bool | float | str], resources: Sequence[object] = ...
) -> tuple[list[str], bytes] | None:
    """The image's n-grams, and its captions' vectors over them; None if the similarity is not an inner product.

    Raises:
        UsageError: unacceptable parameters.
    """

def eigensystem(matrix: bytes, n: int) -> tuple[bytes, bytes]:
    """Eigenvalues, largest first, and unit eigenvectors, one after the other, of a symmetric matrix.

    Raises:
        UsageError: it is not n by n.
    """

def spectral_diversity(eigenvalues: Sequence[float]) -> tuple[float, bool]:
    """The diversity of a matrix with these eigenvalues, and whether one of them is negative."""

def top(corpus: Corpus, scores: bytes, most: int) -> tuple[Corpus, list[list[int]]]:
    """The corpus with only the best candidates of each set, and their positions in their sets.

    Raises:
        UsageError: there is not one score per candidate.
    """

def leave_one_out(corpus: Corpus, stemmed: bool, threads: int = 0) -> Corpus:
    """Each reference as the candidate of an image of its own, against the other references of its image."""

def novelty(corpus: Corpus, training: References) -> Statistics:
    """For each candidate 1 if no training caption has the same words, else 0."""

def word_counts(corpus: Corpus) -> list[tuple[str, int]]:
    """Each word of the candidates with its count, the commonest first."""

@final
class Reward:
    """CIDEr-D on token ids."""

    def __new__(cls, frequencies: DocumentFrequency, n: int, sigma: float) -> Reward:
        """Prepare the look-ups.

        Raises:
            UsageError: the frequencies are keyed by words.
        """

    def encode(self, ids: bytes, lengths: Sequence[int], sizes: Sequence[int], threads: int) -> EncodedReferences:
        """Encode references: the ids of all (little-endian u32), their lengths, the references per image."""

    def score(self, ids: bytes, lengths: Sequence[int], references: EncodedReferences, threads: int) -> bytes:
        """Rewards of the samples, as little-endian float64."""

@final
class EncodedReferences:
    """References of several images."""

    def select(self, images: Sequence[int]) -> EncodedReferences:
        """The references of these images, in this order."""

    def __len__(self) -> int:
        """Number of images."""

CORRELATIONS: list[str]
"""The statistics of `correlations`, in order."""

def correlations(scores: bytes, ratings: bytes, images: bytes, samples: int, seed: int, threads: int = 0) -> bytes:
    """Correlations of points (float64 scores and ratings, u32 image numbers), as little-endian float64.

    Returns:
        One row of `CORRELATIONS` for all points, then one for each bootstrap sample over images.

    Raises:
        UsageError: the three have different lengths, or a number is not finite.
    """

def kendall_b_by_image(scores: bytes, ratings: bytes, images: bytes) -> bytes:
    """Kendall's tau-b within each image, as little-endian float64; NaN if scores or ratings are constant.

    Raises:
        UsageError: the three have different lengths, or a number is not finite.
    """

def draws(count: int, samples: int, seed: int) -> bytes:
    """How often each of `count` images is drawn in each bootstrap sample, as little-endian u16."""
