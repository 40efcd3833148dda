"""A policy's completions, as trainers pass them.

What a policy says comes out of what it writes: without its thinking, the marks of chat templates, and openings.

CaptionReward(references, text="answer")                    # <think>a beach …</think><answer>a dog runs</answer>
CaptionReward(references, text="json:caption")              # {"caption": "a dog runs"}
CaptionReward(references, text=str.lower)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from sacrecap._core import image_ids
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import as_references, tokenize
from sacrecap.errors import DataError, UsageError, accepted_name, first_of, some
from sacrecap.resources.replies import after_thoughts, boxed, tagged, values

Text: TypeAlias = "str | Callable[[str], str] | Iterable[str | Callable[[str], str]]"
"""A way to find the caption in a completion: a name of `WAYS`, a function, or several, one after the other."""

_MARKS = re.compile(r"<\|[^|<>]*\|>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn|end_of_utterance)>|\[/?INST\]")
_OPENING = re.compile(
    r"\s*(?:assistant\b\s*:?\s*)?"
    r"(?:(?:sure|certainly|of course|okay|ok|absolutely)\b[^:.!\n]{0,40}[.!,]\s*)?"
    r"(?:[^:.!?\n]{0,60}\b(?:caption|description|answer|sentence)\b[^:.!?\n]{0,60}:\s*)?",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


def of_tag(written: str, name: str) -> str:
    """The text of the last element of that name behind all thoughts, also of one that was cut; nothing without one."""
    return tagged(after_thoughts(written), name) or ""


def of_box(written: str) -> str:
    r"""What stands in the last `\boxed{…}` behind all thoughts; nothing without one."""
    return boxed(after_thoughts(written)) or ""


def of_json(written: str, name: str) -> str:
    """The text of that name in JSON, also in JSON that is nearly right; nothing without one, or with several."""
    contents = values(after_thoughts(written), name.lower())
    first = contents[0] if contents and contents.count(contents[0]) == len(contents) else None
    return first.strip() if isinstance(first, str) else ""


def caption(written: str) -> str:
    r"""Behind all thoughts, and out of `<caption>`, `\boxed{}` or the JSON of a caption, if it is in one of these;
    without marks of chat templates, marks of Markdown, an opening such as `Sure! Here is a caption:`, and quotes.
    """
    written = after_thoughts(written)
    for packed in (tagged(written, "caption"), boxed(written), of_json(written, "caption")):
        written = packed or written
    plain = re.sub(r"\*\*|__|`|^#+ ", "", _MARKS.sub(" ", written), flags=re.MULTILINE)
    opening = _OPENING.match(plain)
    spoken = plain[opening.end() :].strip() if opening else plain.strip()
    for first, last in _QUOTES:
        is_quoted = len(spoken) > 1 and spoken[0] == first and spoken[-1] == last
        if is_quoted and spoken.count(first) + spoken.count(last) in (2, 4):
            return spoken[1:-1].strip()
    return spoken


WAYS: dict[str, Callable[[str], str]] = {
    "answer": partial(of_tag, name="answer"),
    "after-thinking": after_thoughts,
    "caption": caption,
    "boxed": of_box,
}
"""Ready-made ways by name."""
_NAMED: dict[str, Callable[..., str]] = {"tag": of_tag, "json": of_json}
"""Those that take a name, as in `tag:caption` and `json:caption`."""


def ways_of(text: Text | None) -> tuple[Callable[[str], str], ...]:
    """The functions that a completion goes through. Raises `UsageError` for an unknown name, or what is neither."""
    if text is None:
        return ()
    readers: list[Callable[[str], str]] = []
    for way in [text] if isinstance(text, str) or callable(text) else text:
        if isinstance(way, str):
            kind, _, name = way.partition(":")
            if kind in _NAMED and name:
                readers.append(partial(_NAMED[kind], name=name))
                continue
            accepted_name("text", way, [*WAYS, *(f"{kind}:NAME" for kind in _NAMED)])
            readers.append(WAYS[way])
        elif callable(way):
            readers.append(way)
        else:
            raise UsageError(
                f"text takes {', '.join(WAYS)}, tag:NAME, json:NAME, or a function from text to text, got {way!r}"
            )
    return tuple(readers)


Completion: TypeAlias = "str | Sequence[Mapping[str, object]] | None"
"""A caption, a list of chat messages whose last one holds it, or None where the trainer has none."""

LOG_METRIC = "log_metric"
"""The keyword with which TRL passes a method of its trainer that logs a figure: `log_metric(name, value)`."""
END = "\ue000"
"""The word that ends a caption, which no text has: the first character of those for private use."""


def text_of(completion: object, number: int) -> str:
    """The text of a completion: itself, or the last of its chat messages; nothing for None; else `DataError`."""
    content = completion
    if isinstance(completion, Sequence) and completion and isinstance(completion[-1], Mapping):
        content = completion[-1].get("content")
        if isinstance(content, Sequence) and not isinstance(content, str):
            parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
            content = " ".join(map(str, parts)) if all(isinstance(part, str) for part in parts) else content
    if content is None or isinstance(content, str):
        return content or ""
    raise DataError(
        f"completion {number} is a {type(completion).__name__}; expected a caption as text, or a list of chat messages "
        '([{"role": "assistant", "content": "a dog runs"}])'
    )


@dataclass(frozen=True)
class CompletionBatch:
    """Captions of a batch, tokenised, with the image of each."""

    tokens: list[list[str]]
    images: list[str]
    captions: list[str] | None = None
    """The original texts of the captions; None if there are only tokens."""
    finished: list[bool] | None = None
    """Whether each came to its end; None where the trainer does not say, and all count as finished."""
    references: dict[str, list[str]] = field(default_factory=dict)
    """Captions of people by image, where the trainer's data set has them."""
    tokenizer: Tokenizer = "none"
    """What cut the captions."""

    def caption(self, row: int) -> str:
        """The original text of a caption; its tokens joined by blanks, if there are only tokens."""
        return self.text(row) if self.captions is None else self.captions[row]

    def text(self, row: int) -> str:
        """The tokens of a caption joined by blanks."""
        return " ".join(self.tokens[row])

    def by_image(self) -> dict[str, list[int]]:
        """The rows of each image, in order."""
        groups: dict[str, list[int]] = {}
        for row, image in enumerate(self.images):
            groups.setdefault(image, []).append(row)
        return groups

    def with_ends(self) -> CompletionBatch:
        """The same with a last word `END` in captions that came to their end and say something."""
        finished = self.finished or [True] * len(self.tokens)
        ended = [[*words, END] if over and words else words for words, over in zip(self.tokens, finished, strict=True)]
        return replace(self, tokens=ended)


