"""What this server stores about people, and for how long: from the tables and the settings as they are."""

from __future__ import annotations

from sacrecap_server.accounts.access import Role
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.personal import stored
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.routing import Routes

routes = Routes()


@routes.page("/privacy", role=Role.ANYONE)
def privacy_page(context: Context) -> Response:
    """Public: people read it before they register, or answer a study."""
    settings = context.settings
    periods = _periods(settings)
    rows = [(each.kind.title, each.columns, each.kind.until.format_map(periods)) for each in stored()]
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
