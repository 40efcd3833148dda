"""Questions: what a page asks about the captions that it shows, what an answer is, and how a study's file says it.

A page shows captions of systems: one, several, or sets of them. A question is about each of them (`Scale`, `Options`,
`Words`), between them (`Choice`, `BestWorst`), or about the page (`Text`, and those about each where nothing is shown).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import perm, prod
from typing import Any, ClassVar

from sacrecap.data.fields import Invalid, listed, number, one_of, quoted, text
from sacrecap_studies.field_reader import LONGEST, LONGEST_NAME, Fields, flag, mapping
from sacrecap_studies.messages import Message

Content = dict[str, Any]
"""The content of one page of the study, as JSON."""
Form = Mapping[str, str]

LETTERS = "bcdefghijklmnopqrstuvwxyz"
"""Names of the captions of a page. A is the sentence that others are compared with."""
_PUNCTUATION = ".,;:!?\"'()"


class AnswerError(ValueError):
    """An answer that cannot be accepted; the text tells the annotator what is missing."""

    def __init__(self, message: str, **values: object) -> None:
        self.text = Message(message, **values)
        super().__init__(self.text)


def captions_of(content: Content) -> list[Content]:
    """What a page shows to be judged: `{"system", "captions"}` of each, in the order of the file."""
    if "b" in content:
        return [{"system": content.get(f"{side}_system", ""), "captions": [content[side]]} for side in "bc"]
    sets: list[Content] = content.get("sets", [])
    return sets


def images_of(content: Content) -> list[str]:
    """The images that a page shows: its own, and those of its captions."""
    return [part["image_id"] for part in (content, *content.get("sets", [])) if "image_id" in part]


def name_of(content: Content) -> str:
    """What tells the captions of a page apart: their image where each has one, else their system."""
    name: str = content["image_id"] if "image_id" in content else content["system"]
    return name


@dataclass(frozen=True, kw_only=True)
class PageQuestion(ABC):
    """One question of a page."""

    type: ClassVar[str]
    about: ClassVar[str] = "page"
    """each: an answer for each caption, as a list; all: one answer between them; page."""
    is_rating: ClassVar[bool] = False
    """Whether an answer has a number for each caption."""
    least_captions: ClassVar[int] = 0

    name: str
    """Under which forms and exports have the answer."""
    text: str = ""
    """What it asks; empty if the heading of the page does."""
    optional: bool = False

    @abstractmethod
    def read(self, content: Content, form: Form, order: Sequence[int]) -> Any:
        """The answer of a form, as JSON.

        The form knows captions only by where they stood, 1 for the first; `order` has the caption of each place, so
        that the page does not show which is which. Raises `AnswerError`.
        """

    @abstractmethod
    def expected(self, fields: Fields, key: str, content: Content) -> Any:
        """The known answer of a check, in the field `key`."""

    def is_correct(self, expected: Any, answer: Any) -> bool:
        """Whether an answer to a check is the known one."""
        return bool(expected == answer)

    @abstractmethod
    def luck(self, content: Content, expected: Any) -> float:
        """The probability that who answers at random is right."""

    @abstractmethod
    def explain(self, content: Content, expected: Any) -> list[str]:
        """The known answer, as lines to show to the person."""

    def ratings(self, _: Any, count: int) -> list[float | None]:
        """A number for each of so many captions; None where there is none."""
        return [None] * count

    def fingerprint(self, _: Any) -> str | None:
        """What answers share that say the same in writing; None if the same answer may come again."""
        return None


@dataclass(frozen=True, kw_only=True)
class Choice(PageQuestion):
    """Which caption; or that they are equal, or that the person cannot tell, if the question has these answers."""

    type = "choice"
    about = "all"
    is_rating = True
    least_captions = 2

    extra_choices: Mapping[str, str] = field(default_factory=dict)
    """Texts of the answers `tie` and `unsure`."""

    @property
    def answers(self) -> list[str]:
        """What can be answered about a pair."""
        return ["b", "c", *self.extra_choices]

    def read(self, _: Content, form: Form, order: Sequence[int]) -> str:
        text = form.get(self.name, "")
        if text in self.extra_choices:
            return text
        if len(order) == 2 and not self.extra_choices:
            return _letter(text, order, AnswerError("Choose one of the two sentences."))
        return _letter(text, order, AnswerError("Choose one of the answers."))

    def expected(self, fields: Fields, key: str, content: Content) -> str:
        return fields.one_of(key, [*LETTERS[: len(captions_of(content))], *self.extra_choices])

    def luck(self, content: Content, expected: Any) -> float:  # noqa: ARG002
        return 1 / max(1, len(captions_of(content)) + len(self.extra_choices))  # a file with none is refused

    def explain(self, content: Content, expected: Any) -> list[str]:
        return [self.extra_choices.get(expected) or _quoted(content, expected)]

    def ratings(self, answer: Any, count: int) -> list[float | None]:
        """1 for what was chosen and 0 for the others."""
        return [None if answer in self.extra_choices else float(answer == letter) for letter in LETTERS[:count]]


class BestWorst(PageQuestion):
    """Which caption is best, and which worst (best–worst scaling: Louviere, Flynn and Marley, 2015)."""

    type = "best-worst"
    about = "all"
    is_rating = True
    least_captions = 3

    def read(self, _: Content, form: Form, order: Sequence[int]) -> dict[str, str]:
        missing = AnswerError("Choose the best and the worst.")
        letters = {end: _letter(form.get(f"{self.name}-{end}", ""), order, missing) for end in ("best", "worst")}
        if letters["best"] == letters["worst"]:
            raise AnswerError("The best and the worst must be two different ones.")
        return letters

    def expected(self, fields: Fields, key: str, content: Content) -> dict[str, str]:
        with fields.inside(key) as ends:
            return {end: ends.one_of(end, list(LETTERS[: len(captions_of(content))])) for end in ("best", "worst")}

    def luck(self, content: Content, expected: Any) -> float:  # noqa: ARG002
        return 1 / max(1, perm(len(captions_of(content)), 2))

    def explain(self, content: Content, expected: Any) -> list[str]:
        return [_quoted(content, expected["best"]), _quoted(content, expected["worst"])]

    def ratings(self, answer: Any, count: int) -> list[float | None]:
        """1 for the best, −1 for the worst, 0 for the others: their sum is the scale."""
        return [float((answer["best"] == letter) - (answer["worst"] == letter)) for letter in LETTERS[:count]]


class EachQuestion(PageQuestion):
    """A question about each caption; about the page if that shows none."""

    about = "each"

    def read(self, content: Content, form: Form, order: Sequence[int]) -> Any:
        captions = captions_of(content)
        if not captions:
            return self.read_one(form, self.name, [])
        answers: list[Any] = [None] * len(captions)
        for place, caption in enumerate(order, 1):
            answers[caption] = self.read_one(form, f"{self.name}-{place}", captions[caption]["captions"])
        return answers

    def expected(self, fields: Fields, key: str, content: Content) -> Any:
        """Of one caption as it is; of several by `name_of` them, where any answer about those left out is right."""
        captions, value = captions_of(content), fields.take(key)
        if len(captions) < 2:
            words = captions[0]["captions"] if captions else []
            return [fields.check(key, self.read_expected, value, None, captions=words)]
        accepted = f"{{system or image_id: {self.accepted}}}"
        by_name: dict[str, Any] = fields.check(key, mapping, value, {}, accepted=accepted, least=1)
        answers: dict[str, Any] = dict.fromkeys(map(name_of, captions))
        for name in by_name:
            if name not in answers:
                fields.wrong(key, f"no set is of {quoted(name)}; there are {', '.join(map(name_of, captions))}")
        for caption in captions:
            if (name := name_of(caption)) in by_name:
                words = caption["captions"]
                answers[name] = fields.check(key, self.read_expected, by_name[name], None, captions=words)
        return [answers[name_of(caption)] for caption in captions]

    def is_correct(self, expected: Any, answer: Any) -> bool:
        answers = answer if isinstance(answer, list) else [answer]
        return all(answer is None or self.fits(answer, reply) for answer, reply in zip(expected, answers, strict=True))

    def luck(self, _: Content, expected: Any) -> float:
        return prod((self.luck_of_one(answer) for answer in expected if answer is not None), start=1.0)

    def explain(self, content: Content, expected: Any) -> list[str]:
        shown_captions = captions_of(content)
        if not shown_captions:
            return [self.tell(expected[0])]
        pairs = zip(shown_captions, expected, strict=True)
        return [
            f"{' / '.join(caption['captions'])}: {self.tell(answer)}" for caption, answer in pairs if answer is not None
        ]

    accepted: ClassVar[str]
    """The known answer about one caption, as messages say it."""

    @abstractmethod
    def read_one(self, form: Form, name: str, captions: Sequence[str]) -> Any:
        """The answer in the fields of this name."""

    @abstractmethod
    def read_expected(self, value: Any, captions: Sequence[str]) -> Any:
        """The known answer about one caption; raises `Invalid`."""

    def fits(self, expected: Any, reply: Any) -> bool:
        """Whether the answer about one caption is the known one."""
        return bool(expected == reply)

    @abstractmethod
    def luck_of_one(self, answer: Any) -> float:
        """The probability that who answers at random is right about one caption."""

    def tell(self, answer: Any) -> str:
        """The known answer about one caption, in words."""
        return str(answer)


@dataclass(frozen=True, kw_only=True)
class Scale(EachQuestion):
    """A point of a scale, from the lowest."""

    type = "scale"
    is_rating = True
    accepted = "[least, most]"

    points: tuple[float, ...]
    labels: tuple[str, ...] = ()
    """Of every point, or of the two ends."""

    def read_one(self, form: Form, name: str, captions: Sequence[str]) -> float:
        place = _place(form.get(name, ""), len(self.points))
        if place is None:
            raise AnswerError("Rate every set.") if len(captions) > 1 else AnswerError("Answer every question.")
        return self.points[place]

    def read_expected(self, value: Any, captions: Sequence[str]) -> list[float]:  # noqa: ARG002
        least, most = self.points[0], self.points[-1]
        if not isinstance(value, list) or len(value) != 2:
            raise Invalid.of(value, f"[least, most] with numbers from {least:g} to {most:g}")
        return [number(entry, least=least, most=most) for entry in value]

    def fits(self, expected: Any, reply: Any) -> bool:
        return bool(expected[0] <= reply <= expected[1])

    def luck_of_one(self, answer: Any) -> float:
        return sum(self.fits(answer, point) for point in self.points) / len(self.points)

    def tell(self, answer: Any) -> str:
        return f"{answer[0]:g} – {answer[1]:g}"

    def ratings(self, answer: Any, count: int) -> list[float | None]:  # noqa: ARG002
        return list(answer)


@dataclass(frozen=True, kw_only=True)
class Options(EachQuestion):
    """One of several answers, which have no order."""

    type = "choice"
    accepted = "one of the options"

    labels: tuple[str, ...]

    def read_one(self, form: Form, name: str, captions: Sequence[str]) -> str | None:  # noqa: ARG002
        place = _place(form.get(name, ""), len(self.labels))
        if place is None and (form.get(name) or not self.optional):
            raise AnswerError("Answer every question.")
        return None if place is None else self.labels[place]

    def read_expected(self, value: Any, captions: Sequence[str]) -> str:  # noqa: ARG002
        return one_of(value, accepted=self.labels)

    def luck_of_one(self, answer: Any) -> float:  # noqa: ARG002
        return 1 / len(self.labels)


class Words(EachQuestion):
    """Words of a caption that the person marks, such as those that are wrong; their places, from 0."""

    type = "words"
    is_rating = True
    least_captions = 1
    accepted = "a list of its words"

    def read_one(self, form: Form, name: str, captions: Sequence[str]) -> list[int]:
        return [place for place in range(len(words_of(captions))) if f"{name}-{place}" in form]

    def read_expected(self, value: Any, captions: Sequence[str]) -> list[int]:
        words = [word.strip(_PUNCTUATION).casefold() for word in words_of(captions)]
        marked = [str(entry).casefold() for entry in listed(value, least=0)]
        if set(marked) - set(words):
            raise Invalid.of(value, f"words of the caption, {quoted(' '.join(captions))}")
        return [place for place, word in enumerate(words) if word in marked]

    def luck_of_one(self, answer: Any) -> float:
        """Who does not read marks nothing."""
        return float(not answer)

    def tell(self, answer: Any) -> str:
        return ", ".join(str(place + 1) for place in answer) or "–"

    def ratings(self, answer: Any, count: int) -> list[float | None]:  # noqa: ARG002
        """Minus the number of words marked, since marks are faults."""
        return [-float(len(marked)) for marked in answer]


class Text(PageQuestion):
    """What people write."""

    type = "text"

    def read(self, _: Content, form: Form, order: Sequence[int]) -> str:  # noqa: ARG002
        text = form.get(self.name, "").strip()
        if len(text) > LONGEST:
            raise AnswerError("At most %(most)d characters, please.", most=LONGEST)
        if not text and not self.optional:
            raise AnswerError("Answer every question.")
        return text

    def expected(self, fields: Fields, key: str, _: Content) -> list[str]:
        """Words, of which the text has at least one."""
        return [word.lower() for word in fields.texts(key)]

    def is_correct(self, expected: Any, answer: Any) -> bool:
        return any(word in answer.lower() for word in expected)

    def luck(self, _: Content, expected: Any) -> float:  # noqa: ARG002
        """A guess: texts of people who do not look have one of its telling words now and then."""
        return 0.1

    def explain(self, _: Content, expected: Any) -> list[str]:
        return [", ".join(expected)]


def words_of(captions: Sequence[str]) -> list[str]:
    """The words of captions that can be marked."""
    return " ".join(captions).split()


def _place(text: str, count: int) -> int | None:
    """A place of so many, from 0, that a field of a form says; None if it says none."""
    is_place = text.isascii() and text.isdecimal() and len(text) <= 2 and int(text) < count
    return int(text) if is_place else None


def _letter(text: str, order: Sequence[int], missing: AnswerError) -> str:
    """The caption that stood in the place that was said, 1 for the first."""
    place = _place(text, len(order) + 1)
    if not place:
        raise missing
    return LETTERS[order[place - 1]]


def _quoted(content: Content, letter: str) -> str:
    return " / ".join(captions_of(content)[LETTERS.index(letter)]["captions"])


LEAST_WORDS = 4
MOST_CHARACTERS = 500

# Scripts that put no blanks between words: Thai to Khmer, kana, Chinese characters. A word has about two letters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_KEYS = ("qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")


class ImageSentence(Text):
    """A sentence that describes an image (CIDEr: Vedantam et al., 2015, section 4)."""

    type = "sentence"

    def read(self, _: Content, form: Form, order: Sequence[int]) -> str:  # noqa: ARG002
        sentence = " ".join(form.get(self.name, "").split())
        if len(sentence) > MOST_CHARACTERS:
            raise AnswerError("One sentence, please: at most %(most)d characters.", most=MOST_CHARACTERS)
        # In a script without blanks two signs are counted as a word.
        if max(len(sentence.split()), len(_UNSPACED.findall(sentence)) // 2) < LEAST_WORDS:
            raise AnswerError("Write a whole sentence, of %(least)d words or more.", least=LEAST_WORDS)
        if any(mark in sentence for mark in '"“”«»'):
            raise AnswerError("No dialogue, please: say what can be seen, without quotation marks.")
        if sentence.isupper():
            raise AnswerError("Please do not write in capitals only.")
        if _is_gibberish(sentence):
            raise AnswerError("This does not read as a sentence. Please describe the image in words.")
        return sentence

    def fingerprint(self, answer: Any) -> str | None:
        """Of the words alone: other punctuation, numbers or order of words make no other sentence."""
        words = sorted(set(re.findall(r"[^\W\d_]+", answer.casefold())))
        return hashlib.sha256(" ".join(words).encode()).hexdigest()[:32]


def _is_gibberish(sentence: str) -> bool:
    """Letters that are no sentence in any language: keys in a row, one word again and again, mostly other signs."""
    signs = [sign for sign in sentence if not sign.isspace()]
    letters = sum(unicodedata.category(sign)[0] in "LM" for sign in signs)
    words = sentence.casefold().split()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", sentence.casefold()) if sign.isascii())
    latin = re.findall("[a-z]{4,}", plain)
    # Of four plain letters or more: no vowel, or neighbours on the keyboard.
    is_no_word = [
        not set(word) & set("aeiouy") or any(word in keys or word[::-1] in keys for keys in _KEYS) for word in latin
    ]
    return (
        letters < 0.6 * len(signs)
        or re.search(r"([^\W\d_])\1{3}", sentence.casefold()) is not None  # the same letter four times
        or (len(words) >= LEAST_WORDS and 2 * len(set(words)) <= len(words))
        or (len(latin) > 1 and 2 * sum(is_no_word) > len(latin))
    )


ASKED = ("questions", "before", "after")
"""Fields with questions: of the items; and of everybody, once before the first item and once after the last."""
MOST_QUESTIONS = 20
MOST_OPTIONS = 20
MOST_POINTS = 21
TYPES = ("choice", "scale", "best-worst", "words", "text", "sentence")
_NAME = re.compile(r"[a-z][a-z_]{0,29}")
_RESERVED = ("csrf", "assignment", "active", "pasted", "away")


def read_questions(fields: Fields, name: str) -> tuple[PageQuestion, ...]:
    """The questions in a field of a study's file."""
    questions = tuple(fields.entries(name, lambda entry, _: _question(entry, is_of_items=name == "questions")))
    if len(questions) > MOST_QUESTIONS or len({question.name for question in questions}) < len(questions):
        fields.wrong(name, f"at most {MOST_QUESTIONS} questions, each with a name of its own")
    return questions


