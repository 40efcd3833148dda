"""A language model behind an OpenAI-compatible endpoint: several questions at once, each of them paid for once.

    endpoint = Endpoint("http://localhost:8000/v1", "qwen2.5-vl")
    [answer] = endpoint.ask([Question("What is in the image?", images=(file.read,))])

Every answer is written to a database before it is counted, under the endpoint, the model, the text,
the parameters and the bytes of the images: who is interrupted goes on where it stopped, and another model never gets
the answer of this one. What comes is read in `replies`, when to wait and when to give up is decided in
`patience`, what it costs is counted in `spending`. Images are sent as endpoints take them, and no larger than one wants
to pay for.
"""

from __future__ import annotations

import base64
import hashlib
import io
import ipaddress
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field
from queue import SimpleQueue
from typing import Any, ClassVar
from urllib.parse import urlsplit

from sacrecap.data.cache import Cache
from sacrecap.data.source import in_cache
from sacrecap.data.thumbnails import check_pillow, thumbnail
from sacrecap.errors import DataError, SacrecapError, UsageError, of_extra, option, some, spelled, warn, whole_number
from sacrecap.resources import patience
from sacrecap.resources.replies import BYTES_A_TOKEN, Answer, Less, Reply, received, refused_parameters
from sacrecap.resources.spending import Spending

TOKENS_AN_IMAGE = 1500
"""What is expected of an image, on the high side, so that a budget holds."""
_REPEATS = 2
"""How often a question is asked whose answer is empty, or cannot be read."""


@dataclass(frozen=True)
class Question:
    """One request to a model."""

    text: str
    images: tuple[Callable[[], bytes], ...] = ()
    """Read each image's file; its bytes are sent as they are, if they are PNG, JPEG, GIF or WebP."""
    _: KW_ONLY
    tokens: int = 256
    """The most tokens of the answer."""
    temperature: float = 0.0
    top_p: float = 1.0
    """Below 1, words are drawn among the fewest likeliest whose probabilities reach this."""
    alternatives: int = 0
    """How many tokens with their probabilities are wanted at each place of the answer; some endpoints tell them."""
    seed: int | None = None
    """Sent as the seed of the model: another one is another question, so that a model can be asked several times."""
    reads: Callable[[Answer], object] | None = field(default=None, compare=False)
    """Returns None for an answer that cannot be read: if it is there from before, it is asked for once more."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the request."""
        optional: dict[str, Any] = {"top_p": self.top_p} if self.top_p < 1 else {}
        optional |= {"logprobs": True, "top_logprobs": self.alternatives} if self.alternatives else {}
        optional |= {} if self.seed is None else {"seed": self.seed}
        return {"max_tokens": self.tokens, "temperature": self.temperature, **optional}

    @property
    def expected_tokens(self) -> tuple[int, int]:
        """The tokens of the request, about, and the most of the answer."""
        return len(self.text.encode()) // BYTES_A_TOKEN + TOKENS_AN_IMAGE * len(self.images) + 16, self.tokens


