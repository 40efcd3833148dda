"""The first page."""

from __future__ import annotations

from capeval.server.access import Role
from capeval.server.routing import Routes
from capeval.server.visit import Here, Response

routes = Routes()


@routes.page("/", role=Role.ANYONE)
def home(visit: Here) -> Response:
    """What there is on this server."""
    return visit.render("home.html")
