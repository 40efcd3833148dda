"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from sacrecap_server.pages import (
    account,
    admin,
    annotate,
    boards,
    deletion,
    hosts,
    owner,
    preview,
    provider,
    recovery,
    site,
    study_owner,
    study_people,
    submissions,
    teams,
)

_STUDIES = (site.routes, study_owner.routes, study_people.routes, preview.routes, annotate.routes)
OF_STUDIES = (owner.routes, *_STUDIES)
"""The pages of `sacrecap study serve`."""
ROUTES = (
    *_STUDIES,
    account.routes,
    recovery.routes,
    provider.routes,
    teams.routes,
    deletion.routes,
    admin.routes,
    boards.routes,
    submissions.routes,
    hosts.routes,
)
