"""The first page."""

from __future__ import annotations

from capeval_server.accounts.access import Role
from capeval_server.boards import benchmarks
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here, Response

routes = Routes()
_SHOWN = 10


@routes.page("/", role=Role.ANYONE)
def home(visit: Here) -> Response:
    """What there is on this server: the newest benchmarks that are open."""
    with visit.database.read() as session:
        rows = [row for row in benchmarks.with_counts(session) if benchmarks.is_open(row[0])]
    return visit.render("home.html", rows=rows[:_SHOWN], is_open=benchmarks.is_open)
