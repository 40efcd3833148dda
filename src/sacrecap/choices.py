"""The words that options and keywords accept: the command line reads them here, and implementers import them.

A command offers a choice without loading what carries it out. This module imports nothing of sacrecap.
"""

from typing import Literal, TypeAlias, get_args

OwnTokenizer: TypeAlias = Literal["ptb", "ptb-stream", "whitespace", "none", "blanks"]
OWN_TOKENIZERS: tuple[OwnTokenizer, ...] = get_args(OwnTokenizer)
SacrebleuTokenizer: TypeAlias = Literal[
    "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores200",
    "13a-lc", "intl-lc", "char-lc", "zh-lc", "ja-mecab-lc", "ko-mecab-lc", "flores200-lc",
]  # fmt: skip
"""Those of sacreBLEU; `-lc` lowers capitals first."""
Tokenizer: TypeAlias = OwnTokenizer | SacrebleuTokenizer
TOKENIZERS: tuple[Tokenizer, ...] = (*OWN_TOKENIZERS, *get_args(SacrebleuTokenizer))
_XM3600 = (
    "ar bn cs da de el en es fa fi fil fr he hi hr hu id it ja ko mi nl no pl pt quz ro ru sv sw te th tr uk vi zh"
)
_NOT_INTL = {"ja": "ja-mecab-lc", "ko": "ko-mecab-lc", "th": "flores200-lc", "zh": "zh-lc"}
XM3600: dict[str, Tokenizer] = {f"xm3600-{tag}": _NOT_INTL.get(tag, "intl-lc") for tag in _XM3600.split()}  # type: ignore[misc]
"""The tokenizer for each of the 36 languages of Crossmodal-3600: `intl` where blanks divide words."""

OnMissing: TypeAlias = Literal["error", "skip", "zero"]
ON_MISSING: tuple[OnMissing, ...] = get_args(OnMissing)
"""What to do with an image without a candidate."""
ON_EXTRA = ("error", "skip")
"""What to do with a candidate of an image without references."""
ON_DUPLICATE = ("error", "first", "last", "skip")
"""What several candidates of one image mean."""
IMAGE_IDS = ("text", "stem", "number")
"""The parts of image ids that can be compared between files: all; the file name's stem; the last number in that."""

IntervalMethod: TypeAlias = Literal["percentile", "jackknife"]
INTERVAL_METHODS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
"""How a sample of images is drawn."""
Test: TypeAlias = Literal["exact", "permutation", "bootstrap"]
TESTS: tuple[Test, ...] = get_args(Test)
"""Paired tests of two systems."""
Correction: TypeAlias = Literal["holm", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
"""Of p, for the number of pairs of systems."""

EngineName: TypeAlias = Literal["local", "stream", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
OnBadRowOfBatch: TypeAlias = Literal["error", "null"]
ON_BAD_ROW_OF_BATCH: tuple[OnBadRowOfBatch, ...] = get_args(OnBadRowOfBatch)
"""What to do with a row of a batch that cannot be scored."""

DATASETS = tuple(
    "pascal-50s abstract-50s flickr8k-expert flickr8k-cf thumb d-foil foil msvd-eval pairs ratings".split()
)
"""The data sets and formats of human judgments."""
CATEGORIES = ("HC", "HI", "HM", "MM")
"""Kinds of pairs: two correct human captions, a correct and an incorrect one, human and machine, two of machines."""
DOCUMENTS = ("rows", "images")
"""What document frequencies of judgments count."""
RATERS = ("each", "mean", "median")
"""What is a data point where several people rated a caption: each rating, or their mean or median."""
TIES = ("wrong", "half")
"""What a metric's tie counts as in a forced choice."""
VOTES = ("consensus", "direct")
"""Whose votes decide a pair: of people who compared both captions with references, or who saw the image."""
UNDECIDED = ("out", "b", "c")
"""What a pair without a majority is: left out, or won by b or c."""

FINDINGS = tuple(
    "length empty list json think token markdown lines denied prefix same-caption repeated in-references "
    "wrong-image ids".split()
)
"""Kinds of findings about captions."""

CORPUS = "corpus"
"""Document frequencies: those of the references that are scored."""

TAKEN = "scores:"
"""Before the name of a column of others' scores that is also a metric's name."""

FORMATS = ("table", "json", "csv", "markdown", "latex")
"""How results are printed."""

Grammar: TypeAlias = Literal["auto", "spice", "paragraph"]
GRAMMARS: tuple[Grammar, ...] = get_args(Grammar)
"""The rules that make a scene graph of a text: SPICE's, those for paragraphs, or as the text has sentences."""
SceneStatus: TypeAlias = Literal["stated", "hedged", "aside", "denied"]
SCENE_STATUSES: tuple[SceneStatus, ...] = get_args(SceneStatus)
"""What a text says of something: it is in the picture, may be, is not spoken of as there, or is not there."""