def in_groups(batch: CompletionBatch, size: int) -> list[list[int]]:
    """The rows of each group, of so many consecutive ones of one image. Raises `DataError` for a batch without whole
    groups.
    """
    rows = range(len(batch.images))
    groups = [list(rows[start : start + size]) for start in range(0, len(rows), size)]
    for group in groups:
        images = {batch.images[row] for row in group}
        if len(group) < size or len(images) > 1:
            raise DataError(
                f"a group is {size} captions of one image in consecutive rows (num_generations); rows {group[0]} to "
                f"{group[-1]} of {len(rows)} are {len(group)} of {some(sorted(images))}: make the batch of a process "
                "hold whole groups"
            )
    return groups


@dataclass(frozen=True)
class CompletionReader:
    """How completions are read: the columns that name the image of each, or have its references instead; functions that
    take the caption out, one after the other; and ids of tokens that end a completion, by default those of TRL's
    trainer.
    """

    tokenizer: Tokenizer
    threads: int
    image_column: str
    reference_column: str | None
    ways: tuple[Callable[[str], str], ...]
    ends: Collection[int]

    def batch(
        self, completions: Iterable[object], ids: Iterable[object] | None, columns: Mapping[str, Any]
    ) -> CompletionBatch:
        """The captions of a call.

        Raises `DataError` for a completion without text, or unequal numbers of completions and image ids, and
        `UsageError` for no image ids, or no references in their column.
        """
        texts = []
        for number, completion in enumerate(completions):
            written = text_of(completion, number)
            for way in self.ways:
                written = way(written)
            texts.append(written)
        references: dict[str, list[str]] = {}
        if self.reference_column is None:
            values = columns.get(self.image_column) if ids is None else ids
            if not isinstance(values, Iterable) or isinstance(values, str | Mapping):
                raise UsageError(
                    "which images are these captions of? Give their ids (image_ids=[…]), or a column "
                    f"{self.image_column!r} of the data set"
                )
            names = list(values)
            if len(names) != len(texts):
                raise DataError(f"{len(texts)} captions and {len(names)} image ids: give one id per caption")
            names = image_ids(names)
        else:
            names, references = self._described(columns, len(texts))
        tokens = tokenize(texts, tokenizer=self.tokenizer, threads=self.threads)
        return CompletionBatch(tokens, names, texts, self._finished(columns, len(texts)), references, self.tokenizer)

    def _described(self, columns: Mapping[str, Any], rows: int) -> tuple[list[str], dict[str, list[str]]]:
        """Of each completion a name that those of equal references share, and the references by name."""
        values = columns.get(self.reference_column or "")
        if not isinstance(values, Iterable) or isinstance(values, str | Mapping):
            raise UsageError(f"the trainer passes no column {self.reference_column!r} with the references")
        cells: list[Any] = []
        for row, value in enumerate(values):
            parsed = _of_json(value)
            where = f"row {row} of the column {self.reference_column!r}"
            cells.append(parsed if isinstance(parsed, str) else list(_captions(parsed, where)))
        groups = [tuple(group) for group in as_references(cells).to_dict().values()]
        bare = [f"row {row}" for row, group in enumerate(groups) if not group]
        if bare:
            raise DataError(
                f"no references in {first_of(bare)} of the column {self.reference_column!r}; give each some"
            )
        if len(groups) != rows:
            raise DataError(f"{rows} captions and {len(groups)} rows of references: give one row per caption")
        names: dict[tuple[str, ...], str] = {}
        images = [names.setdefault(group, f"references {len(names)}") for group in groups]
        return images, {name: list(group) for group, name in names.items()}

    def _finished(self, columns: Mapping[str, Any], rows: int) -> list[bool] | None:
        """Which completions came to their end, where the trainer tells it: see `MetricReward.__call__`."""
        is_finished = columns.get("finished")
        if is_finished is None and columns.get("is_truncated") is not None:
            is_finished = [not cut for cut in columns["is_truncated"]]
        ends = self.ends or getattr(trainer_of(columns), "eos_token_ids", ())
        if is_finished is None and ends and columns.get("completion_ids") is not None:
            is_finished = [
                any(int(token_id) in ends for token_id in ids) for ids in columns["completion_ids"]
            ]  # then padding may follow
        if is_finished is None:
            return None
        finished = list(map(bool, is_finished))
        if len(finished) != rows:
            raise DataError(f"{rows} captions, of which {len(finished)} are told whether they are finished")
        return finished


