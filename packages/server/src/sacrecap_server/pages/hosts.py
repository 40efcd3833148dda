"""What a benchmark's owner does with it beside its form: publishing it, and its webhooks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from fastapi.responses import Response

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue, webhooks
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Benchmark
from sacrecap_server.web.context import Context, RequestContext
from sacrecap_server.web.routing import Routes

routes = Routes()


@routes.page("/benchmarks/{slug}/publish", role=Role.ORGANISER, methods=("POST",))
def publish(context: Context, slug: str) -> Response:
    """A draft, or an unlisted benchmark, becomes public."""
    with context.database.write() as session:
        catalogue.owned(session, context.caller, slug).visibility = "public"
        context.audit(session, "benchmark.published", slug)
    return context.redirect(f"/benchmarks/{slug}", "published")


@routes.page("/benchmarks/{slug}/webhooks", role=Role.ORGANISER)
def webhooks_page(context: Context, slug: str) -> Response:
    with context.database.read() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
    return _page(context, benchmark)


@routes.page("/benchmarks/{slug}/webhooks", role=Role.ORGANISER, methods=("POST",))
def add_webhook(context: Context, slug: str, url: Annotated[str, Form(max_length=2000)] = "") -> Response:
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        try:
            webhook = webhooks.add(session, benchmark, url.strip(), private=context.settings.private_webhooks)
        except Refused as refusal:
            return _page(context, benchmark, url=url, problem=refusal.message)
        context.audit(session, "webhook.made", f"{slug} {webhook.id}")
    return context.redirect(f"/benchmarks/{slug}/webhooks", "saved")


@routes.page("/benchmarks/{slug}/webhooks/{webhook_id}/remove", role=Role.ORGANISER, methods=("POST",))
def remove_webhook(context: Context, slug: str, webhook_id: int) -> Response:
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        webhooks.remove(session, webhooks.find(session, benchmark, webhook_id))
        context.audit(session, "webhook.removed", f"{slug} {webhook_id}")
    return context.redirect(f"/benchmarks/{slug}/webhooks", "saved")


@routes.page("/benchmarks/{slug}/webhooks/{webhook_id}/test", role=Role.ORGANISER, methods=("POST",))
def test_webhook(context: Context, slug: str, webhook_id: int) -> Response:
    """Sends a message about no submission."""
    context.state.limits.submit_account.take(f"webhook {context.caller.account_id}")
    with context.database.write() as session:
        benchmark = catalogue.owned(session, context.caller, slug)
        webhooks.send(session, webhooks.find(session, benchmark, webhook_id), None)
    context.state.jobs.wake()
    return context.redirect(f"/benchmarks/{slug}/webhooks", "webhook-test")


def _page(context: RequestContext, benchmark: Benchmark, *, url: str = "", problem: str = "") -> Response:
    with context.database.read() as session:
        hooks = webhooks.listed(session, benchmark)
    return context.render(
        "webhooks.html", 422 if problem else 200, benchmark=benchmark, hooks=hooks, url=url, problem=problem
    )
