"""The database of answers: each is in it before it is counted."""

from __future__ import annotations

import json
import threading
from typing import ClassVar

from sacrecap.errors import SacrecapError
from sacrecap.resources.cache import Cache
from sacrecap.resources.replies import Answer


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
        steps = tuple((token, tuple((other, p) for other, p in others)) for token, others in answer.steps)
        return answer._replace(steps=steps, without=tuple(answer.without))

    def failure(self, error: Exception, remedy: str, *, writing: bool) -> None:  # noqa: ARG002
        """Answers cost money: nothing is asked whose answer cannot be kept."""
        raise SacrecapError(f"{self.path}: answers cannot be kept there ({error}): {remedy}") from error
