"""The JSON API. A new module adds its `routes` here."""

from capeval_server.api import v1

ROUTES = (v1.routes,)