def _question(fields: Fields, *, is_of_items: bool) -> PageQuestion:
    kind = fields.one_of("type", TYPES if is_of_items else ("choice", "scale", "text"))
    common: dict[str, Any] = {
        "name": fields.read("name", _question_name, "a"),
        "text": fields.text("text", "", most=500),
        "optional": fields.optional("optional", flag, default=False),
    }
    if kind == "choice" and (fields.has("options") or not is_of_items):
        return Options(**common, labels=fields.read("options", _texts, ("-", "-"), most=MOST_OPTIONS))
    if kind == "choice":
        choices = {"tie": fields.text("equal", "", most=200), "unsure": fields.text("unsure", "", most=200)}
        return Choice(**common, extra_choices={name: label for name, label in choices.items() if label})
    if kind != "scale":
        plain: tuple[type[PageQuestion], ...] = (BestWorst, Words, Text, ImageSentence)
        return next(question for question in plain if question.type == kind)(**common)
    labels = fields.optional("labels", _texts, tuple[str, ...](), most=MOST_POINTS)
    least = fields.number("least", 1, -1000, 1000)
    step = fields.number("step", 1, 0.001, 1000)
    most = fields.number("most", least + step * max(len(labels) - 1, 1), -1000, 1000)
    count = round((most - least) / step) + 1
    if not 2 <= count <= MOST_POINTS or len(labels) not in (0, 2, count):
        fields.wrong("labels", f"{count} points; a scale has 2 to {MOST_POINTS}, and labels of all or of both ends")
        count = 2
    return Scale(**common, labels=labels, points=tuple(round(least + step * place, 6) for place in range(count)))


def _question_name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value in _RESERVED:
        raise Invalid.of(value, f"up to 30 small letters and _, and none of {', '.join(_RESERVED)}")
    return value


def _texts(value: object, most: int) -> tuple[str, ...]:
    texts = tuple(text(text_of, most=LONGEST_NAME).strip() for text_of in listed(value, least=2))
    if len(texts) > most or len(set(texts)) < len(texts):
        raise Invalid(f"must be at most {most} different texts")
    return texts
