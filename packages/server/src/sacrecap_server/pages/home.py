"""The first page."""

from __future__ import annotations

from fastapi.responses import FileResponse

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue
from sacrecap_server.errors import not_found
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.routing import Routes

routes = Routes()
_SHOWN = 10


@routes.page("/", role=Role.ANYONE)
def home(context: Context) -> Response:
    """The start page: the newest benchmarks that are open."""
    with context.database.read() as session:
        rows = [row for row in catalogue.with_counts(session, context.caller) if catalogue.is_open(row[0])]
    return context.render("home.html", rows=rows[:_SHOWN], stage=catalogue.stage)


@routes.page("/logo", role=Role.ANYONE)
def logo(context: Context) -> Response:
    """The host's picture, as `--site-logo` gives it."""
    if context.settings.site_logo is None:
        raise not_found("logo")
    return FileResponse(context.settings.site_logo, headers={"Cache-Control": "max-age=3600"})
