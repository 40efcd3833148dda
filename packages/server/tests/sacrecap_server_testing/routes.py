"""Every route of a server, and what guards it."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi.routing import APIRoute

from sacrecap_server import api, pages
from sacrecap_server.web.routing import Guard


def every_route() -> Iterator[tuple[APIRoute, Guard]]:
    """Those of a server of studies."""
    for routes in (*pages.ROUTES, *api.ROUTES):
        for route in routes.routes:
            assert isinstance(route, APIRoute)
            yield route, next(used.dependency for used in route.dependencies if isinstance(used.dependency, Guard))
