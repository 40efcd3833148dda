"""For machines that watch over the server: `/healthz` and `/metrics`."""

from __future__ import annotations

from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from capeval_server.accounts.access import Role
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here

routes = Routes()


@routes.page("/healthz", role=Role.ANYONE)
def health(visit: Here) -> Response:
    """200 where the database answers."""
    with visit.database.read() as session:
        session.execute(text("SELECT 1"))
    return PlainTextResponse("ok\n")


@routes.token_page("/metrics", role=Role.ADMIN)
def metrics(visit: Here) -> Response:
    """Prometheus metrics, for an administrator's API token: how many people do what is nobody else's business."""
    meters = visit.site.meters
    meters.jobs.clear()
    for (kind, state), number in visit.site.jobs.counts().items():
        meters.jobs.labels(kind, state).set(number)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
