"""What an endpoint replied: an answer, a refusal, or in its own words why there is none.

Servers depart from OpenAI's protocol in many ways: errors in the body of a 200, `choices` that are null, a text in
parts, an event stream that nobody asked for, half a count of tokens, a page of a proxy. What lies beside the text of
an answer is taken where it is right, and left aside where it is not.

What a model says comes out of what it writes: behind its thoughts, in tags, in a box, in JSON that is nearly right.
What it writes while it thinks is no answer, above all where the thought was cut, and of several values that differ none
is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["answer", "refused", "unfit", "barred", "busy", "ill", "down", "odd", "closed"]
"""`refused`: the model does not want to; `unfit`: the endpoint does not accept this request; `barred`: it may not be
made, or no request may; `busy`: later; `ill`: the server failed, perhaps at this request; `down`: it cannot be reached;
`odd`: no answer of this protocol; `closed`: no request will be answered.
"""
Steps: TypeAlias = "tuple[tuple[str, tuple[tuple[str, float], ...]], ...]"
Less: TypeAlias = "dict[str, int | None]"
"""Parameters that an endpoint refuses, and what is sent in their place: another number, or nothing."""

_UNFIT = (400, 409, 413, 415, 422, 451)
_KINDS: dict[int, Kind] = {
    **dict.fromkeys(_UNFIT, "unfit"),
    403: "barred",
    **dict.fromkeys((408, 425, 429, 503, 529), "busy"),
    500: "ill",
    **dict.fromkeys({*range(501, 600)} - {503, 529}, "down"),
}
"""What statuses mean; others that nothing will be answered."""
_FLAGGED = (
    r"content[_ ]?(?:filter|polic|management)|moderation|flagged|inspection_failed|prohibited_content|"
    r"safety (?:system|filter|polic)"
)
_BY_WORDS: tuple[tuple[tuple[int, ...], str, Kind], ...] = (
    ((*_UNFIT, 403), _FLAGGED, "refused"),
    ((429,), r"insufficient_quota|billing|insufficient.(?:credit|balance)", "closed"),
    ((429,), r"too large", "unfit"),
)
"""Where words with some statuses mean something else."""
BYTES_A_TOKEN = 3
"""What is expected of a text whose tokens are not known: on the low side, so that a budget holds."""
_FEWER = 5
"""The alternatives that are asked for where an endpoint tells fewer than are wanted, and not how many."""
_BEGINNING = 200
"""Characters of what came, in messages."""
_BLANKS = str.maketrans("▁Ġ", "  ")
"""The marks that some tokenizers have for a blank."""


class Answer(NamedTuple):
    """What the endpoint answered."""

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


class Reply(NamedTuple):
    """A reply, by what it means."""

    kind: Kind
    words: str = ""
    """The endpoint's own words, where there is no answer."""
    status: int = 0
    """The status of HTTP, or the one in the body; 0 where nothing came."""
    param: str = ""
    """The parameter that is refused, where the endpoint names one."""
    after: float | None = None
    """Seconds to wait, where the endpoint asks for it."""
    answer: Answer | None = None


def received(status: int, headers: Mapping[str, str], content: bytes, *, now: float, tokens_in: int) -> Reply:
    """What a response means: its status, its headers, in small letters, and its body.

    `now` is in seconds of 1970; `tokens_in` are those of the question, about, where the endpoint does not count them.
    """
    try:
        text = content.decode("utf-8", "replace").strip()
        is_stream = text.startswith(("data:", "event:", ":", "id:"))
        document = _joined(text) if is_stream else json.loads(text)
    except (ValueError, RecursionError):
        document = {}
    if not isinstance(document, Mapping):
        document = {}
    choice = _choice(document)
    is_fine = 200 <= status < 300
    error = choice.get("error") or document.get("error") or (None if is_fine else document)
    if is_fine and not error:
        if isinstance(choice.get("message"), Mapping):
            return Reply("answer", status=status, answer=_answer(document, choice, tokens_in))
        return Reply("odd", f"in place of an answer came {_beginning(content)}", status)
    details = error if isinstance(error, Mapping) else {"message": error}
    code = str(details.get("code", details.get("status")))
    words = " ".join(dict.fromkeys(_words(details))) or _beginning(content)
    meant = status
    if is_fine:
        meant = int(code) if re.fullmatch("[45][0-9][0-9]", code) else 502
    stated = f"{code} {details.get('type')} {words}"
    by_words = (
        kind for statuses, sign, kind in _BY_WORDS if meant in statuses and re.search(sign, stated, re.IGNORECASE)
    )
    kind = next(by_words, _KINDS.get(meant, "closed"))
    if is_fine and kind in ("ill", "down"):
        kind = "odd"
    param = details.get("param")
    named = param if isinstance(param, str) else ""
    return Reply(kind, f"{status} {words}", meant, named, _after(headers, now))


