"""Judge: what a language model says of captions, asked over an endpoint.

Chan, Petryk, Gonzalez, Darrell, Canny, *CLAIR: Evaluating Image Captions with Large Language Models* (EMNLP 2023) ask
for a rating with references. Lee, Park, Kang, *FLEUR: An Explainable Reference-Free Evaluation Metric for Image
Captioning Using a Large Multimodal Model* (ACL 2024) ask with the image, and take the mean of the digits that could
have stood in the answer, weighted by their probabilities. Zheng et al., *Judging LLM-as-a-Judge with MT-Bench and
Chatbot Arena* (NeurIPS 2023) compare two answers in both orders.

    Judge(rating)   = score / 100
    Judge(image)    = Σ_d p(d) · d, digit after digit
    Judge(pairwise) = mean over the other systems and both orders of: won 1, tie 1/2, lost 0
    Judge(rubric)   = items that the caption says / items, over all images

The prompts are our own: see docs/reference/metrics/judge.md.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from sacrecap.corpus.corpus import Corpus
from sacrecap.data.source import reading
from sacrecap.errors import SacrecapError, UsageError, option, spelled
from sacrecap.metrics.base import PythonMetric, Ready, Status, Totals
from sacrecap.metrics.declared import parameter, spell
from sacrecap.metrics.statements import decided, items_of, prepared, rubric_of
from sacrecap.resources.needs import Needs, WorkShare
from sacrecap.resources.replies import Answer, Steps, after_thoughts, values
from sacrecap.resources.rubrics import lacks_rubric, signed

if TYPE_CHECKING:
    from sacrecap.resources.endpoint import Endpoint, Question

Asked: TypeAlias = Literal["rating", "image", "pairwise", "pairwise-image", "rubric", "rubric-rest"]
ASKED: tuple[Asked, ...] = get_args(Asked)
"""What a judge can be asked."""
_PLACES: dict[Asked, tuple[str, ...]] = {
    "rating": ("caption", "references"),
    "image": ("caption",),
    "pairwise": ("first", "second", "references"),
    "pairwise-image": ("first", "second"),
    "rubric": ("caption", "items"),
    "rubric-rest": ("caption", "items"),
}
"""The places of each prompt."""


class Prompt(NamedTuple):
    """A text with places, such as `{caption}`."""

    text: str
    name: str
    """Its name in signatures: `rating-1`, or the file's name; then a checksum of the text."""

    def filled(self, **values: str | Sequence[str]) -> str:
        """The text that the model reads: each place is filled once, with JSON, which no caption can end."""
        places = "|".join(values)
        return re.sub(rf"\{{({places})\}}", lambda place: json.dumps(values[place[1]], ensure_ascii=False), self.text)


def prompt(question: Asked, file: str) -> Prompt:
    """The prompt in that file; `default` is ours. Raises `UsageError` for a text without a place that it needs."""
    if file == "default":
        name = f"{question.removesuffix('-rest')}-1"
        text = files("sacrecap.resources").joinpath(f"judge/{name}.txt").read_text("utf-8")
    else:
        with reading(file):
            text = Path(file).read_text("utf-8")
        name = Path(file).name
        lacking = [place for place in _PLACES[question] if f"{{{place}}}" not in text]
        if lacking:
            places = ", ".join(f"{{{place}}}" for place in _PLACES[question])
            lacks = f"it lacks {{{lacking[0]}}} (sacrecap metrics judge --prompt {question} prints ours)"
            raise UsageError(f"{file}: a prompt for judge({question}) has a place for each of {places}; {lacks}")
    return Prompt(text, f"{name}@{zlib.crc32(text.encode()):08x}")


_ALTERNATIVES = 20
"""The most that endpoints tell."""
_MISSING = ("refused", "failed", "cut", "unreadable")
"""Why there is no answer that can be read: the model did not want to, none came, it was cut, or says something else."""


