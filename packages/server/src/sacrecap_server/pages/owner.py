"""The way in where studies are alone: one owner, who shows a token; there are no other accounts."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form

from sacrecap_server.accounts.access import Role, by_token, sign_in
from sacrecap_server.accounts.limits import neighbourhood
from sacrecap_server.pages.account import inside, sign_out_done
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))(sign_out_done)


@routes.page("/", role=Role.ANYONE)
def home(context: Context) -> Response:
    return context.redirect("/studies")


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(context: Context, next: str = "/") -> Response:
    return context.render("owner-sign-in.html", next=inside(next), problem="")


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(context: Context, token: Text = "", next: Text = "/") -> Response:
    context.state.limits.sign_in_address.take(neighbourhood(context.address))
    with context.database.write() as session:
        owner = by_token(session, token.strip())
        context.audit(session, "sign-in" if owner.account_id is not None else "sign-in.refused", "owner")
        if owner.account_id is not None:
            context.set_cookie(sign_in(session, owner.account_id))
    if owner.account_id is None:
        return context.render("owner-sign-in.html", 403, next=inside(next), problem="This is not the token.")
    return context.redirect(inside(next))
