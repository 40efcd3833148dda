"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import (
    account,
    admin,
    annotate,
    boards,
    comparisons,
    deletion,
    health,
    home,
    privacy,
    provider,
    study_owner,
    submissions,
    teams,
)

ROUTES = (
    health.routes,
    home.routes,
    account.routes,
    provider.routes,
    teams.routes,
    deletion.routes,
    privacy.routes,
    admin.routes,
    boards.routes,
    comparisons.routes,
    submissions.routes,
    study_owner.routes,
    annotate.routes,
)
