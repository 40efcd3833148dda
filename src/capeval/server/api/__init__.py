"""The JSON API. A new module adds its `routes` here."""

ROUTES = ()
