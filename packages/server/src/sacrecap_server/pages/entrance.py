"""What every server has: the owner's way in and out, what is stored about people, and a sign of life."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Form
from fastapi.responses import PlainTextResponse

from sacrecap_server.log import event
from sacrecap_server.store.personal import stored
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.limits import neighbourhood
from sacrecap_server.web.owner import Role, is_token, new_secret, sign_in, sign_out
from sacrecap_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=400)]


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(context: Context, next: str = "/") -> Response:
    return context.render("sign-in.html", next=_inside(next), problem="")


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(context: Context, token: Text = "", next: Text = "/") -> Response:
    context.state.sign_ins.take(neighbourhood(context.address))
    if not is_token(token.strip(), context.settings.owner_token):
        event("sign-in.refused")
        return context.render("sign-in.html", 403, next=_inside(next), problem="This is not the token.")
    with context.database.write() as session:
        context.set_cookie(sign_in(session))
    event("sign-in")
    return context.redirect(_inside(next))


@routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))
def sign_out_done(context: Context) -> Response:
    with context.database.write() as session:
        sign_out(session, context.cookie)
    context.set_cookie(new_secret())
    return context.redirect("/")


def _inside(path: str) -> str:
    """The path where it leads to this server; a link from outside must not send people elsewhere."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f]*", path) else "/"


@routes.page("/healthz", role=Role.ANYONE)
async def health() -> Response:
    """Live: the process answers. It asks nothing of the database, since a restart would not bring that back."""
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


@routes.page("/privacy", role=Role.ANYONE)
def privacy_page(context: Context) -> Response:
    """Public: people read it before they answer a study."""
    return context.render("privacy.html", rows=list(stored()), own=context.state.privacy_text)
