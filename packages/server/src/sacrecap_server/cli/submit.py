"""`sacrecap submit`: send captions to an evaluation server and wait for the scores."""

from __future__ import annotations

import json
import math
import os
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

_LONGEST_PAUSE = 5.0
_LONGEST_WAIT = 60
"""Seconds: if the server is busy for longer, the user is told."""
_ATTEMPTS = 4
NOT_SCORED = 3
"""The exit status of --status for a submission that still waits or runs."""


@click.command(cls=Command, section="People, studies and benchmarks")
@click.argument("url")
@click.argument("benchmark")
@click.argument("file", required=False)
@click.option("--system", metavar="NAME", help="The system's name on the board; by default the file's name.")
@click.option("--baseline", is_flag=True, help="Submit a baseline of a benchmark that you host (outside quotas).")
@click.option("--no-wait", is_flag=True, help="Do not wait for the scores.")
@click.option("--list", "list_", is_flag=True, help="List the team's submissions instead; a host's list has all.")
@click.option("--status", type=click.IntRange(1), metavar="NUMBER", help="Show one submission to BENCHMARK instead.")
@click.option("--wait", is_flag=True, help="With --status: wait until it is scored.")
@click.option("--token-file", metavar="FILE", help="Read the API token from here instead of SACRECAP_TOKEN.")
@options.table_or_json
@options.quiet
def command(
    url: str,
    benchmark: str,
    file: str | None,
    list_: bool,
    status: int | None,
    wait: bool,
    token_file: str | None,
    format_: str,
    **sending: Any,
) -> int:
    """Submit FILE to BENCHMARK on the evaluation server at URL, and print the scores.

    With --list or --status, show what was submitted before. The exit status of --status is 0 if the submission is
    scored, 2 if it failed, and 3 if it still waits or runs.

    The API token comes from SACRECAP_TOKEN or --token-file; make one on the server's account page.
    """
    _check_usage(file, list_, status, wait=wait, **sending)
    server = RemoteServer(url, _token(token_file))
    if file is not None:
        submission = _send(server, benchmark, file, **sending)
        options.emit(_shown(submission, format_))
        return 0
    path = f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}"
    if list_:
        found = server.call(f"{path}/submissions")
        options.emit(json.dumps(found, indent=2) if format_ == "json" else _list(benchmark, found["submissions"]))
        return 0
    submission = server.call(f"/submissions/{status}")
    if submission["benchmark"] != benchmark:
        raise DataError(f"submission {status} is one to {submission['benchmark']}, not to {benchmark}")
    if wait:
        submission = _wait(server, submission)
    _check_not_failed(submission)
    options.emit(_shown(submission, format_))
    return 0 if submission["state"] == "done" else NOT_SCORED


def _check_usage(file: str | None, list_: bool, status: int | None, *, wait: bool, **of_a_file: object) -> None:
    if (file is not None) + list_ + (status is not None) != 1:
        raise click.UsageError("give one of FILE, --list and --status NUMBER")
    if wait and status is None:
        raise click.UsageError("--wait goes with --status; a file is waited for unless --no-wait says otherwise")
    if file is None and (given := [name for name, value in of_a_file.items() if value]):
        raise click.UsageError(f"--{given[0].replace('_', '-')} goes with FILE, not with --list or --status")


