"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import (
    account,
    admin,
    annotate,
    approval,
    boards,
    comparisons,
    deletion,
    health,
    home,
    privacy,
    provider,
    recovery,
    study_owner,
    submissions,
    teams,
)

ROUTES = (
    health.routes,
    home.routes,
    account.routes,
    recovery.routes,
    provider.routes,
    teams.routes,
    deletion.routes,
    privacy.routes,
    admin.routes,
    approval.routes,
    boards.routes,
    comparisons.routes,
    submissions.routes,
    study_owner.routes,
    annotate.routes,
)
