"""Pages for programs that watch the server: `/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from sacrecap_server.accounts.access import Role
from sacrecap_server.web.context import Context
from sacrecap_server.web.faults import RETRY_SECONDS
from sacrecap_server.web.routing import Routes

routes = Routes()
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
