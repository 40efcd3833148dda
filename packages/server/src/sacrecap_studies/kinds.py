"""The kinds of study: what is shown, and which questions are asked about it.

There is one kind, `StudyKind`, and every protocol is a value of it. In `questions`, the file says what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from sacrecap_studies.field_reader import Fields, Problems
from sacrecap_studies.questions import (
    ASKED,
    LETTERS,
    Choice,
    Content,
    Form,
    ImageSentence,
    PageQuestion,
    Scale,
    captions_of,
    images_of,
    name_of,
    read_questions,
)

MOST_CAPTIONS = 100
"""Captions, or sets of them, on a page."""


@dataclass(frozen=True, kw_only=True)
class StudyKind:
    """One protocol: what is asked, of how many people, and what an answer is.

    An answer is that of the question, or where there are several, an object of answers by the questions' names.
    """

    name: str
    title: str
    question: str
    """The heading of each page."""
    instructions: str
    questions: tuple[PageQuestion, ...]
    forms: tuple[str, ...] = ()
    """What an item can show, by a field of the file: a pair (`b`, with `c`), a `caption`, or `sets` of captions."""
    shows_image: bool = True
    has_several_pages: bool = False
    """Whether each reference of an item is a page, on which it stands above as sentence A."""
    judgments: int = 3
    """People who judge one item, if the file does not say."""
    has_pairs: bool = False
    """Whether each item shows two captions, B and C."""
    seconds: float = 1.5
    """Least seconds that reading and answering a page takes, where the file does not say."""
    advice: tuple[str, ...] = ()
    """What the page says besides its question."""
    before: tuple[PageQuestion, ...] = ()
    after: tuple[PageQuestion, ...] = ()

    def asking(self, settings: Mapping[str, Any]) -> StudyKind:
        """The kind with what a study's file asks, as `StudyDesign.settings` has it, checked before."""
        fields = Fields(settings, "", Problems())
        questions: dict[str, Any] = {name: read_questions(fields, name) for name in ASKED if fields.has(name)}
        looks = {name: settings[name] for name in ("shows_image", "has_pairs") if name in settings}
        return replace(self, **questions, **looks)

    def contents(self, item: Fields) -> list[Content]:
        """The pages that one item of the file becomes."""
        content = self._content(item, is_check=False)
        for name in ("pair", "b_system", "c_system", "category") if "b" in content else ():
            if item.take(name) is not None:
                content[name] = item.text(name)
        if item.has("inclusion"):
            content["inclusion"] = item.number("inclusion", 1.0, 1e-6, 1e6)
        if self.has_several_pages:
            return [{"a": reference, **content} for reference in item.texts("references")]
        if self.forms:
            content["references"] = item.texts("references", optional=self.forms != ("b",))
        return [content]

    def check(self, item: Fields) -> tuple[Content, Any]:
        """The page of a question with a known answer, and that answer."""
        content = {"a": item.text("a")} if self.has_several_pages else {}
        content |= self._content(item, is_check=True)
        if len(self.questions) == 1:
            return content, self.questions[0].expected(item, "answer", content)
        with item.inside("answer") as answer:
            answers = {
                question.name: question.expected(answer, question.name, content)
                for question in self.questions
                if answer.has(question.name)
            }
            if not answers:
                item.wrong("answer", f"no known answer; there are the questions {', '.join(self.by_name)}")
        return content, answers

    def _content(self, item: Fields, *, is_check: bool) -> Content:
        content: Content = {"a": item.text("a")} if "a" in self.forms and item.has("a") else {}
        form = next(iter(self.forms), "")
        if len(self.forms) > 1:
            form = next((name for name in self.forms if name != "a" and item.has(name)), form)
        if form == "b":
            content["b"], content["c"] = item.text("b"), item.text("c")
        elif form == "caption":
            content["sets"] = [{"system": item.text("system", ""), "captions": [item.text("caption")]}]
        elif form == "sets":
            content["sets"] = item.entries("sets", self._set, least=2)
            sets, images = content["sets"], images_of(content)
            if len(set(map(name_of, sets))) < len(sets) or len(images) not in (0, len(sets)):
                item.wrong("sets", "each set needs a system of its own, or each an image_id of its own")
        needs_image = self.shows_image or (self.has_several_pages and not is_check)
        if item.has("image_id") or (needs_image and not images_of(content)):
            content = {"image_id": item.name("image_id"), **content}
        captions = len(captions_of(content))
        for question in self.questions:
            least, most = question.least_captions, len(LETTERS) if question.about == "all" else MOST_CAPTIONS
            if not least <= captions <= most:
                item.wrong("sets", f"the question {question.name} is about {least} to {most} captions of a page")
        return content

    def _set(self, fields: Fields, _: int) -> Content:
        least = 2 if self.forms == ("sets",) else 1
        image = {"image_id": fields.name("image_id")} if least == 1 and fields.has("image_id") else {}
        return {"system": fields.text("system"), "captions": fields.texts("captions", least=least), **image}

    @property
    def by_name(self) -> dict[str, PageQuestion]:
        """The questions by name, as forms and exports have it."""
        return {question.name: question for question in self.questions}

    @property
    def main(self) -> PageQuestion:
        """The question that the statistics are of: the first whose answers are ratings or choices of captions."""
        return next((question for question in self.questions if question.is_rating), self.questions[0])

    @property
    def result(self) -> str:
        """What the answers become: pairs, ratings, or sentences, which are references."""
        if isinstance(self.main, Choice) and self.has_pairs:
            return "pairs"
        return "sentences" if isinstance(self.main, ImageSentence) and not self.forms else "ratings"

    def page_questions(self, content: Content) -> tuple[PageQuestion, ...]:
        """The questions of a page; `content` of questions to everybody says which they are."""
        return {"before": self.before, "after": self.after}.get(content.get("asks", ""), self.questions)

    def reply(self, question: PageQuestion, answer: Any) -> Any:
        """What somebody answered to one of the questions of a page."""
        return answer[question.name] if len(self.questions) > 1 or question not in self.questions else answer

    def read(self, content: Content, form: Form, order: Sequence[int]) -> Any:
        """The answer of a form, as JSON; see `PageQuestion.read`. Raises `AnswerError`."""
        questions = self.page_questions(content)
        answers = {question.name: question.read(content, form, order) for question in questions}
        return answers if len(questions) > 1 or questions is not self.questions else answers[questions[0].name]

    def _parts(self, value: Any) -> dict[str, Any]:
        """An answer, or a known one, by the questions' names; where there is one question, it is that of this one."""
        return value if len(self.questions) > 1 else {self.questions[0].name: value}

    def is_correct(self, expected: Any, answer: Any) -> bool:
        """Whether an answer to a check is the known one."""
        parts = self._parts(answer)
        return all(self.by_name[name].is_correct(answer, parts[name]) for name, answer in self._parts(expected).items())

    def explain(self, content: Content, expected: Any) -> list[str]:
        """The known answer of a practice question, as lines to show to the person."""
        answers = [(self.by_name[name], part) for name, part in self._parts(expected).items()]
        lines = [(question, line) for question, part in answers for line in question.explain(content, part)]
        return [f"{question.text} {line}" if len(self.questions) > 1 else line for question, line in lines]

    def luck(self, content: Content, expected: Any) -> float:
        """The probability that an answer at random is the known one."""
        return prod(self.by_name[name].luck(content, answer) for name, answer in self._parts(expected).items())

    def right_option(self, expected: Any) -> int | None:
        """The option that is right where `expected` is one option, so that its place can be balanced."""
        answer = self._parts(expected or {}).get(self.main.name)
        return LETTERS.index(answer) if isinstance(self.main, Choice) and answer in tuple(LETTERS) else None

    def fingerprint(self, answer: Any) -> str | None:
        """What answers share that say the same in writing; None if the same answer may come again."""
        return self.questions[0].fingerprint(answer) if len(self.questions) == 1 else None


