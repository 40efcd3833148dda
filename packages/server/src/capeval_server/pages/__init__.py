"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import (
    account,
    admin,
    annotate,
    boards,
    comparisons,
    health,
    home,
    preview,
    study_owner,
    study_people,
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
    study_owner.routes,
    study_people.routes,
    preview.routes,
    annotate.routes,
)
