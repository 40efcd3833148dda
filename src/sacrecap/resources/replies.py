"""What an endpoint replied: an answer, a refusal, or in its own words why there is none.

Servers depart from OpenAI's protocol in many ways: errors in the body of a 200, `choices` that are null, a text in
parts, an event stream that nobody asked for, half a count of tokens, a page of a proxy. What lies beside the text of
an answer is taken where it is right, and left aside where it is not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["answer", "refused", "unfit", "barred", "busy", "down", "odd", "closed"]
"""`refused`: the model does not want to; `unfit`: the endpoint does not accept this request; `barred`: it may not be
made, or no request may; `busy`: later; `down`: a fault; `odd`: no answer of this protocol; `closed`: no request will be
answered.
"""
Steps: TypeAlias = "tuple[tuple[str, tuple[tuple[str, float], ...]], ...]"

_BUSY = {408, 425, 429, 503, 529}
_UNFIT = {400, 409, 413, 415, 422, 451}
_FLAGGED = re.compile(
    r"content[_ ]?(?:filter|polic|management)|moderation|flagged|inspection_failed|prohibited_content|"
    r"safety (?:system|filter|polic)",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(r"insufficient_quota|billing|insufficient.(?:credit|balance)", re.IGNORECASE)
_BEGINNING = 200
"""Characters of what came, in messages."""


class Reply(NamedTuple):
    """A reply, by what it means."""

    kind: Kind
    words: str = ""
    """The endpoint's own words, where there is no answer."""
    status: int = 0
    """The status of HTTP, or the one in the body; 0 where nothing came."""
    param: str = ""
    """The parameter that is refused, where the endpoint names one."""
    document: Mapping[str, Any] = {}
    after: float | None = None
    """Seconds to wait, where the endpoint asks for it."""


def received(status: int, headers: Mapping[str, str], content: bytes, now: float) -> Reply:
    """What a response means; `now` is the time of day, in seconds of 1970."""
    document = _document(content)
    choice = _choice(document)
    error = choice.get("error") or document.get("error") or (document if status >= 300 else None)
    fine = 200 <= status < 300
    if fine and isinstance(choice.get("message"), Mapping) and not error:
        return Reply("answer", status=status, document=document)
    if fine and not error:
        return Reply("odd", f"in place of an answer came {_beginning(content)}", status)
    told = error if isinstance(error, Mapping) else {"message": error}
    code = str(told.get("code", told.get("status")))
    inner = int(code) if code.isdecimal() and code.isascii() else 0
    if fine and not 400 <= inner < 600:
        inner = 502
    words = " ".join(dict.fromkeys(_words(told))) or _beginning(content)
    kind = _kind(inner if fine else status, f"{code} {told.get('type')} {words}")
    if fine and kind == "down":
        kind = "odd"
    param = told.get("param")
    return Reply(
        kind, f"{status} {words}", inner if fine else status, param if isinstance(param, str) else "", document,
        _after(headers, now),
    )  # fmt: skip


def _kind(status: int, said: str) -> Kind:
    if status in _UNFIT | {403} and _FLAGGED.search(said):
        return "refused"
    if status == 429 and _NO_MONEY.search(said):
        return "closed"
    if status == 429 and "too large" in said:
        return "unfit"
    if status in _BUSY:
        return "busy"
    if status >= 500:
        return "down"
    return "unfit" if status in _UNFIT else "barred" if status == 403 else "closed"


def _document(content: bytes) -> Mapping[str, Any]:
    """The JSON object of a body, also of an event stream that came to its end; nothing for anything else."""
    text = content.decode("utf-8", "replace").strip()
    try:
        found = _joined(text) if text.startswith(("data:", "event:", ":", "id:")) else json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _joined(events: str) -> Mapping[str, Any]:
    """The answer whose pieces an event stream has. Raises `ValueError` for a stream without an end."""
    text, end, whole = "", None, False
    document: dict[str, Any] = {}
    for line in events.splitlines():
        said = line.partition("data:")[2].strip() if line.startswith("data:") else ""
        if said == "[DONE]":
            whole = True
        elif said:
            event = json.loads(said)
            if not isinstance(event, Mapping) or event.get("error"):
                return event if isinstance(event, Mapping) else {}
            choice = _choice(event)
            piece = choice.get("delta") or choice.get("message")
            text += text_of(piece.get("content")) or "" if isinstance(piece, Mapping) else ""
            end = choice.get("finish_reason") or end
            document = {**document, **{name: value for name, value in event.items() if value is not None}}
    if not (whole or end):
        raise ValueError("the stream was cut")
    return {**document, "choices": [{"message": {"content": text}, "finish_reason": end}]} if document else {}


