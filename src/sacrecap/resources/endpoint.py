"""A language model behind an OpenAI-compatible endpoint: several questions at once, each of them paid for once.

    endpoint = Endpoint("http://localhost:8000/v1", "qwen2.5-vl")
    [answer] = endpoint.ask([Question("What is in the image?", images=(file.read,))])

Every answer is written to a database before it is counted, under the endpoint, the model, the text, the parameters and
the bytes of the images: who is interrupted goes on where it stopped, and another model never gets the answer of this
one. What comes is read in `replies`, when to wait and when to give up is decided in `patience`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from sacrecap.data.places import in_cache
from sacrecap.data.thumbnails import check_pillow
from sacrecap.errors import DataError, SacrecapError, UsageError, of_extra, option, some, spelled, warn, whole_number
from sacrecap.resources import patience
from sacrecap.resources.cache import Cache
from sacrecap.resources.replies import Reply, Steps, received, said
from sacrecap.resources.sendable_images import as_url, is_known, is_taken, sendable

if TYPE_CHECKING:
    import httpx2

PROVIDER = "api.openai.com"
"""The host that OPENAI_API_KEY belongs to."""
BYTES_A_TOKEN = 3
TOKENS_AN_IMAGE = 1500
"""What is expected of a request before its tokens are known: on the high side, so that a budget holds."""
_REPEATS = 2
"""How often a question is asked whose answer is empty, or cannot be read."""
_FEWER = 5
"""The alternatives that are asked for where an endpoint tells fewer than are wanted, and not how many."""
_OURS = ("model", "messages", "stream", "n")
"""Parameters that no user gives: answers would be of another form."""
Less: TypeAlias = "dict[str, int | None]"
"""Parameters that an endpoint refuses, and what is sent in their place: another number, or nothing."""


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
        wanted = {"logprobs": True, "top_logprobs": self.alternatives} if self.alternatives else {}
        seed = {} if self.seed is None else {"seed": self.seed}
        nucleus = {"top_p": self.top_p} if self.top_p < 1 else {}
        return {"max_tokens": self.tokens, "temperature": self.temperature, **nucleus, **wanted, **seed}

    @property
    def expected_tokens(self) -> tuple[int, int]:
        """The tokens of the request, about, and the most of the answer."""
        return len(self.text.encode()) // BYTES_A_TOKEN + TOKENS_AN_IMAGE * len(self.images) + 16, self.tokens


class Answer(NamedTuple):
    """What the endpoint said."""

    text: str
    """The model's words; of an `error` those of the endpoint, which says why."""
    model: str
    """The model, as the endpoint names it."""
    end: str
    """`stop`; `length` for an answer that was cut; `refused`; `error` for a request that got no answer; `unasked` in a
    dry run.
    """
    tokens_in: int = 0
    tokens_out: int = 0
    steps: Steps = ()
    """Each token of the text, with the tokens that could have stood there and their probabilities."""
    without: tuple[str, ...] = ()
    """Parameters that the endpoint does not know, so that the question was asked without them."""
    alternatives: int = 0
    """How many tokens it tells at each place, where these are fewer than were wanted."""
    times: int = 1
    """How often the question was asked."""


UNASKED = Answer("", "", "unasked")


@dataclass
class Usage:
    """What an endpoint was asked, and what it cost; tokens of a dry run are expected ones."""

    dry_run: bool = False
    asked: int = 0
    """Requests that were answered; of a dry run, those that would be made."""
    kept: int = 0
    """Answers that were there from before."""
    refused: int = 0
    failed: int = 0
    """Requests without an answer: not accepted, such as images that are too large, or met by faults alone."""
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None
    """None without a price."""

    def __bool__(self) -> bool:
        """Whether there was anything to ask."""
        return self.asked + self.kept > 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON of results."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        most, about = ("at most ", "about ") if self.dry_run else ("", "")
        said = [
            *(["dry run, nothing was asked"] if self.dry_run else []),
            f"{self.asked:,} requests, {about}{self.tokens_in:,} tokens in, {most}{self.tokens_out:,} out",
            *([] if self.money is None else [f"{most}{_spelled(self.money)} in money"]),
            *([f"{self.refused:,} refused"] if self.refused else []),
            *([f"{self.failed:,} not answered"] if self.failed else []),
            *([f"{self.kept:,} answers were there from before"] if self.kept else []),
        ]
        return "; ".join(said)


def _spelled(money: float) -> str:
    return f"{money:,.6f}".rstrip("0").rstrip(".")


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
        self.url, self.model, self.key_env = _checked_url(url), model, key_env
        self.price = price
        self.budget, self.counts_tokens = _read_budget(budget, price)
        self.at_once = whole_number("at_once", at_once, 1)
        self.per_minute, self.extra = _checked_rate(per_minute), _checked_extra(extra)
        self.image_size = None if image_size is None else whole_number("image_size", image_size, 1)
        self.unanswered, self.timeout, self.dry_run, self.answers = unanswered, timeout, dry_run, answers
        self._begin()

    def _begin(self) -> None:
        self.usage = Usage(self.dry_run, money=None if self.price is None else 0.0)
        self.models: set[str] = set()
        """The names that the endpoint gave its model."""
        self._changed = threading.Condition()
        """Guards what requests count and reserve."""
        self._reserved: list[float] = []
        self._seen: set[bytes] = set()
        """The questions that were counted."""
        self._writing = threading.Lock()
        self._unwritten: dict[bytes, Answer] = {}
        self._less: Less = {}
        """What the endpoint refused of requests that it answered without."""
        self._pace = patience.Pace(self.per_minute)
        self._secret: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The settings. Of a budget nothing is left: one process alone can keep it."""
        settings = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**settings, "budget": self.budget and 0.0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

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
        wanted = dict(zip(digests, questions, strict=True))
        kept = _Kept(self.answers or in_cache("answers.sqlite"), f"{self.url} {self.model}")
        found = kept.find(list(wanted))
        rest = {digest: question for digest, question in wanted.items() if digest not in found}
        if not self.dry_run:
            unread = found.keys() - self._seen
            rest |= {digest: wanted[digest] for digest in unread if _is_asked_again(wanted[digest], found[digest])}
        old = found.keys() - rest.keys()
        self.usage.kept += len(old - self._seen)
        self._seen |= old
        if self.dry_run:
            for question in rest.values():
                self._count(UNASKED._replace(tokens_in=question.expected_tokens[0], tokens_out=question.tokens))
            found.update(dict.fromkeys(rest, UNASKED))
        else:
            for share, (digest, answer) in enumerate(self._asked(rest, found, kept), 1):
                if answer.end != "error" or digest not in found:
                    found[digest] = answer
                self._seen.add(digest)
                if progress is not None:
                    progress(share / len(rest))
        self._check_one_model(found.values())
        return [found[digest] for digest in digests]

    def _check_one_model(self, answers: Iterable[Answer]) -> None:
        self.models |= {answer.model for answer in answers if answer.model}
        if len(self.models) > 1:
            raise SacrecapError(
                f"{self.url} answered as several models for {self.model}: {', '.join(sorted(self.models))}; their "
                "scores cannot be compared: name one of these as the model"
            )

    def _digests(self, questions: Iterable[Question]) -> list[bytes]:
        """What identifies each question to this endpoint and model. Raises `DataError` for images that none takes."""
        digests, unknown = [], []
        how = {name: value for name in ("extra", "image_size") if (value := getattr(self, name))}
        for question in questions:
            images = [_content(image) for image in question.images]
            for one, read in zip(question.images, images, strict=True):
                if not is_taken(read) or self.image_size:
                    check_pillow()
                unknown += [] if is_known(read) else [_name(one)]
            hashes = [hashlib.sha256(read).hexdigest() for read in images]
            text = json.dumps([question.text, question.parameters, hashes, *([how] if how else [])], sort_keys=True)
            digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        if unknown:
            raise DataError(
                f"{some(list(dict.fromkeys(unknown)))}: no image file of a known format; a model is shown PNG, JPEG, "
                "GIF, WebP, BMP and TIFF: convert them, or leave their captions out"
            )
        return digests

    def _asked(
        self, questions: dict[bytes, Question], found: Mapping[bytes, Answer], kept: _Kept
    ) -> Iterator[tuple[bytes, Answer]]:
        """The answers as they come. Each is in the database before it is told."""
        if not questions:
            return
        from concurrent.futures import ThreadPoolExecutor

        told: SimpleQueue[tuple[bytes, Answer] | str | BaseException] = SimpleQueue()
        with self._opened() as client:
            call = _Call(client, len(questions), threading.Event(), told.put)

            def answer(digest: bytes, question: Question) -> None:
                try:
                    with self._reserving(question):
                        came = self._answer(call, question)
                        if digest in found:
                            came = came._replace(times=_REPEATS)
                        self._keep(kept, digest, came)
                        self._count(came)
                    told.put((digest, came))
                except patience.Over:
                    pass
                except BaseException as error:  # noqa: BLE001
                    call.over.set()  # no other one is begun, until the call ends with this error
                    told.put(error)

            pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="endpoint")
            try:
                for digest, question in questions.items():
                    pool.submit(answer, digest, question)
                while call.left:
                    came = told.get()
                    if isinstance(came, BaseException):
                        raise came
                    if isinstance(came, str):
                        warn(came)
                    else:
                        call.left -= 1
                        yield came
            finally:
                call.over.set()
                pool.shutdown(cancel_futures=True)

    def _keep(self, kept: _Kept, digest: bytes, answer: Answer) -> None:
        """Returns when the answer is in the database. Those that wait for their turn are written together."""
        if answer.end == "error" or (answer.end == "stop" and not answer.text.strip()):
            return
        with self._changed:
            self._unwritten[digest] = answer
        with self._writing:
            with self._changed:
                together, self._unwritten = self._unwritten, {}
            kept.keep(together)

    def _count(self, answer: Answer) -> None:
        with self._changed:
            usage = self.usage
            usage.asked += 1
            usage.refused += answer.end == "refused"
            usage.failed += answer.end == "error"
            usage.tokens_in += answer.tokens_in
            usage.tokens_out += answer.tokens_out
            if self.price is not None:
                usage.money = self._money(usage.tokens_in, usage.tokens_out)

    def _money(self, tokens_in: int, tokens_out: int) -> float:
        price_in, price_out = self.price or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6

    @contextmanager
    def _reserving(self, question: Question) -> Iterator[None]:
        """Within the block, the budget has room for the request. Waits for running ones, which may leave some."""
        tokens = question.expected_tokens
        expected = float(sum(tokens)) if self.counts_tokens else self._money(*tokens)
        with self._changed:
            while self.budget is not None and self._spent() + sum(self._reserved) + expected > self.budget:
                if not self._reserved:
                    raise SacrecapError(self._broke())
                self._changed.wait()
            self._reserved.append(expected)
        try:
            yield
        finally:
            with self._changed:
                self._reserved.remove(expected)
                self._changed.notify_all()

    def _spent(self) -> float:
        usage = self.usage
        return float(usage.tokens_in + usage.tokens_out) if self.counts_tokens else usage.money or 0.0

    def _broke(self) -> str:
        if self.budget == 0:
            return "a budget is kept by one process; leave it out where several ask, or score in one process"
        unit = " tokens" if self.counts_tokens else ""
        return (
            f"the budget of {self.budget:g}{unit} has no room for another request ({self.usage}); what was answered is "
            f"kept: give a larger one to go on"
        )

    def _opened(self) -> httpx2.Client:
        """A client with the key and nothing else of the environment, to be closed."""
        with of_extra("judge", "asking a language model"):
            import httpx2
        self._secret = self._key()
        return httpx2.Client(
            timeout=self.timeout,
            headers={"user-agent": "sacrecap"},
            auth=self._signed,  # in the place of a .netrc
            trust_env=not self.url.startswith("http:"),  # a proxy would get what is sent to this machine in clear
            limits=httpx2.Limits(max_connections=self.at_once),
        )

    def _signed(self, request: Any) -> Any:
        if self._secret is not None:
            request.headers["authorization"] = f"Bearer {self._secret}"
        return request

    def _key(self) -> str | None:
        """The key for this endpoint; None for one that gets none.

        Raises `UsageError` for a variable that is not set, and for a key that would go over plain http.
        """
        parts = urlsplit(self.url)
        name = self.key_env or ("OPENAI_API_KEY" if parts.hostname == PROVIDER else None)
        if name is None:
            return None
        key = os.environ.get(name, "").strip()
        if not key:
            raise UsageError(f"{self.url} needs a key, and the variable {name} is not set; set it to the key")
        if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
            raise UsageError(
                f"the key of {name} would go to {parts.hostname} over plain http, where others can read it; give an "
                "address that begins with https://"
            )
        return key

    def _answer(self, call: _Call, question: Question) -> Answer:
        """The answer to a question.

        Raises `SacrecapError` where nobody would be answered, `patience.Over` where nobody waits for it.
        """
        less, empty, now = dict(self._less), Answer("", "", "stop"), patience.clock()
        trial = patience.Trial(now, now)
        while True:
            trial.sent = self._pace.turn(call.over)
            parameters = self._parameters(question, less)
            reply = self._posted(call.client, question, parameters)
            if reply.kind == "answer":
                self._pace.answered()
                with self._changed:
                    self._less |= less
                found = self._read(reply, question, parameters, less)
                found = found._replace(
                    tokens_in=found.tokens_in + empty.tokens_in, tokens_out=found.tokens_out + empty.tokens_out
                )
                if found.text.strip() or found.end != "stop" or empty.model:
                    return found
                empty = found._replace(model=found.model or self.model)
            elif reply.kind in ("refused", "unfit"):
                self._pace.answered()
                refused = _refused(reply, parameters) - self.extra.keys() if reply.status in (400, 422) else set()
                if not refused:
                    return Answer("", "", "refused") if reply.kind == "refused" else self._failed(call, reply)
                less |= _less(reply, parameters, refused)
            else:
                under_way = len(self._reserved)
                verdict = self._pace.verdict(reply, trial, alone=under_way == 1, last=call.left <= under_way)
                if verdict == "down":
                    raise SacrecapError(self._told(reply))
                if verdict == "failed":
                    return self._failed(call, reply)
                self._wait(call, reply, trial)
            with self._changed:
                self.usage.retries += 1

    def _wait(self, call: _Call, reply: Reply, trial: patience.Trial) -> None:
        """Waits until the request may be sent again, with a word where that takes long."""
        seconds = self._pace.delay(reply, trial)
        is_long = self._pace.silence(trial) + seconds >= patience.WORTH_A_WORD
        if is_long and reply.kind in ("busy", "down") and call.is_first("waiting"):
            setting = spelled(python="per_minute=N", command="--judge-settings per-minute=N")
            hint = f"; where it takes only so many requests in a minute, {setting} spaces them" * (reply.kind == "busy")
            call.tell(f"{self.url} does not answer for the moment ({self._clean(reply.words)}): waiting for it{hint}")
        if reply.kind != "busy" and reply.after is None:
            patience.pause(seconds, call.over)

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

    def _posted(self, client: httpx2.Client, question: Question, parameters: dict[str, Any]) -> Reply:
        import httpx2

        content: str | list[dict[str, Any]] = question.text
        if question.images:
            try:
                files = [sendable(_content(image), _name(image), self.image_size) for image in question.images]
            except DataError as error:
                return Reply("unfit", str(error))
            pictures = [{"type": "image_url", "image_url": {"url": as_url(file)}} for file in files]
            content = [*pictures, {"type": "text", "text": question.text}]
        body = {"model": self.model, "messages": [{"role": "user", "content": content}], **parameters}
        try:
            response = client.post(f"{self.url}/chat/completions", json=body)
        except httpx2.TransportError as error:
            cause = "no answer in time" if isinstance(error, httpx2.TimeoutException) else "Connection error"
            return Reply("down", f"{cause}: {error}")
        except httpx2.DecodingError as error:
            return Reply("odd", str(error))
        return received(response.status_code, response.headers, response.content, time.time())

    def _read(self, reply: Reply, question: Question, parameters: dict[str, Any], less: Less) -> Answer:
        came = said(reply.document)
        without = tuple(sorted(name for name, number in less.items() if number is None))
        told = parameters.get("top_logprobs", 0)
        return Answer(
            came.text,
            came.model,
            came.end,
            question.expected_tokens[0] if came.tokens_in is None else came.tokens_in,
            len(came.text.encode("utf-8", "replace")) // BYTES_A_TOKEN if came.tokens_out is None else came.tokens_out,
            came.steps,
            without,
            told if told < question.alternatives else 0,
        )

    def _failed(self, call: _Call, reply: Reply) -> Answer:
        words = self._clean(reply.words)
        if call.is_first("failed"):
            what = "accept" if reply.kind == "unfit" else "answer"
            call.tell(f"{self.url} did not {what} a request: {words}")
        return Answer(words, "", "error")

    def _told(self, reply: Reply) -> str:
        """A message for an error that ends the call."""
        remedy = {
            401: f"give the key with {option('key_env', 'NAME', flag='--judge-key-env')}",
            403: f"give a key that may use this model with {option('key_env', 'NAME', flag='--judge-key-env')}",
            404: "look at the address, which ends in /v1, and at the name of the model",
        }.get(reply.status, "what was answered is kept: run it again to go on")
        if 300 <= reply.status < 400:
            remedy = "give the address to which it redirects, if you trust it"
        return f"{self.url} does not answer: {self._clean(reply.words)}; {remedy}"

    def _clean(self, words: str) -> str:
        """Words of others on one line, without the key."""
        text = " ".join(words.split())[:300]
        return text.replace(self._secret, "…") if self._secret else text


class _Call:
    """What the requests of a call have in common."""

    def __init__(self, client: httpx2.Client, left: int, over: threading.Event, tell: Callable[[str], object]) -> None:
        self.client, self.left, self.over, self.tell = client, left, over, tell
        self._lock = threading.Lock()
        self._told: set[str] = set()

    def is_first(self, what: str) -> bool:
        """Whether nobody told the user of it before in this call."""
        with self._lock:
            is_new = what not in self._told
            self._told.add(what)
        return is_new


def _is_asked_again(question: Question, answer: Answer) -> bool:
    """Whether an answer from before is none that can be read, and the question was not asked again since."""
    if answer.end == "refused" or answer.times >= _REPEATS:
        return False
    return not answer.text.strip() if question.reads is None else question.reads(answer) is None


def _refused(reply: Reply, sent: Mapping[str, Any]) -> set[str]:
    """The parameters, of those that were sent, which the endpoint does not want."""
    named = {name for name in sent if re.match(rf"{name}\b", reply.param)}
    return named or {name for name in sent if re.search(rf"\b{name}\b", reply.words, re.IGNORECASE)}


def _less(reply: Reply, sent: Mapping[str, Any], refused: set[str]) -> Less:
    """What is sent in the place of refused parameters. Of alternatives, as many as the endpoint says, or five."""
    told = refused & {"logprobs", "top_logprobs"}
    less: Less = dict.fromkeys(refused - told)
    if told:
        wanted = sent.get("top_logprobs", 0)
        numbers = [int(number) for number in re.findall(r"(?<![\w.])\d{1,2}(?![\w.]*\w)", reply.words)]
        fewer = max((number for number in numbers if 0 < number < wanted), default=_FEWER if wanted > _FEWER else 0)
        less |= {"top_logprobs": fewer} if fewer else {"logprobs": None, "top_logprobs": None}
    return less


class _Kept(Cache[bytes, Answer]):
    """Answers, by the digest of the question, within the endpoint and the model."""

    what: ClassVar[str] = "answers"
    table: ClassVar[str] = "answers"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "question BLOB", "answer TEXT")
    replaces: ClassVar[bool] = True

    def stored(self, value: Answer) -> str:
        return json.dumps(value)

    def loaded(self, stored: str) -> Answer | None:
        parts = json.loads(stored)
        if len(parts) != len(Answer._fields):
            return None
        answer = Answer(*parts)
        steps = tuple((token, tuple((other, p) for other, p in others)) for token, others in answer.steps)
        return answer._replace(steps=steps, without=tuple(answer.without))

    def failure(self, error: Exception, remedy: str, *, writing: bool) -> None:  # noqa: ARG002
        """Answers cost money: nothing is asked whose answer cannot be kept."""
        raise SacrecapError(f"{self.path}: answers cannot be kept there ({error}): {remedy}") from error


_reading = threading.Lock()
"""Members of a tar file are read one at a time."""


def _content(image: Callable[[], bytes]) -> bytes:
    with _reading:
        return image()


def _name(image: Callable[[], bytes]) -> str:
    """The name of an image's file, in messages."""
    return str(getattr(getattr(image, "__self__", None), "name", "an image"))


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"the address of a model begins with http:// or https://, got {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"the address of a model at {parts.hostname} has a name, a key or a question in it; give the key in a "
            f"variable of the environment, with {option('key_env', 'NAME', flag='--judge-key-env')}"
        )
    return url.rstrip("/")