class Judge(PythonMetric):
    """What a language model says of captions; corpus score = mean."""

    asked: Asked = parameter(
        "what the judge does: rate by references, rate by the image, compare with other systems by references or by "
        "the image, look for the items of a rubric, or for those that rules leave open",
        default="rating",
        choices=ASKED,
        bare=True,
    )
    prompt: str = parameter("the text that asks: ours, or a file with the same places", default="default", kind=str)
    temperature: float = parameter("how freely the judge answers", default=0.0, least=0.0, most=2.0)
    tokens: int = parameter(
        "most tokens of an answer; a judge that thinks first needs more", default=256, least=1, most=1_000_000
    )

    title = "Judge"
    summary = "A language model says that the caption is right."
    source = "Chan et al., EMNLP 2023; Lee et al., ACL 2024; Zheng et al., NeurIPS 2023"
    cites = ("chan2023clair", "lee2024fleur", "zheng2023judging")
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0, without asking; compared with another empty one 0.5",
        "empty reference": "it is left out",
        "equal captions": "0.5 where two are compared, without asking",
        "no answer that can be read": "no score, never 0",
    }
    resolved = ("prompt",)
    no_score_where = "the judge refused to answer, or its answer cannot be read"

    @property
    def equation(self) -> str:  # type: ignore[override]
        mean = "mean over the other systems and both orders of: won 1, tie 1/2, lost 0"
        formulas = {"rating": "score / 100", "image": "Σ_d p(d) d, digit after digit", "rubric": "items said / items"}
        return f"Judge({self.asked}) = {formulas.get(self.asked.removesuffix('-rest'), mean)}"

    @property
    def is_comparing(self) -> bool:
        """Whether the judge compares two captions."""
        return self.asked.startswith("pairwise")

    @property
    def sees_image(self) -> bool:
        """Whether the judge sees the image; else it reads references."""
        return self.asked in ("image", "pairwise-image")

    @property
    def checks_items(self) -> bool:
        """Whether the judge looks for the items of a rubric."""
        return self.asked.startswith("rubric")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        shows = ("images",) if self.sees_image else ("rubric",) if self.checks_items else ("references",)
        return (*shows, "judge", *(("rivals",) if self.is_comparing else ()))

    def status(self, needs: Needs) -> Status:
        """A judge costs money: without an endpoint of the call nothing is asked."""
        if "judge" not in needs:
            return Status.left_out(f"it {_lacks_endpoint()}")
        if self.sees_image and "images" not in needs:
            return Status.left_out(f"it {_lacks_images()}")
        if self.checks_items and "rubric" not in needs:
            return Status.left_out(f"it {lacks_rubric()}")
        return Status()

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Asks the judge about every caption. Raises `SacrecapError` also where too many answers cannot be read."""
        endpoint: Endpoint | None = needs.get("judge")
        if endpoint is None:
            raise UsageError(f"{self.label} {_lacks_endpoint()}")
        text = prompt(self.asked, self.named_or("prompt", needs.get("judge_prompt")))
        cases = (self._about_items if self.checks_items else self._about_captions)(corpus, needs, text)
        questions = [question for case in cases for question in case.questions]
        progress = needs.progress
        tell = progress and (lambda share: progress(WorkShare(share, f"asking {endpoint.model} ({endpoint.usage})")))
        answers = endpoint.ask(questions, progress=tell)
        heard = iter(answers)
        for case in cases:
            case.read = [_read(query, next(heard)) for query in case.questions]
        if len(answers) >= 20:  # of fewer, any share may be missing: a batch of a reward, an example
            self._check_answered(cases, answers, endpoint)
        rubric = (signed(rubric_of(needs, self.label)),) if self.checks_items else ()

        def pictures() -> dict[str, int]:
            from sacrecap.resources.image_files import digest_of_pictures

            return digest_of_pictures(needs, needs.images(corpus))

        signature = (*self._signature(text, endpoint, questions, answers), *rubric)
        return Ready(corpus._core, signature=signature, digests=pictures if self.sees_image else dict, own=cases)

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """Score, whether there is one, and by `_MISSING` the answers that are not; of comparisons also counts
        of pairs: all, decided by the order alone, for the first and for the second one, decided by what they say, and
        of these won by the longer one, and with one that is longer. Of rubrics the number of items in the place of
        whether there is a score, and those that are contradicted, and not mentioned.
        """
        row = Case.checked if self.checks_items else Case.compared if self.is_comparing else Case.rated
        return [row(case) for case in ready.own]

    def formula(self, sums: Sequence[float]) -> float:
        return sums[0] / sums[1] if sums[1] else 0.0

    def row_formula(self, row: Sequence[float]) -> float:
        return row[0] / row[1] if row[1] else float("nan")

    def notes(self, statistics: Totals) -> list[str]:
        """How many answers are missing, and what decided comparisons."""
        stated, all_, refused, failed, cut, unreadable, *more = map(int, statistics.sums())
        notes = []
        if refused or failed or cut or unreadable:
            missing = self._missing(refused, failed, cut, unreadable)
            notes.append(f"{self.label}: {missing}; these have no score by them.")
        if self.checks_items and all_:
            contradicted, unmentioned = more
            decided_items = stated + contradicted
            right = f", {stated / decided_items:.4f} of those that it speaks of" if decided_items else ""
            rest = f"{contradicted:,} contradicted, {unmentioned:,} not mentioned"
            notes.append(f"{self.label}: of {all_:,} items {stated:,} are said{right}, {rest}.")
        if self.is_comparing and more[0]:
            all_, first, second, longer, unequal = more
            pairs = f"{first + second:,} of {all_:,} pairs"
            order = f"in {pairs} the order alone decided ({first:,} for the first, {second:,} for the second)"
            length = f"of {unequal:,} pairs that were decided in both orders and differ in length"
            notes.append(f"{self.label}: {order}; {length}, the longer caption won {longer:,}.")
        return notes

    def _missing(self, refused: int, failed: int, cut: int, unreadable: int) -> str:
        """Says how many answers are not there, and why."""
        text = f"{refused:,} answers were refused and {unreadable + cut:,} could not be read"
        text += f", of which {cut:,} were cut at {self.tokens:,} tokens" if cut else ""
        return f"{text}, and {failed:,} requests had no answer" if failed else text

    def _about_items(self, corpus: Corpus, needs: Needs, text: Prompt) -> list[Case]:
        """All items of an image in one question, or those that rules leave open; an empty caption says nothing."""
        rubric = items_of(corpus, rubric_of(needs, self.label), needs)
        rules = prepared(corpus, rubric) if self.asked == "rubric-rest" else None
        cases = []
        for number, (image, items) in enumerate(zip(corpus.image_ids, rubric, strict=True)):
            for place, candidate in enumerate(corpus.given(image)[0]):
                by_rule = decided(rules, (number, place)).answers if rules else (None,) * len(items)
                by_rule = by_rule if candidate.strip() else ("not mentioned",) * len(items)
                open_items = [item for item, answer in zip(items, by_rule, strict=True) if answer is None]
                filled = text.filled(caption=candidate, items=open_items)
                queries = [self._question(filled, None, items=len(open_items))] if open_items else []
                cases.append(Case(image, queries, known=[word for word in by_rule if word]))
        return cases

    def _about_captions(self, corpus: Corpus, needs: Needs, text: Prompt) -> list[Case]:
        """A question for each caption that says something; of comparisons two for each other caption of the image."""
        rivals: Mapping[str, Corpus] = needs.get("rivals") or {} if self.is_comparing else {}
        if self.is_comparing and not rivals:
            several = "compares the captions of several systems: sacrecap compare, or sacrecap.compare"
            raise UsageError(f"{self.label} {several}; judge(rating) and judge(image) score one caption")
        pictures: dict[str, Callable[[], bytes]] = {}
        if self.sees_image:
            if "images" not in needs:
                raise UsageError(f"{self.label} {_lacks_images()}")
            from sacrecap.resources.image_files import files_of_images

            images = needs.images(corpus)
            files = files_of_images(needs, images)
            pictures = {image: files[key].read for image, key in zip(corpus.image_ids, images, strict=True)}
        cases = []
        for image in corpus.image_ids:
            candidates, references = corpus.given(image)
            references = [reference for reference in references if reference.strip()]
            more = {} if self.sees_image else {"references": references}
            can_be_asked = self.sees_image or bool(references)
            rival_texts = [rival.given(image)[0][0] for rival in rivals.values() if rival is not corpus]
            for caption in candidates:
                pairs, filled = [], []
                for rival in rival_texts:
                    is_asked = can_be_asked and caption != rival and bool(caption.strip() and rival.strip())
                    pairs.append((caption, rival, is_asked))
                    for first, second in ((caption, rival), (rival, caption)) if is_asked else ():
                        filled.append(text.filled(first=first, second=second, **more))
                if not self.is_comparing and can_be_asked and caption.strip():
                    filled.append(text.filled(caption=caption, **more))
                cases.append(Case(image, [self._question(words, pictures.get(image)) for words in filled], pairs))
        return cases

    def _question(self, text: str, picture: Callable[[], bytes] | None, items: int = 0) -> Question:
        from sacrecap.resources.endpoint import Question

        read: Callable[..., object] = rating
        if items:
            read = partial(checked, items=items)
        elif self.is_comparing:
            read = verdict
        elif self.sees_image:
            read = number
        return Question(
            text,
            images=() if picture is None else (picture,),
            tokens=self.tokens + 8 * items,
            temperature=self.temperature,
            alternatives=_ALTERNATIVES if self.asked == "image" else 0,
            reads=partial(read, question=text),
        )

    def _check_answered(self, cases: list[Case], answers: Sequence[Answer], endpoint: Endpoint) -> None:
        """Raises `SacrecapError` where too many answers are missing for the others to stand for all."""
        missing = [case.image for case in cases if {*_MISSING} & {*map(str, case.read)}]
        if len(missing) <= endpoint.unanswered * len(cases):
            return
        read = [value for case in cases for value in case.read]
        heard, why = next((reply.text, value) for reply, value in zip(answers, read, strict=True) if value in _MISSING)
        who = endpoint.url if why == "failed" else "the judge"
        counts = (read.count(reason) for reason in _MISSING)
        raise SacrecapError(
            f"{self.label}: {len(missing):,} of {len(cases):,} captions, such as that of image {missing[0]!r}, have "
            f"no answer that can be read ({self._missing(*counts)}), and the others may not stand for them; {who} said "
            f"{' '.join(heard.split())[:200]!r}: take another judge, another prompt or more tokens, or allow a larger "
            f"share with {spelled(python='unanswered=SHARE', command='--judge-settings unanswered=SHARE')}"
        )

    def _signature(
        self, text: Prompt, endpoint: Endpoint, questions: Sequence[Question], answers: Sequence[Answer]
    ) -> tuple[str, ...]:
        """The prompt, the model as the endpoint names it, and what the endpoint could not do."""
        heard = [(question, answer) for question, answer in zip(questions, answers, strict=True) if answer.model]
        model = next(iter(endpoint.models), endpoint.model)
        without = sorted({name for _, answer in heard for name in answer.without if name != "max_tokens"})
        more = [f"extra:{spell(json.dumps(endpoint.extra, sort_keys=True))}"] if endpoint.extra else []
        if self.sees_image and endpoint.image_size:
            more.append(f"image-size:{endpoint.image_size}")
        if self.asked == "image":  # how numbers were told, and by how many alternatives, if not by all
            ways = [is_expected(answer, question.text) for question, answer in heard]
            words = [word for way, word in ((True, "expectation"), (False, "number")) if way in ways]
            steps = ((answer.alternatives, answer.steps) for _, answer in heard if answer.steps)
            most = max((number or max(len(ends) for _, ends in places) for number, places in steps), default=0)
            more.append(f"by:{'+'.join(words) or 'number'}")
            more += [f"alternatives:{most}"] if True in ways and most < _ALTERNATIVES else []
        lacking = [f"without:{spell('+'.join(without))}"] if without else []
        return (f"prompt:{text.name}", f"model:{model}", *more, *lacking)


def _read(question: Question, answer: Answer) -> float | str | list[str]:
    """What was said, or in a word why there is nothing."""
    if answer.end in ("refused", "unasked"):
        return answer.end
    if answer.end == "error":
        return "failed"
    value: Any = question.reads(answer) if question.reads else None
    return ("cut" if answer.end == "length" else "unreadable") if value is None else value


@dataclass
class Case:
    """A caption, what is asked about it, and what was answered."""

    image: str
    questions: list[Question]
    pairs: Sequence[tuple[str, str, bool]] = ()
    """The caption with that of each other system, and whether the judge is asked to compare the two."""
    known: Sequence[str] = ()
    """The answers to those items of a rubric that are not asked."""
    read: Sequence[Any] = ()
    """Of each question a number, a list of answers, or in a word why there is nothing."""

    def _missing(self) -> list[float]:
        return [float(self.read.count(why)) for why in _MISSING]

    def rated(self) -> list[float]:
        """The row of a rating."""
        score = self.read[0] if self.read else 0.0
        return [0.0, 0.0, *self._missing()] if isinstance(score, str) else [score, 1.0, *self._missing()]

    def checked(self) -> list[float]:
        """The row of a rubric."""
        if self.read and isinstance(self.read[0], str):
            return [0.0, 0.0, *self._missing(), 0.0, 0.0]
        answers: list[str] = [*self.known, *chain.from_iterable(self.read)]
        right, contradicted, unmentioned = (float(answers.count(word)) for word in RUBRIC)
        return [right, float(len(answers)), *self._missing(), contradicted, unmentioned]

    def compared(self) -> list[float]:
        """The row of comparisons with every other system."""
        shares: list[float] = []
        all_ = first = second = longer = unequal = 0
        read = iter(self.read)
        verdicts = zip(read, read, strict=True)
        for caption, other, is_asked in self.pairs:
            if not is_asked:
                says, other_says = bool(caption.strip()), bool(other.strip())
                shares.append(0.5 if says == other_says else float(says))
                continue
            own_first, other_first = next(verdicts)
            if isinstance(own_first, str) or isinstance(other_first, str):
                continue
            all_ += 1
            won = {0: 0.5, 1: 1.0, 2: 0.0}[int(own_first)], {0: 0.5, 1: 0.0, 2: 1.0}[int(other_first)]
            shares.append(sum(won) / 2)
            first += own_first == other_first == 1
            second += own_first == other_first == 2
            lengths = len(caption.split()), len(other.split())
            if won[0] == won[1] != 0.5 and lengths[0] != lengths[1]:
                unequal += 1
                longer += (lengths[0] > lengths[1]) == (won[0] == 1.0)
        score = [sum(shares) / len(shares), 1.0] if shares else [0.0, 0.0]
        return [*score, *self._missing(), *map(float, (all_, first, second, longer, unequal))]


def _lacks_endpoint() -> str:
    place = spelled(python="judge=sacrecap.Endpoint(URL, MODEL)", command="--judge-url URL --judge-model NAME")
    return f"asks a language model, at your cost: give {place}"


def _lacks_images() -> str:
    return f"shows the judge the images: give {option('images', 'DIR')}"


T = TypeVar("T")
RUBRIC = ("yes", "no", "not mentioned")
"""What is answered to an item."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%]|\.\d)")
_VERDICTS = {"1": 1, "2": 2, "tie": 0, "description 1": 1, "description 2": 2}
_BEFORE_THE_END = re.compile(r"[01]?(?:\.\d*)?")


