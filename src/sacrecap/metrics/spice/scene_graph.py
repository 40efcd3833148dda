"""Scene graphs: the objects in a caption, their attributes and their relations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from sacrecap import _core
from sacrecap.above import printed
from sacrecap.choices import GRAMMARS, SCENE_STATUSES, Grammar, SceneStatus, Tokenizer
from sacrecap.corpus.corpus import Corpus, tokenize
from sacrecap.corpus.sentences import BETWEEN_SENTENCES
from sacrecap.errors import UsageError
from sacrecap.resources.english import parser

Ends: TypeAlias = "dict[int, list[int]]"
"""The positions after the last token of each sentence but the last, by the number of the caption on its side of a
corpus.
"""


@dataclass(frozen=True)
class SceneAttribute:
    """A quality of an object."""

    name: str
    """The base form of its word: `brown`."""
    words: tuple[int, ...]
    """Numbers of its tokens, from 0."""
    status: SceneStatus = "stated"
    """What the caption says of it; no surer than its object."""


@dataclass(frozen=True)
class SceneObject:
    """A thing that the caption mentions."""

    name: str
    """The base form of its noun: `dog`. By the grammar of paragraphs its noun as it stands: `dogs`."""
    attributes: tuple[SceneAttribute, ...]
    words: tuple[int, ...]
    """Numbers of its tokens, from 0."""
    status: SceneStatus = "stated"
    """What the caption says of it: stated, it is there; hedged, it may be (`possibly a dog`); denied, it is not (`no
    dog`); aside, it is said about the picture, or is no thing (`the image`, `a sense of calm`).
    """


@dataclass(frozen=True)
class SceneRelation:
    """A relation between two objects."""

    subject: int
    """The number of the first object in the graph."""
    predicate: str
    """A verb with its particles and prepositions, or a preposition: `run along`, `with`."""
    object: int
    """The number of the second object."""
    words: tuple[int, ...]
    """Numbers of the tokens of the predicate, from 0."""
    status: SceneStatus = "stated"
    """What the caption says of it; no surer than its objects."""


@dataclass(frozen=True)
class SceneGraph:
    """The scene graph of a caption. `print` lists it; a notebook draws it.

    Examples:
        >>> graph = sacrecap.scene_graph("a brown dog runs")
        >>> graph.objects[0].name, graph.tuples()
        ('dog', [('dog',), ('dog', 'brown'), ('dog', 'run')])
    """

    tokens: tuple[str, ...]
    """The caption's tokens, which `words` count: the parser cuts some in two, such as `cannot`."""
    objects: tuple[SceneObject, ...]
    """The objects, each with its attributes."""
    relations: tuple[SceneRelation, ...]
    """The relations; `subject` and `object` are numbers of objects, from 0."""

    def tuples(self) -> list[tuple[str, ...]]:
        """What the graph says is, or may be, in the picture, without repeats: `(object,)`, `(object, attribute)`,
        `(subject, predicate, object)`. What is denied or said aside is left out; `statuses` has it too.
        """
        return [parts for parts, status in self.statuses().items() if status in ("stated", "hedged")]

    def statuses(self) -> dict[tuple[str, ...], SceneStatus]:
        """Every tuple of the graph with its status; of one that it has several times, the surest.

        Examples:
            >>> sacrecap.scene_graph("a street without cars").statuses()
            {('street',): 'stated', ('car',): 'denied', ('street', 'without', 'car'): 'denied'}
        """
        objects = [((item.name,), item.status) for item in self.objects]
        attributes = [((item.name, its.name), its.status) for item in self.objects for its in item.attributes]
        names = [item.name for item in self.objects]
        relations = [((names[it.subject], it.predicate, names[it.object]), it.status) for it in self.relations]
        surest: dict[tuple[str, ...], SceneStatus] = {}
        for parts, status in [*objects, *attributes, *relations]:
            before = surest.setdefault(parts, status)
            surest[parts] = min(before, status, key=SCENE_STATUSES.index)
        return surest

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return asdict(self)

    def to_svg(self) -> str:
        """A picture as SVG text, in light and dark: a row for each object, in the order of the caption, with its
        attributes and its relations to other objects.
        """
        return printed(self, "svg")

    def _repr_html_(self) -> str:
        return printed(self, "notebook")

    def __str__(self) -> str:
        notes = {status: "" if status == "stated" else f" ({status})" for status in SCENE_STATUSES}
        return "\n".join(" – ".join(parts) + notes[status] for parts, status in self.statuses().items())


