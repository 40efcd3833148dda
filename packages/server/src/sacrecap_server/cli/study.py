"""`sacrecap study`: the file of a human study."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sacrecap.boards import Contest
from sacrecap.cli import options
from sacrecap.cli.group import Group, takes
from sacrecap.cli.system_names import named
from sacrecap.data import read_candidates, read_caption_sets, read_references
from sacrecap.data.images import ImageSource
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, UsageError, warn
from sacrecap_server.cli.serving import check_extra, owner_token, serving_options
from sacrecap_studies import sample_size as planning
from sacrecap_studies.answers import compare_winners
from sacrecap_studies.design import StudyDesign, read_design
from sacrecap_studies.kinds import KINDS
from sacrecap_studies.make import CATEGORIES, images_of, make_study

_ONE_OR_MORE: dict[str, Any] = {"type": click.IntRange(1)}
_ZERO_OR_MORE: dict[str, Any] = {"type": click.IntRange(0), "default": 0, "show_default": True}


@click.group(name="study", cls=Group, section="People, studies and benchmarks")
def command() -> None:
    """Make and check the file of a human study, and serve it to people."""


@command.command(short_help="Make a study from references and systems.")
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@click.argument("more_systems", nargs=-1, metavar="")
@takes(
    f"""
    --references FILE  Human sentences, in any format that sacrecap score reads.
    --systems FILE...  Captions of the systems (for diversity: caption sets), as FILE or NAME=FILE; several may follow.
    --contest FOLDER  Take references and systems of a contest: the files that count; until its end, of public images
        alone.
    --images DIR|FILE.tar|PATTERN  The images: from a folder, a tar file, or a pattern such as photos/{{image_id}}.jpg,
        copies go into the file; with https://host/{{image_id:012}}.jpg, browsers load them.
    --categories LIST  Pairs to ask about, of {", ".join(CATEGORIES)}: two people, a person and another image's, a
        person and a system, two systems.
    --items N  Draw this many items; all by default.
    --per-category N  Draw this many pairs of each category, with all systems in roughly equal numbers.
    --references-per-item N  Draw this many references of each pair.
    --together  All captions of an image on one page, where captions are rated.
    --questions FILE  What a study of the kind questions asks: a JSON list of questions.
    --examples FILE  What people are shown before they begin: a JSON list of examples.
    --judgments N  People per item; the protocol's by default.
    --gold N  Questions with known answers.
    --attention N  Attention checks.
    --practice N  Practice questions; people are shown the known answers.
    --title TEXT  What annotators read first.
    --seed N  Random seed.
    --output, -o FILE  The file to write; - is stdout.
    """,
    systems={"multiple": True},
    categories={"default": "MM", "show_default": True},
    items=_ONE_OR_MORE,
    per_category=_ONE_OR_MORE,
    references_per_item=_ONE_OR_MORE,
    together={"is_flag": True},
    judgments=_ONE_OR_MORE,
    gold=_ZERO_OR_MORE,
    attention=_ZERO_OR_MORE,
    practice=_ZERO_OR_MORE,
    seed=_ZERO_OR_MORE,
    o={"default": "-", "show_default": True},
)
@options.quiet
def make(
    kind: str,
    more_systems: tuple[str, ...],
    references: str | None,
    systems: tuple[str, ...],
    contest: str | None,
    images: str | None,
    categories: str,
    questions: str | None,
    examples: str | None,
    title: str | None,
    output: str,
    **drawn: Any,
) -> None:
    """Make a study of KIND: triplet, pairwise, pairwise-equal, diversity, collection, expert, likert,
    adequacy-fluency, or questions of your own.

    The file has all questions. Change it as you like, check it with sacrecap study check, and serve it with
    sacrecap study serve, or upload it on the page Studies of that server.
    """
    options.check_outputs(output=output)
    files = (*systems, *more_systems)
    if kind == "collection" and (files or contest is not None):
        instead = "leave --systems out" if contest is None else "give --images in place of --contest"
        raise UsageError(f"a collection asks people to describe images, so it has no systems; {instead}")
    if contest is None:
        sentences = _references(kind, references, images)
        read = read_caption_sets if kind == "diversity" else read_candidates
        captions = {name: read(file).to_dict() for name, file in named(files).items()}
    elif references is not None or files:
        raise UsageError("--contest FOLDER has the references and the systems; leave --references and --systems out")
    else:
        sentences, captions = _of_contest(contest)
    names = [name.strip() for name in categories.split(",")]
    if (questions is None) == (kind == "questions"):
        raise UsageError("--questions FILE and the kind questions go together")
    listed_questions = None if questions is None else _listed(questions, "questions")
    study = make_study(kind, sentences, captions, categories=names, questions=listed_questions, **drawn)
    if examples is not None:
        study["examples"] = _listed(examples, "examples")
    if title is not None:
        study = {"study": kind, "title": title, **study}
    if images is not None or (KINDS[kind].shows_image and kind != "questions"):
        if images is None:
            raise UsageError(f"a {kind} study shows images: give --images DIR, FILE.tar or PATTERN")
        pages = [*study["items"]]
        for role in ("gold", "attention", "practice"):
            pages += study.get(role, {}).get("items", [])
        shown_ids = dict.fromkeys(item["image_id"] for item in pages if "image_id" in item)
        study["images"] = images_of(images, list(shown_ids))
    _warn(read_design(json.dumps(study).encode()))
    options.emit(json.dumps(study, ensure_ascii=False, indent=1), output)


@command.command(short_help="Check the file of a study.")
@click.argument("file")
def check(file: str) -> None:
    """Check FILE completely, and summarise what it asks."""
    design = read_design(read_bytes(file), file)
    _warn(design)
    checks = sum(len(design.known[role]) for role in design.settings["checks"])
    click.echo(
        f"{design.kind.name}: {len(design.pages):,} questions, {design.judgments} people each, "
        f"{len(design.pages) * design.judgments:,} answers; {checks:,} checks, {len(design.images):,} images"
    )


@command.command(short_help="Compare the winners of two studies of the same pairs.")
@click.argument("triplets")
@click.argument("choices", metavar="PAIRWISE")
@click.option("--output", "-o", metavar="FILE", help="Write the joined pairs, a line each, with both winners.")
def compare(triplets: str, choices: str, output: str | None) -> None:
    """Compare what is human-like with what humans like (CIDEr, appendix III).

    TRIPLETS and PAIRWISE are exports of a triplet and a pairwise study that sacrecap study make has made of the same
    pairs: with the same seed, captions and categories.
    """
    table, lines = compare_winners(triplets, choices)
    if output is not None:
        options.emit("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), output)
    click.echo(table)


def _listed(file: str, name: str) -> list[Any]:
    """A JSON list in a file; `read_design` checks what is in it."""
    try:
        value = json.loads(read_bytes(file))
    except ValueError as error:
        raise DataError(f"{file}: not JSON ({error})") from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise DataError(f"{file}: the {name} must be a list of objects; see the page The file of a study")
    return value


@command.command(short_help="Say how many items and people a study needs.")
@click.argument("what", metavar="WHAT", type=click.Choice(("accuracy", "mean", "difference", "tau")))
@takes(
    """
    --width W  How wide the interval of 95 % may be, from end to end.
    --assume X  The accuracy, or τ, that you expect; 0.75, or 0.4, by default.
    --pilot FILE  Exported judgments of a smaller study, to estimate the rest from.
    --between S  Without a pilot: the items' standard deviation.
    --within S  The standard deviation of people's answers to one item.
    --agree A  For accuracy: how often one person is right; 0.85 by default.
    --per-person N  Items that one person answers; those of --study, or 20, by default.
    --study FILE  The file of a study: say which width it reaches.
    """,
    width={"type": click.FloatRange(0, 2, min_open=True), "default": 0.1, "show_default": True},
    assume={"type": click.FloatRange(0, 1, max_open=True)},
    between={"type": click.FloatRange(0)},
    within={"type": click.FloatRange(0)},
    agree={"type": click.FloatRange(0.5, 1)},
    per_person={"type": click.IntRange(1)},
)
@options.table_or_json
def plan(
    what: str,
    width: float,
    assume: float | None,
    pilot: str | None,
    between: float | None,
    within: float | None,
    agree: float | None,
    per_person: int | None,
    study: str | None,
    format_: str,
) -> None:
    """Say how many items and people are needed for an interval of WHAT.

    WHAT is the accuracy of a metric, a mean rating, the difference of two systems on the same items, or Kendall's tau
    of a metric with ratings.
    """
    pilot_answers = None if pilot is None else planning.Pilot.read(read_bytes(pilot), pilot)
    if what == "accuracy":
        agree = agree if agree is not None else 0.85 if pilot_answers is None else pilot_answers.agree()
        assumed = {"accuracy": 0.75 if assume is None else assume, "agree": agree}
        target = planning.accuracy(assumed["accuracy"], agree)
    else:
        spread = _spread(what, pilot_answers, between, within)
        assumed = {"between": spread.between, "within": spread.within}
        if what == "tau":
            assumed["tau"] = 0.4 if assume is None else assume
        target = planning.tau(assumed["tau"], spread) if what == "tau" else planning.mean(spread)
    design = None if study is None else read_design(read_bytes(study), study)
    if per_person is None:
        per_person = 20 if design is None else min(len(design.pages), design.most_per_person or len(design.pages))
    rows = [target.need(width, people, per_person) for people in (1, 3, 5, 7, 11)]
    of_design = None if design is None else target.of(len(design.pages), design.judgments, per_person)
    if format_ == "json":
        plan = {"what": what, "width": width, "assumed": assumed, "per_person": per_person}
        needs = {"needs": [asdict(row) for row in rows], "study": None if of_design is None else asdict(of_design)}
        click.echo(json.dumps({**plan, **needs}, indent=1))
        return
    click.echo(f"{what}, assumed: " + ", ".join(f"{name} {value:.3g}" for name, value in assumed.items()))
    click.echo("people per item    items  answers   people  expected   width")
    for row in (*rows, *filter(None, [of_design])):
        expected = "–" if row.expected is None else f"{row.expected:.3f}"
        end = f"{expected:>10} {row.width:>7.3f}{'  this study' if row is of_design else ''}"
        click.echo(f"{row.judgments:>15} {row.items:>8,} {row.answers:>8,} {row.people:>8,}{end}")


def _spread(what: str, pilot: planning.Pilot | None, between: float | None, within: float | None) -> planning.Spread:
    if between is not None and within is not None:
        return planning.Spread(between, within)
    if pilot is None:
        raise UsageError(f"{what} needs what varies: --pilot FILE, or --between S and --within S")
    values = pilot.differences() if what == "difference" else pilot.ratings()
    return planning.Spread(values.between if between is None else between, values.within if within is None else within)


def _warn(design: StudyDesign) -> None:
    for remark in design.remarks:
        warn(remark)


def _references(kind: str, file: str | None, images: str | None) -> dict[str, list[str]]:
    if file is not None:
        return read_references(file).to_dict()
    if KINDS[kind].has_pairs:
        raise UsageError(f"a {kind} study needs --references, what people wrote of the images")
    if kind == "collection":
        if images is None:
            raise UsageError("a collection needs its images: --images DIR, or --references FILE and --images PATTERN")
        return {image: [] for image in ImageSource.open(images).image_ids()}
    return {}


def _of_contest(folder: str) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """References, and captions of the files that count: of public images alone while the contest is not over."""
    contest, now = Contest.load(folder), dt.datetime.now(dt.timezone.utc)
    public = dict.fromkeys(contest.public_images(now))
    if contest.phase(now) != "over":
        warn(
            f"{folder}: the contest is not over, and people who answer read what the study shows: references, too, in "
            "triplets, in pairs with a person, and in questions with known answers"
        )
    board = contest.board(now).to_dict()
    rows = next(iter(board["sets"].values()))["systems"]
    of_name = {
        submission.system: submission.path
        for submissions in contest.submissions().teams.values()
        for submission in submissions
    }
    captions = {name: read_candidates(of_name[name]).to_dict() for name in rows if name in of_name}
    sentences = read_references(contest.first).to_dict()
    return (
        {image: sentences[image] for image in public},
        {name: {image: texts[image] for image in public if image in texts} for name, texts in captions.items()},
    )


@command.command(short_help="Serve studies to people, without accounts.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--database",
    metavar="FILE",
    help="Where answers are kept (SQLite), made as needed.  [default: the name of the first FILE.db]",
)
@serving_options()
def serve(files: tuple[str, ...], database: str | None, **options: Any) -> Callable[[], int]:
    """Serve the studies FILE..., which sacrecap study make wrote, until it is told to end; again, it goes on.

    The owner signs in with a token, looks at the studies, opens them, sends people their links, and exports what they
    answer. There are no other accounts. The token is made and printed once, and kept beside the database; or
    SACRECAP_STUDY_TOKEN has it (32 characters or more), or SACRECAP_STUDY_TOKEN_FILE names a file that does.

    By default only this machine can reach it. Another --host needs a proxy that has TLS, --behind-proxy and
    --public-url.
    """
    check_extra("sacrecap study serve")
    os.umask(0o077)
    from sacrecap_server.app import create_app, serve_app
    from sacrecap_server.settings import ServerSettings
    from sacrecap_server.store.database import Database
    from sacrecap_server.studies.repository import make_once

    read = [(file, data, read_design(data, file)) for file, data in ((file, read_bytes(file)) for file in files)]
    place = database or f"{Path(files[0]).stem}.db"
    ServerSettings(database=place, **options).check()
    token, origin = owner_token(f"{place}.token")
    settings = ServerSettings(database=place, owner_token=token, **options)
    with closing(Database(place)) as opened:
        opened.prepare()
        with opened.write() as session:
            for file, data, design in read:
                if problem := make_once(session, Path(file).name, data, design):
                    raise UsageError(
                        f"{file}: {problem}, in {place}; texts and numbers of a study change on its page; give "
                        "--database FILE to begin another study, or the file another name"
                    )
    click.echo(f"sacrecap: the owner signs in at {settings.url}/ with the token {origin}", err=True)
    return lambda: serve_app(create_app(settings), settings)