def rating(answer: Answer, question: str = "") -> float | None:
    """The score of a JSON object, 0 to 100, as a number from 0 to 1; `question` is the text that was asked, in all."""
    return _only(answer, question, "score", _score)


def _score(value: object) -> float | None:
    if isinstance(value, str):
        written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*100|%|out of 100)?\s*", value)
        value = float(written[1]) if written else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        return None
    return value / 100


def verdict(answer: Answer, question: str = "") -> int | None:
    """Which description is better, 1 or 2; 0 for neither."""
    return _only(answer, question, "better", lambda value: _VERDICTS.get(str(value).strip().lower()))


def checked(answer: Answer, items: int, question: str = "") -> list[str] | None:
    """The answer to each item of a rubric: `yes`, `no` or `not mentioned`."""

    def read(value: object) -> list[str] | None:
        item_answers = [str(item_answer).strip().lower() for item_answer in value] if isinstance(value, list) else []
        return item_answers if len(item_answers) == items and {*item_answers} <= {*RUBRIC} else None

    return _only(answer, question, "answers", read)


def _text_of(answer: Answer, question: str) -> str:
    """What the judge says itself, behind its thoughts."""
    text = answer.text
    for part in (question.strip(), question.strip().rpartition("\n\n")[2]):
        if len(part) >= 60:  # a shorter one may be the judge's own
            text = text.replace(part, " ")
    return after_thoughts(text)