def _choice(document: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _words(error: Mapping[str, Any]) -> Iterator[str]:
    """The endpoint's words, without what it repeats of the request."""
    for name in ("message", "msg", "detail", "code"):
        value = error.get(name)
        if isinstance(value, str):
            yield " ".join(value.split())
        elif isinstance(value, Mapping):
            yield from _words(value)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Mapping):
                    yield from map(str, each.get("loc") or ())
                    yield from _words(each)


def _beginning(content: bytes) -> str:
    text = " ".join(content[: 4 * _BEGINNING].decode("utf-8", "replace").split())[:_BEGINNING]
    what = "a page" if text.startswith("<") else "an event stream" if text.startswith(("data:", "event:")) else ""
    return f"{what}: {text!r}".lstrip(": ") if text else "nothing"


def _after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that the endpoint asks to wait, which it tells in three ways."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) / scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - now
            except (ValueError, TypeError, IndexError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


class AnswerParts(NamedTuple):
    """What an answer says, and what lies beside it."""

    text: str
    end: str
    """`stop`, `length` or `refused`."""
    model: str
    tokens_in: int | None
    tokens_out: int | None
    steps: Steps


def said(document: Mapping[str, Any]) -> AnswerParts:
    """The parts of an answer."""
    choice = _choice(document)
    message = choice["message"]
    usage = document.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    text = text_of(message.get("content"))
    finish = choice.get("finish_reason")
    refused = bool(message.get("refusal")) or finish in ("content_filter", "refusal")
    model = document.get("model")
    return AnswerParts(
        text or "",
        "refused" if refused else "length" if finish in ("length", "max_tokens") else "stop",
        model if isinstance(model, str) else "",
        _count(counts.get("prompt_tokens")),
        _count(counts.get("completion_tokens")),
        _steps(choice.get("logprobs")),
    )


def text_of(content: object) -> str | None:
    """The text of a message: itself, or its parts that are text; None where there is none. Thoughts are no text."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
    found = [
        part if isinstance(part, str) else part.get("text")
        for part in parts
        if isinstance(part, str) or (isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text"))
    ]
    return "".join(each for each in found if isinstance(each, str)) if found else None


def _count(told: object) -> int | None:
    try:
        number = float(told)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return int(number) if math.isfinite(number) and number >= 0 else None


def _steps(told: object) -> Steps:
    """Each token with those that could have stood there and their probabilities; nothing where one is not told."""
    places = told.get("content") if isinstance(told, Mapping) else None
    if not isinstance(places, list):
        return ()
    steps = []
    for place in places:
        if not isinstance(place, Mapping) or not isinstance(place.get("token"), str):
            return ()
        steps.append((_plain(place["token"]), tuple(_likely(place.get("top_logprobs")))))
    return tuple(steps)


def _likely(told: object) -> Iterator[tuple[str, float]]:
    entries = told if isinstance(told, list) else []
    if isinstance(told, Mapping):
        entries = [{"token": token, "logprob": logprob} for token, logprob in told.items()]
    for each in entries:
        token, logprob = (each.get("token"), each.get("logprob")) if isinstance(each, Mapping) else (None, None)
        if isinstance(token, str) and isinstance(logprob, (int, float)) and logprob <= 1e-6:  # a nan is not, either
            yield _plain(token), math.exp(min(logprob, 0.0))


def _plain(token: str) -> str:
    """A token without the marks that some tokenizers have for a blank."""
    return token.replace("▁", " ").replace("Ġ", " ")
