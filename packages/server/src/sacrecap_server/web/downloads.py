"""Files of a study's answers, sent while they are read: neither the answers nor the file are in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi.responses import Response, StreamingResponse
from sqlalchemy.orm import Session

from sacrecap_server.store.models import Study
from sacrecap_server.studies import repository
from sacrecap_server.studies.results import answers_of, pages_by_group
from sacrecap_server.web.context import RequestContext
from sacrecap_studies.export import answers_csv, export, export_name

_PIECE = 64 * 1024
"""Characters that are sent at a time."""


def judgments_file(context: RequestContext, study_id: int) -> Response:
    """Judgments, or references, of the answers that count."""

    def lines(session: Session, study: Study) -> Iterator[str]:
        kind = repository.kind_of(study)
        pages = pages_by_group(session, study) if kind.has_several_pages else {}
        return export(kind, answers_of(session, study, "item"), study.judgments, pages)

    with context.database.read() as session:
        name = export_name(repository.kind_of(repository.find(session, study_id, context.caller)))
    return _streamed(context, study_id, name, "application/json", lines)


def answers_file(context: RequestContext, study_id: int, *, pseudonymous: bool) -> Response:
    """Every answer as CSV, with person, order and times; see `answers_csv`."""

    def lines(session: Session, study: Study) -> Iterator[str]:
        return answers_csv(answers_of(session, study), pseudonymous=pseudonymous)

    return _streamed(context, study_id, "answers.csv", "text/csv", lines)


def _streamed(
    context: RequestContext, study_id: int, name: str, media_type: str, lines: Callable[[Session, Study], Iterator[str]]
) -> Response:
    with context.database.read() as session:
        repository.find(session, study_id, context.caller)

    def pieces() -> Iterator[str]:
        kept: list[str] = []
        size = 0
        with context.database.read() as session:
            for line in lines(session, repository.find(session, study_id, context.caller)):
                kept.append(line)
                size += len(line)
                if size > _PIECE:
                    yield "".join(kept)
                    kept, size = [], 0
        yield "".join(kept)

    headers = {"Content-Disposition": f'attachment; filename="study-{study_id}-{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(), media_type=f"{media_type}; charset=utf-8", headers=headers)
