"""A language model behind an OpenAI-compatible endpoint: several questions at once, each of them paid for once.

    endpoint = Endpoint("http://localhost:8000/v1", "qwen2.5-vl")
    [answer] = endpoint.ask([Question("What is in the image?", images=(file.read,))])

Every answer is written to a database before it is counted, under the endpoint, the model, the text, the parameters and
the bytes of the images: who is interrupted goes on where it stopped, and another model never gets the answer of this
one. The requests, the waiting and the retries are those of the official client, the package `openai`.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import ipaddress
import json
import math
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from sacrecap.data.places import in_cache
from sacrecap.errors import SacrecapError, UsageError, of_extra, option, warn, whole_number
from sacrecap.resources.cache import Cache

if TYPE_CHECKING:
    import openai

PROVIDER = "api.openai.com"
"""The host that OPENAI_API_KEY belongs to."""
ATTEMPTS = 8
"""How often a request is repeated that was refused for the moment, met a fault of the server, or got no answer."""
BYTES_A_TOKEN = 3
TOKENS_AN_IMAGE = 1500
"""What is expected of a request before its tokens are known: on the high side, so that a budget holds."""
_SENT = {"host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent"}
"""Headers that are sent. The client adds others, some of them from variables of the environment."""


@dataclass(frozen=True)
class Question:
    """One request to a model."""

    text: str
    images: tuple[Callable[[], bytes], ...] = ()
    """Read each image's file; its bytes are sent as they are."""
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
    model: str
    """The model, as the endpoint names it."""
    end: str
    """`stop`; `length` for an answer that was cut; `refused`; `error` for a request that the endpoint does not accept;
    `unasked` in a dry run.
    """
    tokens_in: int = 0
    tokens_out: int = 0
    steps: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()
    """Each token of the text, with the tokens that could have stood there and their probabilities."""
    without: tuple[str, ...] = ()
    """Parameters that the endpoint does not know, so that the question was asked without them."""


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
    """Requests that the endpoint did not accept, such as images that are too large."""
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
            *([f"{self.failed:,} not accepted"] if self.failed else []),
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
        unanswered: the largest share of questions without an answer that can be read; with more, a metric has no
            result. It counts from 20 questions on.
        timeout: seconds to wait for an answer.
        dry_run: asks nothing, and counts what would be asked.
        answers: the database of answers; by default in the user's cache folder.

    Raises:
        UsageError: an address, a price or a number that cannot be used.
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
        unanswered: float = 0.1,
        timeout: float = 300.0,
        dry_run: bool = False,
        answers: str | None = None,
    ) -> None:
        self.url, self.model, self.key_env = _checked_url(url), model, key_env
        self.price = price
        self.budget, self.counts_tokens = _read_budget(budget, price)
        self.at_once = whole_number("at_once", at_once, 1)
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
        self._without: set[str] = set()
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
            MissingDependencyError: the package `openai` is not installed.
            UsageError: there is no key, or it may not be sent to this address.
            SacrecapError: the endpoint refuses all requests or none is answered, the budget is spent, or answers are
                of several models. What was answered is kept.
        """
        digests = [self._digest(question) for question in questions]
        wanted = dict(zip(digests, questions, strict=True))
        kept = _Kept(self.answers or in_cache("answers.sqlite"), f"{self.url} {self.model}")
        found = kept.find(list(wanted))
        self.usage.kept += len(found.keys() - self._seen)
        self._seen |= found.keys()
        rest = {digest: question for digest, question in wanted.items() if digest not in found}
        if self.dry_run:
            for question in rest.values():
                self._count(UNASKED._replace(tokens_in=question.expected_tokens[0], tokens_out=question.tokens))
            found.update(dict.fromkeys(rest, UNASKED))
        else:
            for share, (digest, answer) in enumerate(self._asked(rest, kept), 1):
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

    def _digest(self, question: Question) -> bytes:
        """What identifies a question to this endpoint and model."""
        images = [hashlib.sha256(_content(image)).hexdigest() for image in question.images]
        text = json.dumps([question.text, question.parameters, images], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    def _asked(self, questions: dict[bytes, Question], kept: _Kept) -> Iterator[tuple[bytes, Answer]]:
        """The answers as they come. Each is in the database before it is told."""
        if not questions:
            return
        from concurrent.futures import ThreadPoolExecutor, as_completed

        over = threading.Event()
        with self._opened() as client:

            def answer(digest: bytes, question: Question) -> Answer:
                if over.is_set():
                    return UNASKED
                try:
                    with self._reserving(question):
                        found = self._answer(client, question)
                        self._keep(kept, digest, found)
                        self._count(found)
                except BaseException:
                    over.set()  # no other one is begun, until the call ends with this error
                    raise
                return found

            pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="endpoint")
            running = {pool.submit(answer, digest, question): digest for digest, question in questions.items()}
            try:
                for done in as_completed(running):
                    yield running[done], done.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _keep(self, kept: _Kept, digest: bytes, answer: Answer) -> None:
        """Returns when the answer is in the database. Those that wait for their turn are written together."""
        if answer.end == "error":
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

    def _opened(self) -> openai.OpenAI:
        """A client with the key and nothing else of the environment, to be closed."""
        with of_extra("judge", "asking a language model"):
            import openai
        self._secret = self._key()
        is_plain = self.url.startswith("http:")
        http = openai.DefaultHttpxClient(
            follow_redirects=False,
            trust_env=not is_plain,  # a proxy would get what is sent to this machine in clear
            event_hooks={"request": [self._strip]},
        )
        return openai.OpenAI(
            base_url=self.url,
            api_key=self._secret or "none",
            max_retries=ATTEMPTS,
            timeout=self.timeout,
            http_client=http,
        )

    def _strip(self, request: Any) -> None:
        """Sends only the headers that a request needs, and counts what is asked again."""
        with self._changed:
            self.usage.retries += request.headers.get("x-stainless-retry-count", "0") != "0"
        for name in list(request.headers):
            if name.lower() not in _SENT:
                del request.headers[name]
        if self._secret is not None:
            request.headers["authorization"] = f"Bearer {self._secret}"

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

    def _answer(self, client: openai.OpenAI, question: Question) -> Answer:
        """The answer to a question.

        Raises `SacrecapError` where nobody would be answered.
        """
        import openai

        for _ in range(ATTEMPTS):
            try:
                said = client.chat.completions.create(**self._request(question))
                return _read(said, question, tuple(sorted(self._without)))
            except openai.APIStatusError as error:
                if error.status_code in (400, 422) and self._does_without(error, question):
                    continue
                if error.status_code in (400, 413, 422):
                    return self._failed(error)
                raise SacrecapError(self._told(error)) from None
            except openai.APIConnectionError as error:  # timeouts, too
                raise SacrecapError(self._told(error)) from None
            except (openai.APIError, ValueError, TypeError, AttributeError, LookupError) as error:
                broken = error  # what came is no answer of this protocol
        raise SacrecapError(f"{self.url} sent {ATTEMPTS} answers that cannot be read: {self._clean(broken)}")

    def _request(self, question: Question) -> dict[str, Any]:
        parameters = {name: value for name, value in question.parameters.items() if name not in self._without}
        if "max_tokens" in self._without:
            parameters["max_completion_tokens"] = question.tokens
        content: str | list[dict[str, Any]] = question.text
        if question.images:
            pictures = [{"type": "image_url", "image_url": {"url": _as_url(_content(one))}} for one in question.images]
            content = [*pictures, {"type": "text", "text": question.text}]
        return {"model": self.model, "messages": [{"role": "user", "content": content}], **parameters}

    def _does_without(self, error: openai.APIStatusError, question: Question) -> bool:
        """Whether the endpoint refuses a parameter that the question can be asked without; the next one is."""
        said = f"{getattr(error, 'param', '')} {error}"
        refused = {name for name in question.parameters if re.search(rf"\b{name}\b", said)}
        if refused & {"logprobs", "top_logprobs"}:
            refused |= {"logprobs", "top_logprobs"}
        with self._changed:
            is_new = bool(refused - self._without)
            self._without |= refused
        return is_new

    def _failed(self, error: openai.APIStatusError) -> Answer:
        if getattr(error, "code", None) in ("content_filter", "content_policy_violation"):
            return Answer("", "", "refused")
        if not self.usage.failed:
            warn(f"{self.url} did not accept a request: {self._clean(error)}")
        return Answer("", "", "error")

    def _told(self, error: openai.APIError) -> str:
        """A message for an error that ends the call."""
        status = getattr(error, "status_code", None)
        remedy = {
            401: f"give the key with {option('key_env', 'NAME', flag='--judge-key-env')}",
            403: f"give a key that may use this model with {option('key_env', 'NAME', flag='--judge-key-env')}",
            404: "look at the address, which ends in /v1, and at the name of the model",
        }.get(status or 0, "what was answered is kept: run it again to go on")
        if status is not None and 300 <= status < 400:
            remedy = "give the address to which it redirects, if you trust it"
        return f"{self.url} does not answer: {self._clean(error)}; {remedy}"

    def _clean(self, error: Exception) -> str:
        """The message of an error on one line, without the key."""
        text = " ".join((str(error) or type(error).__name__).split())[:300]
        return text.replace(self._secret, "…") if self._secret else text


def _read(said: Any, question: Question, without: tuple[str, ...]) -> Answer:
    """The answer as the protocol has it. Raises `LookupError`, `TypeError` or `AttributeError` for anything else."""
    choice = said.choices[0]
    message, usage = choice.message, said.usage
    text = message.content or ""
    is_refused = bool(getattr(message, "refusal", None)) or choice.finish_reason == "content_filter"
    steps = tuple(
        (place.token, tuple((one.token, math.exp(one.logprob)) for one in place.top_logprobs or ()))
        for place in (choice.logprobs.content if choice.logprobs else None) or ()
    )
    tokens = usage and (usage.prompt_tokens, usage.completion_tokens)
    tokens_in, tokens_out = tokens or (question.expected_tokens[0], len(text.encode()) // BYTES_A_TOKEN)
    end = "refused" if is_refused else "length" if choice.finish_reason == "length" else "stop"
    return Answer(text, str(said.model), end, int(tokens_in), int(tokens_out), steps, without)


class _Kept(Cache[bytes, Answer]):
    """Answers, by the digest of the question, within the endpoint and the model."""

    what: ClassVar[str] = "answers"
    table: ClassVar[str] = "answers"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "question BLOB", "answer TEXT")

    def stored(self, value: Answer) -> str:
        return json.dumps(value)

    def loaded(self, stored: str) -> Answer:
        text, model, end, tokens_in, tokens_out, steps, without = json.loads(stored)
        read = tuple((token, tuple((other, p) for other, p in others)) for token, others in steps)
        return Answer(text, model, end, tokens_in, tokens_out, read, tuple(without))

    def failure(self, error: Exception, remedy: str, *, writing: bool) -> None:  # noqa: ARG002
        """Answers cost money: nothing is asked whose answer cannot be kept."""
        raise SacrecapError(f"{self.path}: answers cannot be kept there ({error}): {remedy}") from error


_reading = threading.Lock()
"""Members of a tar file are read one at a time."""


def _content(image: Callable[[], bytes]) -> bytes:
    with _reading:
        return image()


_KINDS = {b"\x89PNG": "png", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp", b"II*\0": "tiff", b"MM\0*": "tiff"}
"""The first bytes of image files; others are JPEG."""


def _as_url(content: bytes) -> str:
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), "jpeg")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


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