_CHOOSE = Choice(name="choice")
_EXPERT = (
    "It is unrelated to the image.",
    "It is somewhat related to the image.",
    "It describes the image with minor errors.",
    "It describes the image without any errors.",
)
_LIKERT = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
_RATE = (
    "You will see an image and a sentence that is meant to describe it. Look at the image, read the sentence, and rate "
    "the sentence, not the image."
)
# Vedantam et al., 2015, appendix I.
_PAIRWISE = StudyKind(
    name="pairwise",
    title="Compare descriptions of images",
    question="Which sentence describes the image better?",
    instructions="You will see an image and two sentences. Look at the image, read both, and choose the sentence that "
    "describes it better.",
    questions=(_CHOOSE,),
    forms=("b",),
    has_pairs=True,
    judgments=11,
)


def _scale_of(name: str, labels: Sequence[str], asks: str = "") -> Scale:
    """A scale from 1, with a text at each point."""
    points = tuple(float(place) for place in range(1, len(labels) + 1))
    return Scale(name=name, text=asks, labels=tuple(labels), points=points)


KINDS: dict[str, StudyKind] = {
    kind.name: kind
    for kind in (
        # Vedantam et al., 2015 (CIDEr), section 3: no image, and no definition of similarity.
        StudyKind(
            name="triplet",
            title="Compare sentences",
            question="Which of the two sentences is more similar to the first one?",
            instructions="You will see one sentence, and two more below it. Choose the one of the two that is more "
            "similar to the first. There is no right or wrong: go by your own impression.",
            questions=(_CHOOSE,),
            forms=("b",),
            has_pairs=True,
            shows_image=False,
            has_several_pages=True,
        ),
        _PAIRWISE,
        replace(
            _PAIRWISE,
            name="pairwise-equal",
            instructions=_PAIRWISE.instructions + " If neither is better, say so.",
            questions=(
                Choice(name="choice", extra_choices={"tie": "Both are equally good", "unsure": "I cannot tell"}),
            ),
        ),
        # Wang and Chan, 2019; the definition is that of their footnote 4.
        StudyKind(
            name="diversity",
            title="Rate the diversity of descriptions",
            question="How diverse are the descriptions in each set?",
            instructions="You will see an image and several sets of sentences that describe it. Read all sets first. "
            "Then rate how diverse each set is. Diversity refers to different words, phrases, sentence structures, "
            "semantics or other factors that impact diversity.",
            questions=(Scale(name="score", points=tuple(round(0.1 * step, 6) for step in range(11))),),
            forms=("sets",),
            seconds=4.0,
            advice=("From 0, not diverse at all, to 1, as diverse as possible. Read all sets before you rate.",),
        ),
        # Vedantam et al., 2015, section 5.
        StudyKind(
            name="collection",
            title="Describe images",
            question="Describe what is going on in the image.",
            instructions="You will see an image. Describe what is going on in it, in one sentence. Be objective: say "
            "only what can be seen. Give the main aspects, as others would say them, so that somebody could tell this "
            "image from similar ones. Write no dialogue, and do not tell what the people may think or feel. Sentences "
            "of poor grammar are rejected.",
            questions=(ImageSentence(name="sentence"),),
            judgments=50,
            seconds=6.0,
            advice=(
                "Say only what can be seen, and the main things first.",
                "As others would say it, so that this image can be told from similar ones.",
                "One sentence, good grammar, no dialogue, no guesses about feelings.",
            ),
        ),
        # Hodosh, Young and Hockenmaier, 2013 (Flickr8k-Expert).
        StudyKind(
            name="expert",
            title="Rate descriptions of images",
            question="How well does the sentence describe the image?",
            instructions=_RATE,
            questions=(_scale_of("score", _EXPERT),),
            forms=("caption", "sets"),
        ),
        StudyKind(
            name="likert",
            title="Rate descriptions of images",
            question="The sentence is a good description of the image.",
            instructions=_RATE,
            questions=(_scale_of("score", _LIKERT),),
            forms=("caption", "sets"),
        ),
        # The scales of the Linguistic Data Consortium for machine translation (2005).
        StudyKind(
            name="adequacy-fluency",
            title="Rate descriptions of images",
            question="Rate the sentence twice.",
            instructions=_RATE + " Say how much of what the image shows is in it, and how good its language is; these "
            "are two different things.",
            questions=(
                _scale_of(
                    "adequacy",
                    ("Nothing", "Little", "Much", "Most", "Everything"),
                    "How much of what matters in the image does the sentence say?",
                ),
                _scale_of(
                    "fluency",
                    ("Incomprehensible", "Poor", "Not like a native speaker’s", "Good", "Flawless"),
                    "How good is its language?",
                ),
            ),
            forms=("caption", "sets"),
            seconds=2.0,
        ),
        StudyKind(
            name="questions",
            title="Questions about descriptions",
            question="Please answer.",
            instructions="Read everything that a page shows, then answer its questions.",
            questions=(_CHOOSE,),  # those of the file
            forms=("a", "b", "caption", "sets"),
        ),
    )
}
"""The kinds of study by name."""
