"""Every route of a server, and what guards it."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi.routing import APIRoute

from sacrecap_server import api
from sacrecap_server.pages import annotate, owner
from sacrecap_server.web.context import Guard


def every_route() -> Iterator[tuple[APIRoute, Guard]]:
    """Those of a server of studies."""
    for routes in (owner.routes, annotate.routes, api.routes):
        for route in routes.routes:
            assert isinstance(route, APIRoute)
            yield route, next(used.dependency for used in route.dependencies if isinstance(used.dependency, Guard))
