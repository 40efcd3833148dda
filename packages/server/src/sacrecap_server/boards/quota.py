"""How often somebody may ask hidden references something: by a submission, or by a comparison of two.

Both count for the account and for its team, and whichever has used more decides. So a new team is no new quota, and
neither is a new account of the same mailbox. What is deleted goes on counting; a submission that could not be scored
does not.
"""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller
from sacrecap_server.accounts.account_removal import mailbox_hash
from sacrecap_server.boards import scoring
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Account, Benchmark, Job, QuotaUse, now
from sacrecap_studies.messages import Message


def left(session: Session, caller: Caller, benchmark: Benchmark) -> tuple[int, int]:
    """How many the caller has left, today (UTC) and in all."""
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    counts = (
        select(func.count().filter(QuotaUse.created >= today), func.count())
        .select_from(QuotaUse)
        .outerjoin(Job, (Job.subject_id == QuotaUse.submission_id) & (Job.kind == scoring.KIND))
        .where(QuotaUse.benchmark_id == benchmark.id, Job.state.is_distinct_from("failed"))
    )
    deleted = Account.mailbox == mailbox_hash(session, caller.email)
    mine = select(Account.id).where((Account.id == caller.account_id) | deleted)
    of_team, of_account = (
        session.execute(counts.where(condition)).one()
        for condition in (QuotaUse.team_id == (caller.team_id or 0), QuotaUse.account_id.in_(mine))
    )
    in_all = max(0, benchmark.quota_total - max(of_team[1], of_account[1]))
    return min(in_all, max(0, benchmark.quota_day - max(of_team[0], of_account[0]))), in_all


def check(session: Session, caller: Caller, benchmark: Benchmark) -> None:
    """Raises `Refused` (429) if nothing is left."""
    today, in_all = left(session, caller, benchmark)
    if not today:
        which = (
            Message("submissions of today (UTC): %(number)s", number=benchmark.quota_day)
            if in_all
            else Message("submissions: %(number)s", number=benchmark.quota_total)
        )
        raise Refused(
            429,
            "You have used all that %(benchmark)s takes (%(which)s). Those of your team and yours in other teams "
            "count, and so does each comparison that was asked for.",
            benchmark=benchmark.title,
            which=which,
        )


def spend(session: Session, caller: Caller, benchmark: Benchmark, submission_id: int | None = None) -> None:
    """Notes one more; without a submission it is a comparison."""
    use = QuotaUse(benchmark_id=benchmark.id, team_id=caller.team_id, account_id=caller.account_id)
    use.submission_id = submission_id
    session.add(use)