def refused_parameters(reply: Reply, sent: Mapping[str, Any]) -> Less:
    """What is sent in the place of parameters that are not wanted; of alternatives as many as it says, or five."""
    refused = {name for name in sent if re.match(rf"{name}\b", reply.param)}
    refused = refused or {name for name in sent if re.search(rf"\b{name}\b", reply.words, re.IGNORECASE)}
    of_alternatives = refused & {"logprobs", "top_logprobs"}
    less: Less = dict.fromkeys(refused - of_alternatives)
    if of_alternatives:
        most = sent.get("top_logprobs", 0)
        numbers = [int(number) for number in re.findall(r"(?<![\w.])\d{1,2}(?![\w.]*\w)", reply.words)]
        fewer = max((number for number in numbers if 0 < number < most), default=_FEWER if most > _FEWER else 0)
        less |= {"top_logprobs": fewer} if fewer else {"logprobs": None, "top_logprobs": None}
    return less


def _joined(events: str) -> Mapping[str, Any]:
    """The answer whose pieces an event stream has. Raises `ValueError` for a stream without an end."""
    text, end, is_whole = "", None, False
    document: dict[str, Any] = {}
    for line in events.splitlines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            is_whole = True
        elif data:
            event = json.loads(data)
            if not isinstance(event, Mapping):
                raise ValueError("the stream is of another protocol")
            if event.get("error"):
                return event
            choice = _choice(event)
            piece = choice.get("delta") or choice.get("message")
            text += text_of(piece.get("content")) if isinstance(piece, Mapping) else ""
            end = choice.get("finish_reason") or end
            document |= {name: value for name, value in event.items() if value is not None}
    if not (is_whole or end):
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


def _answer(document: Mapping[str, Any], choice: Mapping[str, Any], tokens_in: int) -> Answer:
    message, usage, model = choice["message"], document.get("usage"), document.get("model")
    finish = choice.get("finish_reason")
    text = text_of(message.get("content"))
    is_refused = bool(message.get("refusal")) or finish in ("content_filter", "refusal")
    counts = usage if isinstance(usage, Mapping) else {}
    return Answer(
        text,
        model if isinstance(model, str) else "",
        "refused" if is_refused else "length" if finish in ("length", "max_tokens") else "stop",
        _count(counts.get("prompt_tokens"), tokens_in),
        _count(counts.get("completion_tokens"), len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN),
        _steps(choice.get("logprobs")),
    )


def _count(counted: Any, expected: int) -> int:
    try:
        return int(counted) if 0 <= float(counted) < math.inf else expected
    except (TypeError, ValueError, OverflowError):
        return expected


def _steps(logprobs: object) -> Steps:
    """Each token with those that could have stood there and their probabilities; nothing where one is not told."""
    places = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    steps = []
    for place in places if isinstance(places, list) else ():
        if not isinstance(place, Mapping) or not isinstance(place.get("token"), str):
            return ()
        entries = place.get("top_logprobs")
        pairs: Iterable[tuple[object, object]] = entries.items() if isinstance(entries, Mapping) else ()
        if isinstance(entries, list):
            pairs = ((each.get("token"), each.get("logprob")) for each in entries if isinstance(each, Mapping))
        likely = [
            (token.translate(_BLANKS), math.exp(min(logprob, 0.0)))
            for token, logprob in pairs
            if isinstance(token, str) and isinstance(logprob, (int, float)) and -1e9 < logprob <= 1e-6  # a nan is not
        ]
        steps.append((place["token"].translate(_BLANKS), tuple(likely)))
    return tuple(steps)