def _checked_rate(per_minute: float | None) -> float | None:
    if per_minute is not None and not 0 < per_minute < math.inf:
        raise UsageError(f"per_minute is a number of requests above 0, got {per_minute!r}")
    return per_minute


def _checked_extra(extra: Mapping[str, object] | None) -> dict[str, object]:
    """The parameters. Raises `UsageError` for what is no object of JSON, and for those that are ours to set."""
    try:
        checked = json.loads(json.dumps(extra or {}, allow_nan=False))
    except (TypeError, ValueError):
        checked = None
    if not isinstance(checked, dict):
        raise UsageError(f'extra takes parameters as an object of JSON, {{"reasoning_effort": "low"}}, got {extra!r}')
    for name in checked.keys() & {*_OURS}:
        raise UsageError(f"extra: {name} is sacrecap's to set; leave it out")
    return checked


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_budget(budget: float | str | None, price: tuple[float, float] | None) -> tuple[float | None, bool]:
    """The number, and whether it is of tokens. Raises `UsageError` for another text, and for money without a price."""
    if budget is None:
        return None, False
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(tokens?)?\s*", str(budget))
    if found is None or float(found[1]) <= 0:
        raise UsageError(f"a budget is money, such as 5, or tokens, such as '200000 tokens', got {budget!r}")
    if found[2] is None and price is None:
        raise UsageError(
            "a budget of money needs the price of a million tokens in and out, too; or give it in tokens, as "
            "'200000 tokens'"
        )
    return float(found[1]), found[2] is not None
