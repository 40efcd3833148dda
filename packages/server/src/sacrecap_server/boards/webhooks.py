"""Webhooks: each scored submission as a signed JSON message to the addresses that the benchmark's owner gave.

A message is a job: a child process sends it, so a slow address delays only other messages, and the webhooks take
turns. A failed message is tried again after growing pauses. Strangers choose the addresses: unless the operator allows
more, only https:// to public addresses is sent to, checked on the very address that is then connected to, and no
redirection is followed.
"""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, joinedload

from sacrecap_server.boards import parts
from sacrecap_server.boards.sender import problem_with
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.jobs import jobs
from sacrecap_server.jobs.jobs import JOB_KINDS, JobKind
from sacrecap_server.store.models import Benchmark, Submission, SubmissionScore, Webhook, WebhookDelivery, now

KIND = "webhook"
PAUSES = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
"""Between the attempts: six attempts in fifteen hours, then a message is given up."""
MOST_HOOKS = 5
KEPT_FOR = dt.timedelta(days=30)
SHOWN = 20


@dataclass(frozen=True)
class Hook:
    """A webhook, and its last messages, the newest first."""

    webhook: Webhook
    deliveries: list[WebhookDelivery]


def add(session: Session, benchmark: Benchmark, url: str, *, private: bool) -> Webhook:
    """A new webhook with a secret of its own. Raises `Refused` (422) for an address that nothing is sent to."""
    if problem := problem_with(url, private=private):
        raise Refused(422, problem)
    mine = select(func.count()).select_from(Webhook).where(Webhook.benchmark_id == benchmark.id)
    if session.execute(mine).scalar_one() >= MOST_HOOKS:
        raise Refused(422, "A benchmark has at most %(most)s webhooks. Remove one first.", most=MOST_HOOKS)
    webhook = Webhook(benchmark_id=benchmark.id, url=url, secret=secrets.token_hex(32))
    session.add(webhook)
    session.flush()
    return webhook


def find(session: Session, benchmark: Benchmark, number: int) -> Webhook:
    """A webhook of the benchmark; raises `Refused` (404)."""
    webhook = session.get(Webhook, number)
    if webhook is None or webhook.benchmark_id != benchmark.id:
        raise not_found("webhook")
    return webhook


def remove(session: Session, webhook: Webhook) -> None:
    """With its messages."""
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook.id))
    session.execute(delete(Webhook).where(Webhook.id == webhook.id))


def listed(session: Session, benchmark: Benchmark) -> list[Hook]:
    """The benchmark's webhooks with their last messages."""
    hooks = select(Webhook).where(Webhook.benchmark_id == benchmark.id).order_by(Webhook.id)
    last = select(WebhookDelivery).order_by(WebhookDelivery.id.desc()).limit(SHOWN)
    return [
        Hook(hook, list(session.execute(last.where(WebhookDelivery.webhook_id == hook.id)).scalars()))
        for hook in session.execute(hooks).scalars()
    ]


def announce(session: Session, submission: Submission) -> None:
    """Queues a message about a scored submission to each of the benchmark's webhooks."""
    for hook in session.execute(select(Webhook).where(Webhook.benchmark_id == submission.benchmark_id)).scalars():
        send(session, hook, submission.id)


def send(session: Session, webhook: Webhook, submission_id: int | None) -> None:
    """Queues a message; without a submission, one that only tests the address."""
    old = (WebhookDelivery.webhook_id == webhook.id) & (WebhookDelivery.created < now() - KEPT_FOR)
    session.execute(delete(WebhookDelivery).where(old))
    delivery = WebhookDelivery(webhook_id=webhook.id, submission_id=submission_id, due=now())
    session.add(delivery)
    session.flush()
    jobs.add(session, KIND, delivery.id, share=webhook.id)


def prepare(session: Session, delivery_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The message and where it goes; nothing, where the webhook is removed."""
    delivery = session.get(WebhookDelivery, delivery_id)
    if delivery is None:
        return {}, []
    webhook = session.get_one(Webhook, delivery.webhook_id)
    benchmark = session.get_one(Benchmark, webhook.benchmark_id)
    message: dict[str, Any] = {
        "event": "test" if delivery.submission_id is None else "submission.scored",
        "delivery": delivery.id,
        "benchmark": benchmark.slug,
        "title": benchmark.title,
    }
    if delivery.submission_id is not None:
        message |= _about(session, delivery.submission_id)
    return {"url": webhook.url, "secret": webhook.secret, "message": message}, []


def _about(session: Session, submission_id: int) -> dict[str, Any]:
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.team)])
    benchmark = session.get_one(Benchmark, submission.benchmark_id)
    scores = select(SubmissionScore).where(
        SubmissionScore.submission_id == submission_id, SubmissionScore.part == parts.shown(session, benchmark)
    )
    return {
        "submission": submission.id,
        "team": submission.team.name,
        "system": submission.system,
        "baseline": submission.baseline,
        "submitted": submission.created.isoformat(),
        "scores": {score.metric: score.value for score in session.execute(scores).scalars()},
    }


def store(session: Session, delivery_id: int, answer: dict[str, Any]) -> None:
    """Notes what came of the attempt; queues the next one where it failed and attempts are left."""
    delivery = session.get(WebhookDelivery, delivery_id)
    if delivery is None:
        return
    delivery.attempts += 1
    delivery.answer, delivery.due = answer["answer"], None
    if answer["delivered"]:
        delivery.delivered = now()
    elif delivery.attempts <= len(PAUSES):
        delivery.due = now() + PAUSES[delivery.attempts - 1]
        jobs.add(session, KIND, delivery.id, share=delivery.webhook_id, due=delivery.due)


JOB_KINDS[KIND] = JobKind(prepare, "sacrecap_server.boards.sender:deliver", store, remote=True)
