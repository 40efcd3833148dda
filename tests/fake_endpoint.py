"""A server on this machine that answers like an OpenAI-compatible endpoint, as well and as badly as one is told to."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Any

import pytest

from sacrecap.resources import patience

MODEL = "tiny-judge-2026"


@dataclass
class Reply:
    """What the server sends for one request."""

    text: str = ""
    model: str = MODEL
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    refusal: str | None = None
    tokens: list[tuple[str, dict[str, float]]] | None = None
    """The tokens of the text, each with the log-probabilities of those that could have stood there."""
    usage: tuple[int, int] | None = (100, 10)
    wait: float = 0.0
    raw: bytes | None = None
    """Sent in place of a JSON document."""
    cut: bool = False
    """Whether the connection ends in the middle of the document."""
    error: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """What the document has beside, or in the place of, what it has else."""
    message: dict[str, Any] = field(default_factory=dict)
    """The same of the message."""

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.error is not None:
            return json.dumps({"error": self.error}).encode()
        logprobs = None
        if self.tokens is not None:
            logprobs = {
                "content": [
                    {
                        "token": token,
                        "logprob": others.get(token, -1.0),
                        "bytes": None,
                        "top_logprobs": [
                            {"token": other, "logprob": logprob, "bytes": None} for other, logprob in others.items()
                        ],
                    }
                    for token, others in self.tokens
                ],
                "refusal": None,
            }
        document = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": self.text, "refusal": self.refusal, **self.message},
                    "finish_reason": self.finish,
                    "logprobs": logprobs,
                }
            ],
        }
        if self.usage is not None:
            document["usage"] = {
                "prompt_tokens": self.usage[0],
                "completion_tokens": self.usage[1],
                "total_tokens": sum(self.usage),
            }
        return json.dumps({**document, **self.more}).encode()


class QuickClock:
    """In the place of a clock: whoever waits goes on at once, and the time that it would have taken is over."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        self._lock = threading.Lock()
        patch.setattr(patience, "clock", self.now)
        patch.setattr(patience, "pause", self.pause)

    def now(self) -> float:
        return time.monotonic() + self._ahead

    def pause(self, seconds: float, over: threading.Event) -> None:
        until = self.now() + seconds
        time.sleep(0.001)
        with self._lock:
            self._ahead = max(self._ahead, until - time.monotonic())


BUSY = Reply(status=429, headers={"Retry-After": "0.01"}, error={"message": "slow down"})
BROKEN = Reply(status=500, headers={"retry-after-ms": "10"}, error={"message": "a fault"})


@dataclass
class Asked:
    """One request that came."""

    body: dict[str, Any]
    headers: dict[str, str]
    replied: Reply

    @property
    def text(self) -> str:
        """What the model reads, without images."""
        content = self.body["messages"][0]["content"]
        return content if isinstance(content, str) else content[-1]["text"]


class FakeEndpoint:
    """Serves while the block runs. `answer` makes the reply of a request's body and of how often that body came."""

    def __init__(self, answer: Callable[[dict[str, Any], int], Reply]) -> None:
        self.requests: list[Asked] = []
        self._place = secrets.token_hex(8)
        seen: Counter[str] = Counter()
        lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["content-length"]))
                body = json.loads(content)
                with lock:
                    seen[content.decode()] += 1
                    reply = answer(body, seen[content.decode()])
                    fake.requests.append(Asked(body, dict(self.headers.items()), reply))
                time.sleep(reply.wait)
                sent = reply.body()
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent[: len(sent) // 2] if reply.cut else sent)
                self.close_connection = reply.cut

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                """Says nothing: clients that wait no longer are among what is tried."""

        self._server = Server(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """With a part that no other has: answers are kept by address, and a port may come back."""
        return f"http://127.0.0.1:{self._server.server_port}/{self._place}/v1"

    @property
    def answered(self) -> list[Asked]:
        """The requests that got an answer that can be used."""
        return [one for one in self.requests if one.replied.status == 200]

    def __enter__(self) -> FakeEndpoint:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def always(text: str, **how: Any) -> FakeEndpoint:
    """A server whose answers are all the same."""
    return FakeEndpoint(lambda _body, _times: Reply(text, **how))


def judge_by_words() -> FakeEndpoint:
    """A judge that likes the words of the references: it rates a caption by their share, and takes the larger one."""

    def answer(body: dict[str, Any], _: int) -> Reply:
        lines = body["messages"][0]["content"].splitlines()
        said = {
            before.partition(",")[0]: json.loads(line)
            for before, line in pairwise(lines)
            if before.endswith(("JSON list:", "JSON string:"))
        }
        known = {word for reference in said.pop("References") for word in reference.lower().split()}
        shares = [sum(word in known for word in own.lower().split()) / len(own.split()) for own in said.values()]
        if len(shares) == 1:
            return Reply(json.dumps({"score": round(100 * shares[0]), "reason": "its words"}))
        better = "tie" if shares[0] == shares[1] else 1 if shares[0] > shares[1] else 2
        return Reply(json.dumps({"better": better, "reason": "its words"}))

    return FakeEndpoint(answer)
