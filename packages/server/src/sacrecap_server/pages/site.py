"""The site itself: what it stores about people, and pages for programs that watch it."""

from __future__ import annotations

from fastapi.responses import FileResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from sacrecap_server.accounts.access import Role
from sacrecap_server.errors import not_found
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.personal import stored
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.faults import RETRY_SECONDS
from sacrecap_server.web.routing import Routes

routes = Routes()


@routes.page("/logo", role=Role.ANYONE)
def logo(context: Context) -> Response:
    """The host's picture, as `--site-logo` gives it."""
    if context.settings.site_logo is None:
        raise not_found("logo")
    return FileResponse(context.settings.site_logo, headers={"Cache-Control": "max-age=3600"})


_NOT_KEPT = {"Cache-Control": "no-store"}


@routes.page("/healthz", role=Role.ANYONE)
async def health() -> Response:
    """Live: the process answers. It asks nothing of the database, since a restart would not bring that back."""
    return PlainTextResponse("ok\n", headers=_NOT_KEPT)


@routes.page("/readyz", role=Role.ANYONE)
def ready(context: Context) -> Response:
    """Ready: the database has taken what was written a few seconds ago at most, and jobs are run."""
    problems = context.state.readiness.problems()
    if problems:
        headers = {**_NOT_KEPT, "Retry-After": str(RETRY_SECONDS)}
        return PlainTextResponse("".join(f"{problem}\n" for problem in problems), 503, headers=headers)
    return PlainTextResponse("ok\n", headers=_NOT_KEPT)


@routes.token_page("/metrics", role=Role.ADMIN, scope="metrics")
def metrics(context: Context) -> Response:
    """Prometheus metrics, for an administrator's API token of this scope: numbers of people are private."""
    meters = context.state.meters
    meters.jobs.clear()
    for (kind, state), number in context.state.jobs.counts().items():
        meters.jobs.labels(kind, state).set(number)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)


@routes.page("/privacy", role=Role.ANYONE)
def privacy_page(context: Context) -> Response:
    """Public: people read it before they register, or answer a study."""
    settings = context.settings
    periods = _periods(settings)
    kinds = [each for each in stored() if each.kind.in_studies or not settings.only_studies]
    rows = [(each.kind.title, each.columns, each.kind.until.format_map(periods)) for each in kinds]
    return context.render("privacy.html", rows=rows, own=context.state.privacy_text)


def _periods(settings: ServerSettings) -> dict[str, str]:
    workers = settings.keep_worker_ids
    return {
        "keep_audit": _days(settings.keep_audit, "as long as the server runs"),
        "keep_addresses": _days(settings.keep_addresses, "as long as the entry"),
        "keep_worker_ids": f"What a crowd platform calls the person is forgotten {_days(workers, '')} after the study "
        "closes."
        if workers
        else "",
    }


def _days(number: int, without: str) -> str:
    return f"{number:,} {'day' if number == 1 else 'days'}" if number else without