class Endpoint:
    """A model behind an OpenAI-compatible endpoint: vLLM, SGLang, Ollama, a cloud.

    Args:
        url: the address up to `/v1`, such as `http://localhost:8000/v1`.
        model: its name there.
        key_env: the variable of the environment that holds the key. Without, OPENAI_API_KEY goes to its own host,
            api.openai.com, and nothing to any other. No key is sent over plain http but to this machine itself.
        price: of a million tokens in, and of a million out, in any currency.
        budget: what may be spent, in the currency of the price, or a number of tokens: `5`, `"200000 tokens"`. A
            request that could exceed it is not made: the call ends with an error, and what was answered is kept.
        at_once: how many requests are made at the same time.
        per_minute: how many are made in a minute, where the endpoint takes only so many; None: it says when to wait.
        extra: parameters of the server, sent as they are: `{"reasoning_effort": "low"}`, `{"chat_template_kwargs":
            {"enable_thinking": False}}`. They are part of the question and of signatures.
        image_size: the longest side of an image in pixels; larger ones are made smaller. None: as they are.
        unanswered: the largest share of questions without an answer that can be read; with more, a metric has no
            result. It counts from 20 questions on.
        timeout: seconds to wait for one answer.
        dry_run: asks nothing, and counts what would be asked.
        answers: the database of answers; by default in the user's cache folder.

    Raises:
        UsageError: an address, a price, a number or a parameter that cannot be used.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key_env: str | None = None,
        price: tuple[float, float] | None = None,
        budget: float | str | None = None,
        at_once: int = 8,
        per_minute: float | None = None,
        extra: Mapping[str, object] | None = None,
        image_size: int | None = None,
        unanswered: float = 0.1,
        timeout: float = 300.0,
        dry_run: bool = False,
        answers: str | None = None,
    ) -> None:
        self.url, self.model, self.key_env = checked_url(url), model, key_env
        self.price, self.budget = price, budget
        self.at_once = whole_number("at_once", at_once, 1)
        if per_minute is not None and not 0 < per_minute < math.inf:
            raise UsageError(f"per_minute is a number of requests above 0, got {per_minute!r}")
        try:
            parameters = json.loads(json.dumps(extra or {}, allow_nan=False))
        except (TypeError, ValueError):
            parameters = None
        if not isinstance(parameters, dict):
            form = 'an object of JSON, {"reasoning_effort": "low"}'
            raise UsageError(f"extra takes parameters as {form}, got {extra!r}")
        for name in parameters.keys() & {"model", "messages", "stream", "n"}:
            raise UsageError(f"extra: {name} is sacrecap's to set; leave it out")
        self.per_minute, self.extra = per_minute, parameters
        self.image_size = None if image_size is None else whole_number("image_size", image_size, 1)
        self.unanswered, self.timeout, self.dry_run, self.answers = unanswered, timeout, dry_run, answers
        self._begin()

    def _begin(self) -> None:
        self._spending = Spending(self.budget, self.price, dry_run=self.dry_run)
        self.usage = self._spending.usage
        self.models: set[str] = set()
        """The names that the endpoint gave its model."""
        self._counted: set[bytes] = set()
        """The questions that are in the usage."""
        self._less: Less = {}
        """What the endpoint refused of requests that it answered without."""
        self._learning = threading.Lock()
        self._pace = patience.Pace(self.per_minute)

    def __getstate__(self) -> dict[str, Any]:
        """The settings."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()
        if self.budget is not None:
            self._spending.limit = 0.0  # one process alone can keep it

    def __repr__(self) -> str:
        return f"<Endpoint: {self.model} at {self.url}>"

    def ask(self, questions: Sequence[Question], *, progress: Callable[[float], object] | None = None) -> list[Answer]:
        """The answers, in the order of the questions; equal questions are one.

        `progress` is called with the finished share.

        Raises:
            MissingDependencyError: a package of the extra `judge` is not installed.
            UsageError: there is no key, or it may not be sent to this address.
            SacrecapError: the endpoint refuses all requests or none is answered, the budget is spent, or answers are
                of several models. What was answered is kept.
        """
        digests = self._digests(questions)
        by_digest = dict(zip(digests, questions, strict=True))
        database = KeptAnswers(self.answers or in_cache("answers.sqlite"), f"{self.url} {self.model}")
        answers = database.find(list(by_digest))
        old = set() if self.dry_run else answers.keys() - self._counted
        again = {digest for digest in old if _is_asked_again(by_digest[digest], answers[digest])}
        rest = {digest: question for digest, question in by_digest.items() if digest in again or digest not in answers}
        old = answers.keys() - again
        self.usage.kept += len(old - self._counted)
        self._counted |= old
        if self.dry_run:
            for digest, question in rest.items():
                self._spending.count(Answer("", "", "unasked", *question.expected_tokens))
                answers[digest] = Answer("", "", "unasked")
        elif rest:
            for share, (digest, answer) in enumerate(self._answers_to(rest, again, database), 1):
                if answer.end != "error" or digest not in again:
                    answers[digest] = answer
                self._counted.add(digest)
                if progress is not None:
                    progress(share / len(rest))
        self.models |= {answer.model for answer in answers.values() if answer.model}
        if len(self.models) > 1:
            names = f"{self.url} answered as several models for {self.model}: {', '.join(sorted(self.models))}"
            raise SacrecapError(f"{names}; their scores cannot be compared: name one of these as the model")
        return [answers[digest] for digest in digests]

    def _digests(self, questions: Iterable[Question]) -> list[bytes]:
        """What identifies each question to this endpoint and model. Raises `DataError` for images that none takes."""
        digests, unknown = [], []
        how = {name: value for name in ("extra", "image_size") if (value := getattr(self, name))}
        for question in questions:
            hashes = []
            for image in question.images:
                file = read_image(image)
                kind = kind_of(file)
                if kind not in SENT or self.image_size:
                    check_pillow()
                unknown += [] if kind else [name_of(image)]
                hashes.append(hashlib.sha256(file).hexdigest())
            text = json.dumps([question.text, question.parameters, hashes, *([how] if how else [])], sort_keys=True)
            digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        if unknown:
            accepted = "a model is shown PNG, JPEG, GIF, WebP, BMP and TIFF"
            names = f"{some(list(dict.fromkeys(unknown)))}: no image file of a known format"
            raise DataError(f"{names}; {accepted}: convert them, or leave their captions out")
        return digests

    def _answers_to(
        self, questions: dict[bytes, Question], again: set[bytes], database: KeptAnswers
    ) -> Iterator[tuple[bytes, Answer]]:
        """The answers as they come. Each is in the database before it is told."""
        from concurrent.futures import ThreadPoolExecutor

        self._pace.begin()
        with closing(_Call(self, len(questions))) as call:

            def answer(digest: bytes, question: Question) -> None:
                try:
                    with self._spending.reserving(*question.expected_tokens):
                        came = self._answer(call, question)
                        if digest in again:
                            came = came._replace(times=_REPEATS)
                        database.add(digest, came)
                        self._spending.count(came)
                    call.events.put((digest, came))
                except patience.Over:
                    pass
                except BaseException as error:  # noqa: BLE001
                    call.over.set()  # no other one is begun, until the call ends with this error
                    call.events.put(error)

            pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="endpoint")
            try:
                for digest, question in questions.items():
                    pool.submit(answer, digest, question)
                while call.left:
                    event = call.events.get()
                    if isinstance(event, BaseException):
                        raise event
                    if isinstance(event, str):
                        warn(event)
                    else:
                        call.left -= 1
                        yield event
            finally:
                call.over.set()
                pool.shutdown(cancel_futures=True)

    def _answer(self, call: _Call, question: Question) -> Answer:
        """Raises `SacrecapError` where nobody would be answered, `patience.Over` where nobody waits for the answer."""
        less, empty = dict(self._less), None
        trial = patience.Trial(patience.clock())
        while True:
            self._pace.turn(trial, call.over)
            parameters = self._parameters(question, less)
            reply = call.post(question, parameters)
            if reply.answer is not None:
                self._pace.answered()
                with self._learning:
                    self._less |= less
                most = parameters.get("top_logprobs", 0)
                without = tuple(sorted(name for name, number in less.items() if number is None))
                fewer = most if most < question.alternatives else 0
                answer = reply.answer._replace(without=without, alternatives=fewer)
                if empty is not None:
                    answer = answer._replace(
                        tokens_in=answer.tokens_in + empty.tokens_in, tokens_out=answer.tokens_out + empty.tokens_out
                    )
                if answer.text.strip() or answer.end != "stop" or empty is not None:
                    return answer
                empty = answer
            elif reply.kind in ("refused", "unfit"):
                self._pace.answered()
                refused = refused_parameters(reply, parameters) if reply.status in (400, 422) else {}
                refused = {name: number for name, number in refused.items() if name not in self.extra}
                if not refused:
                    return Answer("", "", "refused") if reply.kind == "refused" else self._failed(call, reply)
                less |= refused
            else:
                under_way = len(self._spending.reserved)
                verdict = self._pace.verdict(reply, trial, under_way=under_way, left=call.left)
                if verdict == "call ends":
                    raise SacrecapError(self._refusal(call, reply))
                if verdict == "given up":
                    return self._failed(call, reply)
                if self._pace.put_off(reply, trial) >= patience.WORTH_A_WORD and reply.kind != "odd":
                    setting = spelled(python="per_minute=N", command="--judge-settings per-minute=N")
                    hint = f"; where it takes only so many requests in a minute, {setting} spaces them"
                    words = f"({call.clean(reply.words)}): waiting for it{hint * (reply.kind == 'busy')}"
                    call.tell("waiting", f"{self.url} does not answer for the moment {words}")
            self._spending.count_retry()

    def _parameters(self, question: Question, less: Less) -> dict[str, Any]:
        sent = {**question.parameters}
        if "max_tokens" in less:
            sent["max_completion_tokens"] = question.tokens
        for name in less.keys() & sent.keys():
            number = less[name]
            if number is None:
                del sent[name]
            else:
                sent[name] = min(number, sent[name])
        return {**sent, **self.extra}

    def _failed(self, call: _Call, reply: Reply) -> Answer:
        words = call.clean(reply.words)
        what = "accept" if reply.kind == "unfit" else "answer"
        call.tell("failed", f"{self.url} did not {what} a request: {words}")
        return Answer(words, "", "error")

    def _refusal(self, call: _Call, reply: Reply) -> str:
        key = option("key_env", "NAME", flag="--judge-key-env")
        remedy = {
            **dict.fromkeys(range(300, 400), "give the address to which it redirects, if you trust it"),
            401: f"give the key with {key}",
            403: f"give a key that may use this model with {key}",
            404: "look at the address, which ends in /v1, and at the name of the model",
        }.get(reply.status, "what was answered is kept: run it again to go on")
        return f"{self.url} does not answer: {call.clean(reply.words)}; {remedy}"


class KeptAnswers(Cache[bytes, Answer]):
    """Answers, by the digest of the question, within the endpoint and the model."""

    what: ClassVar[str] = "answers"
    table: ClassVar[str] = "answers"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "question BLOB", "answer TEXT")
    replaces: ClassVar[bool] = True

    def __init__(self, path: str, scope: str) -> None:
        super().__init__(path, scope)
        self._writing, self._queueing = threading.Lock(), threading.Lock()
        self._unwritten: dict[bytes, Answer] = {}

    def add(self, digest: bytes, answer: Answer) -> None:
        """Returns when the answer, if it is one, is in the database. Those that wait for it are written together."""
        if answer.end == "error" or (answer.end == "stop" and not answer.text.strip()):
            return
        with self._queueing:
            self._unwritten[digest] = answer
        with self._writing:
            with self._queueing:
                together, self._unwritten = self._unwritten, {}
            self.keep(together)

    def stored(self, value: Answer) -> str:
        return json.dumps(value)

    def loaded(self, stored: str) -> Answer | None:
        parts = json.loads(stored)
        if len(parts) != len(Answer._fields):
            return None
        answer = Answer(*parts)
        steps = tuple((token, tuple((other, p) for other, p in alternatives)) for token, alternatives in answer.steps)
        return answer._replace(steps=steps, without=tuple(answer.without))

    def failure(self, error: Exception, remedy: str, *, writing: bool) -> None:  # noqa: ARG002
        """Answers cost money: nothing is asked whose answer cannot be kept."""
        raise SacrecapError(f"{self.path}: answers cannot be kept there ({error}): {remedy}") from error


