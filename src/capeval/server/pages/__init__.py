"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval.server.pages import account, annotate, health, home

ROUTES = (health.routes, home.routes, account.routes, annotate.routes)