_CAPTION = ("caption", "captions", "references", "raw", "sentence", "sentences", "text", "target", "ground_truth")
"""The names under which objects have captions."""


def _captions(value: object, where: str) -> Iterator[object]:
    """The captions in lists and objects, which may hold each other; of those that are not there, nothing."""
    parsed = _of_json(value)
    if isinstance(parsed, Mapping):
        name = next((name for name in _CAPTION if name in parsed), None)
        if name is None:
            raise DataError(
                f"{where} is an object with {first_of(list(parsed)) or 'nothing in it'}; captions are found under "
                f"{', '.join(_CAPTION)}"
            )
        yield from _captions(parsed[name], where)
    elif isinstance(parsed, Iterable) and not isinstance(parsed, str | bytes):
        for part in parsed:
            yield from _captions(part, where)
    elif parsed is not None and parsed == parsed and not (isinstance(parsed, str) and not parsed.strip()):  # noqa: PLR0124
        yield parsed


def _of_json(value: object) -> object:
    """The object or list that a text is, as JSON; anything else as it is."""
    if not (isinstance(value, str) and value.lstrip().startswith(("{", "["))):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def trainer_of(columns: Mapping[str, Any]) -> object | None:
    """The trainer of TRL that calls a reward, which passes a method of its own; None for another caller."""
    return getattr(columns.get(LOG_METRIC), "__self__", None)


def told_group_size(columns: Mapping[str, Any]) -> int | None:
    """The captions of a group, as TRL's trainer has them in training or in evaluation; None for another caller."""
    trainer = trainer_of(columns)
    training = getattr(getattr(trainer, "model", None), "training", True)
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    return size if isinstance(size, int) else None
