"""Rules that somebody accepts before they submit: who did, when, and in which words."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller
from sacrecap_server.errors import Refused
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, RulesAcceptance, Team


def accepted(session: Session, caller: Caller, benchmark: Benchmark) -> bool:
    """Whether the caller accepted the rules as they are now; True if there are none."""
    if not benchmark.rules:
        return True
    key = (benchmark.id, caller.account_id, benchmark.rules_version)
    return caller.account_id is not None and session.get(RulesAcceptance, key) is not None


def accept(session: Session, caller: Caller, benchmark: Benchmark, version: int) -> None:
    """Notes that the caller accepted a version. Raises `Refused` (409) if the rules have changed since."""
    if not benchmark.rules or version != benchmark.rules_version:
        raise Refused(409, "The rules have changed since this page was opened. Go back, reload it, read them again.")
    if not accepted(session, caller, benchmark):
        session.merge(
            RulesAcceptance(
                benchmark_id=benchmark.id,
                account_id=caller.account_id,
                version=version,
                team_id=caller.team_id,
                text_sha=blobs.keep(session, benchmark.rules.encode()),
            )
        )


def acceptances(session: Session, benchmark: Benchmark) -> list[tuple[RulesAcceptance, str | None]]:
    """Who accepted, the newest first, with the team's name; whose addresses those are is not the host's business."""
    query = (
        select(RulesAcceptance, Team.name)
        .outerjoin(Team, Team.id == RulesAcceptance.team_id)
        .where(RulesAcceptance.benchmark_id == benchmark.id)
        .order_by(RulesAcceptance.accepted.desc())
    )
    return [(acceptance, team) for acceptance, team in session.execute(query).all()]
