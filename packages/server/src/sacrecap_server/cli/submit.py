"""`sacrecap submit`: send captions to a contest, and wait for the scores."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError
from sacrecap.report.printing.table import Column, Number, Table, Value
from sacrecap.report.printing.terminal import render


@click.command(cls=Command, section="People, studies and benchmarks")
@click.argument("link")
@click.argument("file", required=False)
@click.option("--system", metavar="NAME", help="The system's name on the board; by default the file's name.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the scores.")
@options.table_or_json
@options.quiet
def command(link: str, file: str | None, system: str | None, no_wait: bool, format_: str) -> int:
    """Submit FILE by the LINK of a team, and print the scores; without FILE, list the team's submissions.

    LINK is the address that the host sent, or a file that has it. The exit status is 2 if the file is refused, with
    all its problems on standard error. The same file twice is one submission.
    """
    door = _Door(link)
    if file is None:
        listed = door.call("/team")
        options.emit(json.dumps(listed, indent=2) if format_ == "json" else _table(listed["submissions"]))
        return 0
    with reading(file), open(file, "rb") as opened:
        data = opened.read()
    name = os.path.basename(file)
    query = urllib.parse.urlencode({"system": system or os.path.splitext(name)[0], "file": name})
    receipt = door.call(f"/submit?{query}", data)
    click.echo(f"sacrecap: {receipt['system']} is taken", err=True)
    while receipt["state"] == "waits" and not no_wait:
        stage.text = "waiting for the scores"
        time.sleep(1)
        every = door.call("/team")["submissions"]
        receipt = next(submission for submission in every if submission["number"] == receipt["number"])
    options.emit(json.dumps(receipt, indent=2) if format_ == "json" else _table([receipt]))
    if receipt["state"] == "failed":
        raise DataError(f"{receipt['system']} could not be scored: {receipt['problem']}")
    return 0


class _Sent(io.BytesIO):
    """A body that tells how much of it is sent."""

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size)
        stage.text = f"sending: {self.tell() / max(1, len(self.getbuffer())):.0%}"
        return piece


class _Door:
    """The door that a link opens."""

    def __init__(self, link: str) -> None:
        if not link.startswith(("https://", "http://")):
            with reading(link), open(link, encoding="utf-8") as file:
                link = file.read().strip()
        url = urllib.parse.urlsplit(link)
        is_link = url.scheme in {"http", "https"} and url.hostname
        if not is_link or not re.fullmatch(r"[\w.~%-]+", url.fragment):
            raise UsageError("LINK must be a team's whole link, https://…/enter#…, or a file that has it")
        if url.scheme == "http" and url.hostname not in {"localhost", "127.0.0.1", "::1"}:
            raise UsageError(f"a link by http:// would be sent unencrypted to {url.hostname}; ask for one by https://")
        self.url = f"{url.scheme}://{url.netloc}{url.path.removesuffix('/enter')}"
        self.token = url.fragment

    def call(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        """The JSON answer; if the server is busy and says for how long, the request is repeated after that time.

        Raises `DataError` with the server's own words where it refuses, or where there is no answer.
        """
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers |= {"Content-Type": "application/octet-stream", "Content-Length": str(len(data))}
        for left in (3, 2, 1, 0):
            body = None if data is None else _Sent(data)
            request = urllib.request.Request(self.url + path, body, headers)  # noqa: S310  (checked above)
            try:
                with urllib.request.build_opener(_NoRedirection).open(request, timeout=120) as answer:
                    document: dict[str, Any] = json.load(answer)
                    return document
            except urllib.error.HTTPError as error:
                wait, refusal = error.headers.get("Retry-After", ""), f"answered {error.code} {error.reason}"
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    body = json.load(error)["error"]
                    for problem in body["problems"]:
                        click.echo(f"sacrecap: {_printable(str(problem))}", err=True)
                    refusal = str(body["message"])
                refusal = f"{self.url}: {_printable(refusal)}"
                is_busy = error.code in (429, 503) and wait.isdecimal() and int(wait) <= 60
                if not left or not is_busy:  # for longer, the user is told
                    raise DataError(refusal) from None
            except (OSError, ValueError) as error:
                raise DataError(f"{self.url}: no answer of a contest ({getattr(error, 'reason', error)})") from None
            click.echo(f"sacrecap: {refusal}; trying again in {int(wait)} s", err=True)
            time.sleep(int(wait))
        raise AssertionError


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """The link's token is for the door alone: urllib would send it to wherever an answer points."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def _table(submissions: list[dict[str, Any]]) -> str:
    if not submissions:
        return "nothing is submitted yet"
    # Scores on the references that rank; none of a file that waits, and nan for what has none.
    sets = [list(submission.get("sets", {}).values()) for submission in submissions]
    first = [results[0]["scores"] if results else {} for results in sets]
    metrics = max(first, key=len)
    heads = [Column("system", "left", names=True), Column("submitted", "left"), Column("state", "left")]
    rows: list[list[Value]] = [
        [
            submission["system"],
            submission["submitted"][:16].replace("T", " "),
            f"{submission['state']}, chosen" if submission["chosen"] else submission["state"],
            *(Number(math.nan if scores.get(metric) is None else scores[metric]) for metric in metrics),
        ]
        for submission, scores in zip(submissions, first, strict=True)
    ]
    table = Table([*heads, *(Column(metric) for metric in metrics)], rows)
    return render([table], colour=options.colour("-"), width=options.width("-"))