def _send(
    server: RemoteServer, benchmark: str, file: str, *, system: str | None, baseline: bool, no_wait: bool
) -> dict[str, Any]:
    with reading(file), open(file, "rb") as opened:
        data = opened.read()
    name = os.path.basename(file)
    stage.text = "sending"
    values = {"system": system or os.path.splitext(name)[0][:80], "file_name": name[:200]}
    query = urllib.parse.urlencode({**values, "baseline": "true"} if baseline else values)
    submission = server.call(f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/submissions?{query}", data)
    click.echo(f"sacrecap: submission {submission['id']}: {submission['url']}", err=True)
    if not no_wait:
        submission = _wait(server, submission)
        _check_not_failed(submission)
    return submission


def _shown(submission: dict[str, Any], format_: str) -> str:
    return json.dumps(submission, indent=2) if format_ == "json" else _table(submission)


class _BusyError(Exception):
    """The server is busy; after so many seconds it may be asked again."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class RemoteServer:
    """The API of an evaluation server."""

    def __init__(self, url: str, token: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"the server must be an address such as https://evaluation.example.org, got {url!r}")
        if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
            raise UsageError(f"{url} would send the API token unencrypted; use https://")
        self.url = url.rstrip("/")
        self.token = token

    def call(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        """The JSON answer; if the server is busy and says for how long, the request is repeated after that time.

        Nothing is done twice by that: the same file twice is one submission. Raises `DataError` with the server's own
        words where it refuses, or where there is no answer.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._ask(path, data)
            except _BusyError as busy:
                click.echo(f"sacrecap: {busy}; trying again in {busy.seconds} s", err=True)
                time.sleep(busy.seconds)
        try:
            return self._ask(path, data)
        except _BusyError as busy:
            raise DataError(str(busy)) from None

    def _ask(self, path: str, data: bytes | None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream"
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers)  # noqa: S310  (checked above)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                body: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as error:
            wait = error.headers.get("Retry-After", "")
            refusal = f"{self.url}: {_printable(_refusal(error))}"
            if error.code in (429, 503) and wait.isdecimal() and int(wait) <= _LONGEST_WAIT:
                raise _BusyError(refusal, int(wait)) from None
            raise DataError(refusal) from None
        except (OSError, ValueError) as error:
            raise DataError(f"{self.url}: no answer of a sacrecap server ({getattr(error, 'reason', error)})") from None
        return body


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        body = json.load(error)["error"]
        for problem in body["problems"]:
            click.echo(f"sacrecap: {_printable(str(problem))}", err=True)
        return str(body["message"])
    except (ValueError, KeyError, TypeError):
        return f"answered {error.code} {error.reason}"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def _token(path: str | None) -> str:
    if path is None:
        token = os.environ.get("SACRECAP_TOKEN", "")
    else:
        with reading(path), open(path, encoding="utf-8") as file:
            token = file.read()
    if not token.strip():
        raise UsageError("an API token is needed, in SACRECAP_TOKEN or --token-file; the account page makes one")
    return token.strip()


def _wait(server: RemoteServer, submission: dict[str, Any]) -> dict[str, Any]:
    pause, said = 0.3, ""
    while submission["state"] in {"queued", "running"}:
        stage.text = submission["progress"] or submission["state"]
        if not stage.quiet and stage.text != said:
            click.echo(f"sacrecap: {stage.text}", err=True)
            said = stage.text
        time.sleep(pause)
        pause = min(pause * 1.3, _LONGEST_PAUSE)
        submission = server.call(f"/submissions/{submission['id']}")
    return submission


def _check_not_failed(submission: dict[str, Any]) -> None:
    if submission["state"] == "failed":
        raise DataError(f"submission {submission['id']} failed: {submission['message']}")


def _table(submission: dict[str, Any]) -> str:
    if not submission["scores"]:
        return f"submission {submission['id']}: {submission['state']}"
    width = max(len(metric) for metric in submission["scores"])
    lines = []
    for metric, value in submission["scores"].items():
        lower, upper = submission["intervals"][metric]
        lines.append(f"{metric:<{width}}  {value:.4f}  [{lower:.4f}, {upper:.4f}]")
    return "\n".join(lines)


def _list(benchmark: str, submissions: list[dict[str, Any]]) -> str:
    if not submissions:
        return f"nothing is submitted to {benchmark} yet"
    # Each has the same metrics, or none if it is not scored or its scores are not shown yet.
    metrics = max((list(each["scores"]) for each in submissions), key=len)
    # A team sees only its own; a host sees everybody's.
    team = len({each["team"] for each in submissions}) > 1
    heads = [Column("number"), *([Column("team", "left", names=True)] if team else [])]
    heads += [Column("system", "left", names=True), Column("submitted", "left"), Column("state", "left")]
    rows: list[list[Value]] = [
        [
            str(each["id"]),
            *([each["team"]] if team else []),
            each["system"],
            each["submitted"][:16].replace("T", " "),
            _state(each),
            *(Number(each["scores"].get(metric, math.nan)) for metric in metrics),
        ]
        for each in submissions
    ]
    table = Table([*heads, *(Column(metric) for metric in metrics)], rows)
    return render([table], colour=options.colour("-"), width=options.width("-"))


def _state(submission: dict[str, Any]) -> str:
    marks = [name for name in ("baseline", "chosen", "disqualified") if submission[name]]
    return ", ".join([submission["state"], *marks])