def _is_asked_again(question: Question, answer: Answer) -> bool:
    """Whether an answer from before is none that can be read, and the question was not asked again since."""
    if answer.end == "refused" or answer.times >= _REPEATS:
        return False
    return not answer.text.strip() if question.reads is None else question.reads(answer) is None


class _Call:
    """What the requests of a call have in common; its client has the key and nothing else of the environment."""

    def __init__(self, endpoint: Endpoint, left: int) -> None:
        with of_extra("judge", "asking a language model"):
            import httpx2
        self._endpoint = endpoint
        self.left = left
        """How many questions are neither answered nor given up."""
        self.events: SimpleQueue[tuple[bytes, Answer] | str | BaseException] = SimpleQueue()
        """Answers as they come, words for the user, and errors that end the call."""
        self.over = threading.Event()
        self._words: dict[str, str] = {}
        self._key = key_for(endpoint.url, endpoint.key_env)

        def signed(request: Any) -> Any:
            if self._key is not None:
                request.headers["authorization"] = f"Bearer {self._key}"
            return request

        self._client = httpx2.Client(
            timeout=endpoint.timeout,
            headers={"user-agent": "sacrecap"},
            auth=signed,  # in the place of a .netrc
            trust_env=not endpoint.url.startswith("http:"),  # a proxy would get what is sent to this machine in clear
            limits=httpx2.Limits(max_connections=endpoint.at_once),
        )
        self.close = self._client.close

    def post(self, question: Question, parameters: Mapping[str, Any]) -> Reply:
        """What is replied to a question that is asked with these parameters."""
        import httpx2

        content: str | list[dict[str, Any]] = question.text
        if question.images:
            try:
                side = self._endpoint.image_size
                files = [sendable(read_image(image), name_of(image), side) for image in question.images]
            except DataError as error:
                return Reply("unfit", str(error))
            urls = [f"data:image/{kind_of(file)};base64,{base64.b64encode(file).decode()}" for file in files]
            pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
            content = [*pictures, {"type": "text", "text": question.text}]
        body = {"model": self._endpoint.model, "messages": [{"role": "user", "content": content}], **parameters}
        try:
            response = self._client.post(f"{self._endpoint.url}/chat/completions", json=body)
        except httpx2.TransportError as error:
            cause = "no answer in time" if isinstance(error, httpx2.TimeoutException) else "Connection error"
            return Reply("down", f"{cause}: {error}")
        except httpx2.DecodingError as error:
            return Reply("odd", str(error), 200)
        headers, tokens_in = response.headers, question.expected_tokens[0]
        return received(response.status_code, headers, response.content, now=time.time(), tokens_in=tokens_in)

    def tell(self, occasion: str, text: str) -> None:
        """Has the user warned, once for each occasion."""
        if self._words.setdefault(occasion, text) is text:
            self.events.put(text)

    def clean(self, words: str) -> str:
        """Words of others on one line, without the key."""
        text = " ".join(words.split())[:300]
        return text.replace(self._key, "…") if self._key else text


