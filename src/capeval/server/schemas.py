"""The JSON of the API, both for the answers and for OpenAPI."""

from __future__ import annotations

from pydantic import BaseModel


class ErrorDetail(BaseModel):
    """What went wrong: the HTTP status, one sentence, and the single problems where there are several."""

    status: int
    message: str
    problems: list[str]


class ErrorBody(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail
