"""What a benchmark's host takes out of it: the captions that were submitted, and a study of the board's rows."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import zipfile
from pathlib import PurePath
from typing import IO

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap._core import Captions
from sacrecap.errors import SacrecapError
from sacrecap_server.boards.board_view import entries
from sacrecap_server.errors import Refused
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, Submission, Team
from sacrecap_studies.kinds import KINDS
from sacrecap_studies.make import images_of, make_study

ABOUT_ROWS = [name for name in KINDS if name not in ("collection", "diversity", "questions")]
"""Kinds of studies that ask about one caption of each system."""
MOST_ITEMS = 2000


def file_name(submission: Submission) -> str:
    """The name under which a submission is saved: its number, its system and the suffix of its file."""
    stem = re.sub(r"[^\w.-]+", "-", submission.system, flags=re.ASCII).strip("-.") or "captions"
    suffix = PurePath(submission.file_name).suffix.lower()
    return f"{submission.id}-{stem[:60]}{suffix if re.fullmatch(r'[.][a-z0-9]{1,8}', suffix) else '.json'}"


def archive(session: Session, benchmark: Benchmark) -> IO[bytes]:
    """A zip of all submissions, `systems/TEAM/FILE`; `sacrecap board` takes it, references beside it.

    It is a temporary file, which is gone when the caller closes it.
    """
    query = (
        select(Submission, Team.name)
        .join(Team, Team.id == Submission.team_id)
        .where(Submission.benchmark_id == benchmark.id)
        .order_by(Submission.id)
    )
    with contextlib.ExitStack() as if_it_fails:
        file = if_it_fails.enter_context(tempfile.TemporaryFile())
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for submission, team in session.execute(query):
                folder = re.sub(r"[^\w.-]+", "-", team, flags=re.ASCII).strip("-.") or "team"
                place = f"systems/{submission.team_id}-{folder}/{file_name(submission)}"
                packed.writestr(place, blobs.fetch(session, submission.file_sha))
        file.seek(0)
        if_it_fails.pop_all()
    return file


def study_of(session: Session, benchmark: Benchmark, kind: str, items: int, images: str) -> bytes:
    """The file of a study of the rows of a benchmark's board: what people think of the systems that it ranks.

    Args:
        session: reads the submissions and the references.
        benchmark: whose rows they are.
        kind: one of `ABOUT_ROWS`.
        items: how many questions to draw, at most `MOST_ITEMS`.
        images: the address of an image, such as `https://host/{image_id:012}.jpg`; empty where the kind shows none.

    Raises:
        Refused: no such kind, fewer rows than it needs, or an address that is none.
    """
    if kind not in ABOUT_ROWS or not 1 <= items <= MOST_ITEMS:
        raise Refused(
            422,
            "Choose a kind of %(kinds)s, and 1 to %(most)s questions.",
            kinds=", ".join(ABOUT_ROWS),
            most=f"{MOST_ITEMS:,}",
        )
    if images and not (images.startswith("https://") and "{image_id" in images):
        raise Refused(422, "The address of an image begins with https:// and has {image_id} where its id stands.")
    if KINDS[kind].shows_image and not images:
        raise Refused(422, "A study of the kind %(kind)s shows the image: give the address of one.", kind=kind)
    rows = entries(session, benchmark, best_only=True)
    systems = {f"{row.team}: {row.system}": _captions(session, session.get_one(Submission, row.id)) for row in rows}
    references = Captions.parse(blobs.fetch(session, benchmark.references_sha), None, None)
    sentences = {image: references.captions(image) for image in references.image_ids}
    try:
        study = make_study(kind, sentences, systems, items=items)
        if images:
            study["images"] = images_of(images, list(dict.fromkeys(item["image_id"] for item in study["items"])))
    except SacrecapError as error:
        raise Refused(422, "No study can be made of these rows: %(error)s", error=error) from None
    return json.dumps({"title": f"{benchmark.title}: people's judgment", **study}).encode()


def _captions(session: Session, submission: Submission) -> dict[str, list[str]]:
    parsed = Captions.parse(blobs.fetch(session, submission.file_sha), None, None)
    return {image: parsed.captions(image)[:1] for image in parsed.image_ids}
