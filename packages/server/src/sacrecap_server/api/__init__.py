"""The JSON API. A new module adds its `routes` here."""

from sacrecap_server.api import studies, v1

ROUTES = (v1.routes, studies.routes)