def scene_graph(caption: str, *, tokenizer: Tokenizer = "ptb", grammar: Grammar = "auto") -> SceneGraph:
    """The scene graph of a caption, by the parser inside the package.

    The parser knows English. It was trained on the output of the original SPICE's parser: see
    `docs/reference/metrics/spice.md` for its accuracy.

    Args:
        caption: a sentence or a text of several.
        tokenizer: how it is cut into tokens.
        grammar: spice, the rules of the original SPICE, sentence by sentence; paragraph, rules for longer texts, which
            tell what is in the picture from what is said about it, and know what is named twice; auto, SPICE's for one
            sentence, and those for paragraphs for several. See `docs/explanation/long-captions.md`.

    Raises:
        UsageError: there is no such grammar.

    Examples:
        >>> print(sacrecap.scene_graph("a brown dog runs along the beach"))
        dog
        beach
        dog – brown
        dog – run along – beach
        >>> print(sacrecap.scene_graph("The image shows a dog. It wears a red scarf, and there are no people."))
        image (aside)
        dog
        scarf
        people (denied)
        scarf – red
        dog – wear – scarf
    """
    return scene_graphs([caption], tokenizer=tokenizer, grammar=grammar)[0]


def scene_graphs(
    captions: Sequence[str], *, tokenizer: Tokenizer = "ptb", grammar: Grammar = "auto", threads: int = 0
) -> list[SceneGraph]:
    """The scene graphs of captions, in their order; `threads` at once, 0 for one per core.

    Arguments are those of `scene_graph`.

    Examples:
        >>> [len(graph.objects) for graph in sacrecap.scene_graphs(["a dog and a cat", "a bus"])]
        [2, 1]
    """
    if grammar not in GRAMMARS:
        raise UsageError(f"there is no grammar {grammar!r}; use one of {', '.join(GRAMMARS)}")
    captions = list(captions)
    tokens = tokenize(captions, tokenizer=tokenizer)
    cut = [(words, _ends(caption, words, tokenizer)) for caption, words in zip(captions, tokens, strict=True)]
    is_long = [
        grammar == "paragraph" or (grammar == "auto" and bool(ends or _RUN_ON.search(caption)))
        for caption, (_, ends) in zip(captions, cut, strict=True)
    ]
    short = parsed().graphs([pair for pair, long in zip(cut, is_long, strict=True) if not long], threads)
    texts = [caption for caption, long in zip(captions, is_long, strict=True) if long]
    read = _core.SceneGraphs.paragraphs(parser(), texts, tokenizer, threads)
    graphs = iter(short), ((words, graph) for words, graph, _ in read)
    return [_of_core(*next(graphs[long])) for long in is_long]


_RUN_ON = re.compile(r"""[a-z]{2}[.!?]["')\]]*[A-Z]""")
"""Where two sentences stand without white space between them: `open.The`."""


def parsed(candidates: Ends | None = None, references: Ends | None = None) -> _core.SceneGraphs:
    """Graphs by the parser inside the package, which is read once per process; ends as `sentence_ends` gives them."""
    return _core.SceneGraphs.parsed(parser(), candidates or {}, references or {})


def sentence_ends(corpus: Corpus) -> tuple[Ends, Ends]:
    """Where sentences end in candidates and in references of several sentences."""
    sides: tuple[Ends, Ends] = {}, {}
    counts = [0, 0]
    for image in corpus.image_ids:
        for side, captions in enumerate(corpus.given(image)):
            for number, caption in enumerate(captions):
                if BETWEEN_SENTENCES.search(caption.rstrip()):
                    words = corpus.texts(image)[side][number].split()
                    if ends := _ends(caption, words, corpus.tokenizer):
                        sides[side][counts[side] + number] = ends
            counts[side] += len(captions)
    return sides


def _ends(text: str, tokens: Sequence[str], tokenizer: str) -> list[int]:
    """The positions after the last token of each sentence but the last.

    Tokenizers drop the marks that end sentences, so the ends are found in the text as it was given. A text whose
    sentences do not have the tokens of the whole text is one sentence. PTB's tokens keep the full stop of an
    abbreviation, after which a sentence goes on: `St. Mary`.
    """
    pieces = BETWEEN_SENTENCES.split(text)
    if len(pieces) == 1:
        return []
    sentences = tokenize(pieces, tokenizer=tokenizer, threads=1)
    *ends, length = accumulate(len(" ".join(sentence).split()) for sentence in sentences)
    if length != len(tokens):
        return []
    inside = [end for end in dict.fromkeys(ends) if 0 < end < length]
    return [end for end in inside if not (tokenizer.startswith("ptb") and tokens[end - 1].endswith("."))]


def _of_core(tokens: list[str], graph: _core._StatusGraphParts) -> SceneGraph:
    objects, attributes, relations = graph
    of_object: list[list[SceneAttribute]] = [[] for _ in objects]
    for number, name, words, status in attributes:
        of_object[number].append(SceneAttribute(name, tuple(words), status))
    return SceneGraph(
        tuple(tokens),
        tuple(
            SceneObject(name, tuple(its), tuple(words), status)
            for (name, words, status), its in zip(objects, of_object, strict=True)
        ),
        tuple(
            SceneRelation(subject, predicate, target, tuple(words), status)
            for subject, predicate, target, words, status in relations
        ),
    )
