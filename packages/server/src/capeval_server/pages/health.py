"""Pages for monitoring: `/healthz` and `/metrics`."""

from __future__ import annotations

from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from capeval_server.accounts.access import Role
from capeval_server.web.context import Context
from capeval_server.web.routing import Routes

routes = Routes()


@routes.page("/healthz", role=Role.ANYONE)
def health(context: Context) -> Response:
    """200 where the database answers."""
    with context.database.read() as session:
        session.execute(text("SELECT 1"))
    return PlainTextResponse("ok\n")


@routes.token_page("/metrics", role=Role.ADMIN, scope="metrics")
def metrics(context: Context) -> Response:
    """Prometheus metrics, for an administrator's API token: numbers of people and what they do are private."""
    meters = context.state.meters
    meters.jobs.clear()
    for (kind, state), number in context.state.jobs.counts().items():
        meters.jobs.labels(kind, state).set(number)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
