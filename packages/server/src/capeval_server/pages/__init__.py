"""The pages: handlers that answer with HTML. A new module adds its `routes` here."""

from capeval_server.pages import account, admin, annotate, benchmarks, comparisons, health, home, studies, submissions

ROUTES = (
    health.routes,
    home.routes,
    account.routes,
    admin.routes,
    benchmarks.routes,
    comparisons.routes,
    submissions.routes,
    studies.routes,
    annotate.routes,
)
