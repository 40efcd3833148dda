"""The board of a contest in a folder: what is told of its submissions, as a page and JSON.

What was found of submitted files before is remembered, so that a board of thousands scores only those that are new.
A board of 1,000 files of 1,000 images takes 42 s of a processor without it, and 1 s with it; a door makes one a minute.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from sacrecap import __version__
from sacrecap._core import Captions
from sacrecap.above import Printable, from_above
from sacrecap.boards.contest_folder import FEWEST, FILE, PRIVATE, PUBLIC, Contest, is_inside
from sacrecap.boards.examination import problems
from sacrecap.boards.scored import (
    Best,
    Board,
    document_of,
    limits_for,
    ranked_board,
    ranking,
    told_score,
    told_scores,
    without_folders,
)
from sacrecap.corpus.corpus import Corpus, as_references
from sacrecap.data.captions import read_data
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, first_of
from sacrecap.metrics import Metric
from sacrecap.metrics.outside import for_system
from sacrecap.metrics.registry import parse_metrics, with_columns
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.result import Result
from sacrecap.scoring.score import score_corpus


class Memory(dict[str, "float | list[str] | None"]):
    """By the checksum of a file, the score that chooses a team's best, or the problems.

    It is in a file beside the references, and begun anew where anything that it depends on has changed.
    """

    def __init__(self, contest: Contest, metrics: Sequence[str]) -> None:
        super().__init__()
        name = f"{os.path.basename(contest.folder)}.scores.json"
        self._path = os.path.join(os.path.dirname(contest.first), name)
        hidden = filter(None, (contest.first, contest.objects))
        rules = metrics, contest.rank_by, contest.tokenizer, dataclasses.asdict(contest.limits)
        private = contest.private_part.checksum if contest.private else ""
        depends_on = [__version__, *rules, *(checksum(read_bytes(path)) for path in hidden), private]
        self._state = checksum(json.dumps(depends_on).encode())
        with suppress(OSError, ValueError, KeyError, TypeError), open(self._path, encoding="utf-8") as file:
            document = json.load(file)
            if document["of"] == self._state:
                self.update(document["files"])
        self._before = set(self)

    def write(self, files: Collection[str]) -> None:
        """Writes what is known of these files; where the folder cannot be written, that costs time alone."""
        if self._before != set(files) and os.access(os.path.dirname(self._path), os.W_OK):
            with suppress(DataError), atomic_write(self._path) as file:
                json.dump({"of": self._state, "files": {key: self[key] for key in sorted(files)}}, file)


def checksum(data: bytes) -> str:
    """What files are known by."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class ContestBoard(Printable):
    """What anybody may know of a contest's submissions."""

    contest: Contest
    part: str
    """The images that scores are of: `all`, `public` or `private`."""
    sets: dict[str, Board]
    """A board for each set of references, of the same systems: the first ranks them."""
    left_out: list[str]
    """A sentence for each thing in the folder that is not read."""
    resampling: ClassVar[Resampling] = Board.resampling
    """How its intervals are made."""

    @property
    def first(self) -> Board:
        """The board of the set that ranks."""
        return next(iter(self.sets.values()))

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap board FOLDER`."""
        contest = self.contest
        return {
            "sacrecap": __version__,
            "title": contest.title,
            "host": contest.host,
            "starts": contest.starts and contest.starts.isoformat(),
            "ends": contest.ends and contest.ends.isoformat(),
            "part": self.part,
            "private": {"share": contest.private, "sha256": contest.private_part.checksum} if contest.private else None,
            "sets": {name: board.to_dict() for name, board in self.sets.items()},
            "left_out": self.left_out,
        }

    def write(self, site: PathLike) -> None:
        """Writes `index.html` and `board.json` into a folder, each whole or not at all; of a contest with a private
        part also `private.json` after the end: which images it had, and what shows that they were not changed.

        Raises:
            DataError: it cannot be written, or has what participants must not see.
        """
        contest = self.contest
        hidden = [*contest.references.values(), *([contest.objects] if contest.objects else [])]
        write_site(site, self, hidden, private=contest.private_part.data if self.part == PRIVATE else None)


def write_site(
    site: PathLike,
    board: Board | ContestBoard,
    hidden: Iterable[PathLike],
    *,
    title: str | None = None,
    private: bytes | None = None,
) -> None:
    """Writes the page and the JSON of a board.

    Raises `DataError` where the folder cannot be made or written, or has one of the hidden files.
    """
    for path in hidden:
        if is_inside(os.path.realpath(path), os.path.realpath(site)):
            raise DataError(f"{site}: holds {path}, which participants must not see; write into another folder")
    document = json.dumps(board.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    files = {
        "index.html": from_above("page")(board, title=title).encode("utf-8", "replace"),
        "board.json": f"{document}\n".encode("utf-8", "replace"),
        **({} if private is None else {"private.json": private}),
    }
    try:
        os.makedirs(site, exist_ok=True)
    except OSError as error:
        raise DataError(f"{site}: cannot be made: {error.strerror}") from None
    for name, data in files.items():
        with atomic_write(os.path.join(site, name), "wb") as file:
            file.write(data)


class ContestScoring:
    """Scores files of a contest on each set of references, and on the images that are told."""

    def __init__(self, contest: Contest, needs: Needs | Mapping[str, object] | None = None, threads: int = 0) -> None:
        self.needs = Needs.of(needs, {"objects": contest.objects}, threads=threads)
        self.metrics = with_columns(parse_metrics(contest.metrics, self.needs), self.needs)
        self.leader = ranking(self.metrics, contest.rank_by, self.needs)
        self.limits = limits_for(contest.limits, self.metrics)
        self.references = {name: as_references(path) for name, path in contest.references.items()}
        self.first = next(iter(self.references))
        self.images = list(self.references[self.first].image_ids)
        self.tokenizer = contest.tokenizer
        self._private = contest.private_part.images if contest.private else frozenset()
        for name, references in self.references.items():
            path, counts = contest.references[name], zip(references.image_ids, references.caption_counts(), strict=True)
            if (undescribed := [image for image, count in counts if not count]) or not self.images:
                raise DataError(f"{path}: has no reference of {first_of(undescribed) or 'any image'}")
            if foreign := set(references.image_ids) - set(self.images):
                first = os.path.basename(contest.first)
                raise DataError(f"{path}: has images that {first} lacks: {first_of(sorted(foreign))}")
            if contest.private and min(len(self.rows(name, part)) for part in (PUBLIC, PRIVATE)) < FEWEST:
                raise DataError(f"{path}: one of the two parts has fewer than {FEWEST} of its images")

    def rows(self, name: str, part: str) -> list[int]:
        """The numbers of a set's images that belong to a part."""
        ids = self.references[name].image_ids
        return [row for row, image in enumerate(ids) if (image in self._private) == (part == PRIVATE)]

    def examined(self, data: bytes, system: str) -> float | list[str] | None:
        """The score that decides, of the images that are told while the contest is open; or what is wrong."""
        if faults := problems(data, self.images, self.limits):
            return faults
        try:
            result = self.score(self.first, read_data(data, "candidates", ""), system, [self.leader])
        except DataError as error:
            return [without_folders(str(error), self.needs.get("scores"))]
        return told_score(self.on_part(PUBLIC, self.first, result)[self.leader.key]).value

    def score(self, name: str, captions: Captions, system: str = "", metrics: Sequence[Metric] = ()) -> Result:
        """The scores of captions by a set, on all its images: document frequencies are those of the whole set."""
        described = self.references[name]
        by_image = {image: captions.captions(image)[0] for image in described.image_ids}
        needs = for_system(self.needs, system) if system else self.needs
        corpus = Corpus(described, by_image, tokenizer=self.tokenizer, threads=needs.threads)  # type: ignore[arg-type]
        return score_corpus(corpus, metrics or self.metrics, needs=needs)

    def on_part(self, part: str, name: str, result: Result) -> Result:
        """The result on a part of the images."""
        rows = self.rows(name, part)
        if len(rows) == len(result.image_ids):
            return result
        scores = {key: replace(score, statistics=score.rows.select(rows)) for key, score in result.items()}
        return replace(result, image_ids=[result.image_ids[row] for row in rows], scores=scores)

    def scores_of(self, data: bytes, part: str) -> dict[str, Any]:
        """What a team may know of a file, on a part of the images. Raises `DataError` for one that has problems."""
        if faults := problems(data, self.images, self.limits):
            raise DataError(" ".join(faults))
        captions, sets = read_data(data, "candidates", ""), {}
        for name in self.references:
            sets[name] = document_of(told_scores(self.on_part(part, name, self.score(name, captions))))
        return {"part": part, "sets": sets}


def board_of(
    contest: Contest, part: str, needs: Needs | Mapping[str, object] | None = None, threads: int = 0
) -> ContestBoard:
    """The board of the submissions on a part of the images.

    A team's rows are its final choice, or else the best on the images that are told while the contest is open: private
    ones never choose, which would flatter whoever tried most.
    """
    scored = ContestScoring(contest, needs, threads)
    submitted = contest.submissions()
    refused: dict[str, list[str]] = {}
    best: Best[bytes] = Best(scored.leader, contest.rows, [final.system for final in submitted.final.values()])
    memory: dict[str, float | list[str] | None] = {}
    # A contest that a program makes for one submission, as platforms do, leaves nothing beside their references.
    if needs is None and os.path.isfile(os.path.join(contest.folder, FILE)):
        memory = Memory(contest, [metric.key for metric in scored.metrics])
    keys = set()
    for submission in chain.from_iterable(submitted.teams.values()):
        try:
            data = submission.read()
        except DataError as error:
            submitted.left_out.append(f"submissions/{submission.team}/{error}")
            continue
        # Scores that others computed are by the name of the system.
        keys.add(key := checksum(data) if needs is None else submission.system)
        if key not in memory:
            memory[key] = scored.examined(data, submission.system)
        examined = memory[key]
        if isinstance(examined, list):
            refused[submission.system] = examined
        else:
            best.add(submission.team, submission.system, examined, data)
    if isinstance(memory, Memory):
        memory.write(keys)
    captions = {system: read_data(data, "candidates", "") for system, data in best.systems().items()}
    boards = {}
    for name in scored.references:
        is_first = name == scored.first
        not_ranked = refused if is_first else {}
        results = {
            system: scored.on_part(part, name, scored.score(name, of_system, system))
            for system, of_system in captions.items()
        }
        if results:
            # The numbers that chose a team's best allow for its attempts.
            attempts = best.attempts() if is_first and part != PRIVATE else {}
            boards[name] = ranked_board(results, best, attempts, not_ranked)
        else:
            metrics = {metric.key: metric for metric in (scored.leader, *scored.metrics)}
            images, signatures = len(scored.rows(name, part)), dict.fromkeys(metrics, "")
            boards[name] = Board(__version__, images, metrics, signatures, scored.leader.key, [], [], not_ranked)
    return ContestBoard(contest, part, boards, submitted.left_out)
