"""The JSON API of studies."""

from sacrecap_server.api import studies

ROUTES = (studies.routes,)
