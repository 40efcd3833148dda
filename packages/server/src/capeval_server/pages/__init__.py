"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import (
    account,
    admin,
    annotate,
    boards,
    comparisons,
    health,
    home,
    hosts,
    study_owner,
    submissions,
)

ROUTES = (
    health.routes,
    home.routes,
    account.routes,
    admin.routes,
    boards.routes,
    comparisons.routes,
    submissions.routes,
    hosts.routes,
    study_owner.routes,
    annotate.routes,
)