def _only(answer: Answer, question: str, name: str, read: Callable[[object], T | None]) -> T | None:
    """The value of that name in the answer's JSON objects; None if there is none, or several that differ.

    A model may quote a caption that holds such an object before it gives its own: which is which, nobody can tell.
    """
    text = _text_of(answer, question)
    if answer.end == "length" and not re.match(r"\s*(?:```\w*\s*)?\{", text):
        return None
    contents = [read(value) for value in values(text, name)]
    return contents[0] if contents and all(value == contents[0] for value in contents) else None


def number(answer: Answer, question: str = "") -> float | None:
    """The one number of the answer, from 0 to 1: the expected one, if the endpoint told the probabilities of tokens."""
    text = _text_of(answer, question)
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or not 0 <= float(numbers[0][0]) <= 1 or answer.end == "length":
        return None
    expected = _expected(answer.steps, numbers[0][0])
    return float(numbers[0][0]) if expected is None else expected


def is_expected(answer: Answer, question: str = "") -> bool | None:
    """Whether the number is an expected one; None where there is no number."""
    if number(answer._replace(steps=()), question) is None:
        return None
    return _expected(answer.steps, _NUMBER.findall(_text_of(answer, question))[0]) is not None


def _expected(steps: Steps, number: str) -> float | None:
    """The mean of the numbers that could have stood there, weighted by the probabilities of their tokens.

    From the last token of the number to the first: an alternative of as many digits goes on as the number did, on
    average; another one is a number of its own.
    """
    start = "".join(token for token, _ in steps).rfind(number)
    place, rest, whole = 0, 0.0, None
    spans = []
    for token, alternatives in steps:
        if place < start + len(number) and place + len(token) > start >= 0:
            spans.append((number[: max(place - start, 0)], number[: place + len(token) - start], alternatives))
        place += len(token)
    for before, written, alternatives in reversed(spans):
        texts = [(p, before + alternative.strip()) for alternative, p in alternatives]
        values = [(p, _value(text, written, rest)) for p, text in texts if text and _BEFORE_THE_END.fullmatch(text)]
        total = sum(p for p, _ in values)
        if not total:
            return None
        whole = sum(p * value for p, value in values) / total
        rest = whole - _as_float(before)
    return None if whole is None else min(whole, 1.0)


def _value(text: str, written: str, rest: float) -> float:
    """The number that begins with the text, where the answer's begins with `written`, and `rest` follows on average."""
    if text.startswith("1"):
        return 1.0
    if written.startswith("1"):
        return 0.95  # the middle of 0.90 to 1.00, the answers nearest to 1 that begin with 0
    digits, digits_of_answer = (len(number.partition(".")[2]) for number in (text, written))
    return _as_float(text) + (rest if digits == digits_of_answer else 0.0)


def _as_float(text: str) -> float:
    return float(text) if text.strip(".") else 0.0