_reading = threading.Lock()
"""Members of a tar file are read one at a time."""
SENT = ("png", "gif", "webp", "jpeg")
"""Formats of images that endpoints take; the others are sent as PNG."""
_KIND = re.compile(
    rb"(?s)(?P<png>\x89PNG)|(?P<gif>GIF8)|(?P<webp>RIFF....WEBP)|(?P<jpeg>\xff\xd8)|(?P<bmp>BM)|(?P<tiff>II\*\0|MM\0\*)"
)


def kind_of(content: bytes) -> str | None:
    """The format of an image file, by its first bytes; None for one that is not sent."""
    match = _KIND.match(content)
    return None if match is None else match.lastgroup


def sendable(content: bytes, name: str, side: int | None) -> bytes:
    """The file as it is sent: converted, if endpoints do not take its format; made smaller, if a side is longer.

    Raises `DataError`, beginning with the name, for a broken one, `MissingDependencyError` without Pillow.
    """
    kind = kind_of(content)
    if kind in SENT:
        if side is None:
            return content
        check_pillow()
        from PIL import Image

        try:
            with Image.open(io.BytesIO(content)) as image:
                if max(image.size) <= side:
                    return content
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise DataError(f"{name}: cannot be read: {error}") from None
    return thumbnail(content, name, side or 1 << 20, kind="JPEG" if kind == "jpeg" else "PNG")


def read_image(image: Callable[[], bytes]) -> bytes:
    """The file of an image."""
    with _reading:
        return image()


def name_of(image: Callable[[], bytes]) -> str:
    """The name of an image's file, in messages."""
    return str(getattr(getattr(image, "__self__", None), "name", "an image"))


def checked_url(url: str) -> str:
    """The address without a slash at its end. Raises `UsageError` for one that is no server's, or has a key in it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"the address of a model begins with http:// or https://, got {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        setting = option("key_env", "NAME", flag="--judge-key-env")
        remedy = f"give the key in a variable of the environment, with {setting}"
        raise UsageError(f"the address of a model at {parts.hostname} has a name, a key or a question in it; {remedy}")
    return url.rstrip("/")


def key_for(url: str, key_env: str | None = None) -> str | None:
    """The key for an endpoint, of this variable; None for one that gets none.

    Raises `UsageError` for a variable that is not set, and for a key that would go over plain http.
    """
    parts = urlsplit(url)
    name = key_env or ("OPENAI_API_KEY" if parts.hostname == "api.openai.com" else None)
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"{url} needs a key, and the variable {name} is not set; set it to the key")
    try:
        is_this_machine = ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_this_machine = parts.hostname == "localhost"
    if parts.scheme == "http" and not is_this_machine:
        danger = f"the key of {name} would go to {parts.hostname} over plain http, where others can read it"
        raise UsageError(f"{danger}; give an address that begins with https://")
    return key
