"""`capeval submit`: send captions to an evaluation server and wait for the scores."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import click

from capeval.cli import options
from capeval.cli.interruptible import stage
from capeval.data.source import reading
from capeval.errors import DataError, UsageError

_LONGEST_PAUSE = 5.0


@click.command()
@click.argument("url")
@click.argument("benchmark")
@click.argument("file")
@click.option("--system", metavar="NAME", help="What the board calls it; the file's name by default.")
@click.option("--token-file", metavar="FILE", help="Read the API token from here instead of CAPEVAL_TOKEN.")
@click.option("--no-wait", is_flag=True, help="Leave once the file is accepted.")
@options.table_or_json
@options.quiet
def command(
    url: str, benchmark: str, file: str, system: str | None, token_file: str | None, no_wait: bool, format_: str
) -> None:
    """Submit FILE to BENCHMARK on the evaluation server at URL, and print the scores.

    An API token, which the server's account page makes, is taken from CAPEVAL_TOKEN or --token-file.
    """
    server = Server(url, _token(token_file))
    with reading(file), open(file, "rb") as opened:
        data = opened.read()
    name = os.path.basename(file)
    stage.text = "sending"
    query = urllib.parse.urlencode({"system": system or os.path.splitext(name)[0][:80], "file_name": name[:200]})
    path = f"/benchmarks/{urllib.parse.quote(benchmark, safe='')}/submissions?{query}"
    submission = server.call(path, data)
    click.echo(f"capeval: submission {submission['id']}: {submission['url']}", err=True)
    if not no_wait:
        submission = _wait(server, submission)
    options.emit(json.dumps(submission, indent=2) if format_ == "json" else _table(submission))


class Server:
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
        """The JSON answer; raises `DataError` with the server's own words where it refuses, or where there is none."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/octet-stream"
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers)  # noqa: S310  (checked above)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                body: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as error:
            raise DataError(f"{self.url}: {_refusal(error)}") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{self.url}: no answer of a capeval server ({getattr(error, 'reason', error)})") from None
        return body


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        body = json.load(error)["error"]
        for problem in body["problems"]:
            click.echo(f"capeval: {_printable(str(problem))}", err=True)
        return str(body["message"])
    except (ValueError, KeyError, TypeError):
        return f"answered {error.code} {error.reason}"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def _token(path: str | None) -> str:
    if path is None:
        token = os.environ.get("CAPEVAL_TOKEN", "")
    else:
        with reading(path), open(path, encoding="utf-8") as file:
            token = file.read()
    if not token.strip():
        raise UsageError("an API token is needed, in CAPEVAL_TOKEN or --token-file; the account page makes one")
    return token.strip()


def _wait(server: Server, submission: dict[str, Any]) -> dict[str, Any]:
    pause, said = 0.3, ""
    while submission["state"] in {"queued", "running"}:
        stage.text = submission["progress"] or submission["state"]
        if not stage.quiet and stage.text != said:
            click.echo(f"capeval: {stage.text}", err=True)
            said = stage.text
        time.sleep(pause)
        pause = min(pause * 1.3, _LONGEST_PAUSE)
        submission = server.call(f"/submissions/{submission['id']}")
    if submission["state"] == "failed":
        raise DataError(f"submission {submission['id']} failed: {submission['message']}")
    return submission


def _table(submission: dict[str, Any]) -> str:
    if not submission["scores"]:
        return f"submission {submission['id']}: {submission['state']}"
    width = max(len(metric) for metric in submission["scores"])
    lines = []
    for metric, value in submission["scores"].items():
        lower, upper = submission["intervals"][metric]
        lines.append(f"{metric:<{width}}  {value:.4f}  [{lower:.4f}, {upper:.4f}]")
    return "\n".join(lines)
