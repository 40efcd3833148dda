"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import (
    account,
    admin,
    annotate,
    approval,
    boards,
    comparisons,
    health,
    home,
    recovery,
    study_owner,
    submissions,
)

ROUTES = (
    health.routes,
    home.routes,
    account.routes,
    recovery.routes,
    admin.routes,
    approval.routes,
    boards.routes,
    comparisons.routes,
    submissions.routes,
    study_owner.routes,
    annotate.routes,
)
