"""The JSON API. A new module adds its `routes` here."""

from capeval_server.api import benchmarks

ROUTES = (benchmarks.routes,)
