"""The JSON API. A new module adds its `routes` here."""

from sacrecap_server.api import studies, v1

OF_STUDIES = (studies.routes,)
ROUTES = (v1.routes, studies.routes)
