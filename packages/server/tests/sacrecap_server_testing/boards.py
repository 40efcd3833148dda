"""Submissions without uploads, for tests of boards with many teams; and the end of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import select, update

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import scoring
from sacrecap_server.jobs import jobs
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, Submission, Team, now
from sacrecap_server_testing.benchmark import SYSTEMS
from sacrecap_server_testing.world import World

CAREFUL: dict[str, str] = json.loads(SYSTEMS["careful"])


def worse(images: int, captions: Mapping[str, str] = CAREFUL) -> dict[str, str]:
    """The captions, with a poor one for the first few images."""
    return {**captions, **{image: f"a thing of kind {place}" for place, image in enumerate(list(CAREFUL)[:images])}}


def close(world: World) -> None:
    """Ends every benchmark now."""
    with world.database.write() as session:
        session.execute(update(Benchmark).values(closes=now()))


def enter(world: World, team: str, captions: Mapping[str, str], *, system: str = "A system", slug: str = "ours") -> int:
    """A submission of a team, which is made where it is new; waiting to be scored. Its number."""
    account = world.account(Role.ADMIN)
    with world.database.write() as session:
        benchmark = session.execute(select(Benchmark.id).where(Benchmark.slug == slug)).scalar_one()
        known = session.execute(select(Team.id).where(Team.name == team)).scalar_one_or_none()
        if known is None:
            row = Team(name=team, name_key=team.casefold())
            session.add(row)
            session.flush()
            known = row.id
        submission = Submission(
            benchmark_id=benchmark,
            team_id=known,
            account_id=account,
            file_name="a.json",
            system=system,
            file_sha=blobs.keep(session, json.dumps(captions).encode()),
        )
        session.add(submission)
        session.flush()
        jobs.add(session, scoring.KIND, submission.id, share=known)
        return submission.id