_WORDS = r"(?:seed:|ant:?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)"
_MARK = re.compile(
    r"(?P<close>"
    rf"[<\[◁]\|?(?:/|end_(?:of_)?){_WORDS}\|?[>\]▷]"
    r"|<\|?channel\|?>\s*final(?:\s*<\|message\|>)?|<channel\|>|<unused95>|\bassistantfinal|^here is my response:"
    r")|(?P<open>"
    rf"[<\[◁]\|?(?:(?:begin|start)_(?:of_)?)?{_WORDS}(?:\s[^<>]*)?\|?[>\]▷]"
    r"|<\|?channel\|?>\s*(?:analysis|thought|commentary)(?:\s*<\|message\|>)?|<unused94>(?:thought)?"
    r"|\Aanalysis(?=[A-Z])|^here is my thought process:"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""The marks of thoughts: `<think>`, `[THINK]`, `◁think▷`, those of gpt-oss, Gemma, Granite, Command and others."""


def text_of(content: object) -> str:
    """The text of a message: itself, or its parts that are text. Thoughts are no text."""
    text = ""
    for part in content if isinstance(content, list) else [content]:
        words: object = part
        if isinstance(part, Mapping):
            words = part.get("text") if part.get("type", "text") in ("text", "output_text") else None
        text += words if isinstance(words, str) else ""
    return text


def after_thoughts(written: str) -> str:
    """What follows the last thought; nothing where one has no end; all of it where there is none.

    Examples:
        >>> after_thoughts('[THINK]a draft: {"score": 20}[/THINK]{"score": 85}')
        '{"score": 85}'
        >>> after_thoughts("<think>a dog runs")
        ''
    """
    marks = list(_MARK.finditer(written))
    if not marks:
        return written
    return written[marks[-1].end() :].strip() if marks[-1]["close"] is not None else ""


def tagged(written: str, name: str) -> str | None:
    """The text of the last element of that name, also of one that was cut; None without one."""
    tag = re.escape(name)
    elements = re.findall(rf"<{tag}>(.*?)(?:</{tag}>|(?=<{tag}>)|\Z)", written, re.DOTALL | re.IGNORECASE)
    return elements[-1].strip() if elements else None


def boxed(written: str) -> str | None:
    r"""What stands in the last `\boxed{…}`, without `\text{…}`; None without one, or without its end."""
    start = written.rfind("\\boxed{")
    if start < 0:
        return None
    depth, first = 0, start + len("\\boxed{")
    for place in range(first - 1, len(written)):
        depth += {"{": 1, "}": -1}.get(written[place], 0)
        if depth == 0:
            inner = written[first:place].strip()
            text = re.fullmatch(r"\\text(?:bf|it|rm)?\{(.*)\}", inner, re.DOTALL)
            return (text[1] if text else inner).strip()
    return None


_QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_LIST = rf"\[(?:\s*(?:{_QUOTED})\s*,)*\s*(?:{_QUOTED})?\s*\]"
_VALUE = rf"{_QUOTED}|{_LIST}|-?\d+(?:\.\d+)?(?:\s*(?:/\s*100\b|%))?|[A-Za-z]+"
_ENDS = r"\s*(?:\}|\n|\Z(?<=[\"'\]])|,\s*(?:[\"']?[A-Za-z_][\w ]*[\"']?\s*:|\}|[\"']?(?:[A-Za-z_]\w*)?\Z))"
"""What follows a value that is whole. The form in a prompt, `"better": 1, 2 or "tie"`, has no such end."""


def values(written: str, name: str) -> list[Any]:
    """The values of that name in the JSON objects of a text, also in objects inside, in lists, and in broken ones.

    A broken object (single quotes, a comma too many, no end) is read for the name alone: then values are text, or lists
    of texts.

    Examples:
        >>> values('Sure: {"result": {"score": 85}} and {"score": 10, "reason": "the', "score")
        [85, '10']
    """
    decoder = json.JSONDecoder(strict=False)
    broken = re.compile(rf"(?<!\\)([\"']?)\b{re.escape(name)}\1\s*:\s*({_VALUE})(?={_ENDS})", re.IGNORECASE)
    read: list[Any] = []
    place = written.find("{")
    while place >= 0:
        try:
            document, end = decoder.raw_decode(written, place)
        except (ValueError, RecursionError):
            end = place + 1
            following = written.find("{", end)
            for match in broken.finditer(written[place : following if following >= 0 else None]):
                value = match[2]
                if value.startswith("["):
                    read.append([each[0][1:-1] for each in re.finditer(_QUOTED, value)])
                else:
                    read.append(value[1:-1] if value[0] in "\"'" else value)
        else:
            read += _inside(document, name)
        place = written.find("{", end)
    return read


def _inside(document: object, name: str) -> Iterator[Any]:
    """The values of that name in an object, and in what it holds."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key.strip().lower() == name:
                yield value
            else:
                yield from _inside(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from _inside(value, name)
