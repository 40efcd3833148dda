"""Refusals: answers of a page or the API that say why a request was refused."""

from __future__ import annotations

from collections.abc import Sequence

from sacrecap_studies.messages import Message


class Refused(Exception):  # noqa: N818
    """Raised anywhere in a handler; becomes a page, or the API's one JSON shape.

    `problems` lists the single faults, if there are several. Further arguments are values of places in the message, as
    in `%(most)s links`: pages say it in their language.
    """

    def __init__(
        self, status: int, message: str, problems: Sequence[str] = (), retry_after: int | None = None, **values: object
    ) -> None:
        self.message: str = Message(message, **values)
        super().__init__(self.message)
        self.status = status
        self.problems = list(problems)
        self.retry_after = retry_after

    @property
    def document(self) -> dict[str, object]:
        """The one shape of every error in JSON."""
        return {"error": {"status": self.status, "message": self.message, "problems": self.problems}}


def problems_of_form(refused: Refused) -> list[str]:
    """What a form says above its fields; raises a refusal again that is not about them."""
    if refused.status != 422:
        raise refused
    return refused.problems or [refused.message]


def not_found(what: str) -> Refused:
    """Something that does not exist, or that this caller must not know to exist."""
    return Refused(404, "There is no such %(what)s.", what=Message(what))
