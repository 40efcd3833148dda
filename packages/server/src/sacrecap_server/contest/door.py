"""The pages of a contest: its board for everybody, submissions for teams, links and files for the host."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sacrecap.boards import SUFFIXES, Contest
from sacrecap.errors import SacrecapError, UsageError
from sacrecap_server.child import ChildFailedError, ChildRefusedError, ResourceLimits, run_child
from sacrecap_server.contest.ledger import WAITS, Ledger, TakenFile, Team, check_open, place
from sacrecap_server.contest.ranker import PAGES, Ranker, Run, stamp, stamps_of
from sacrecap_server.contest.signatures import COOKIE_SECONDS, Key
from sacrecap_server.errors import Refused
from sacrecap_server.log import event
from sacrecap_server.settings import ServerSettings
from sacrecap_server.web.security import RateLimit, Surrounding, refused_of
from sacrecap_server.web.templates import STATIC, templates

SECRET_HEADER = "x-sacrecap-proxy-secret"  # noqa: S105
_CHECKS, _MOST_INSIDE, _MOST_OF_ONE, _A_MINUTE = 2, 20, 2, 20
"""How many files are checked at a time, are in the server, are of one team, and are begun in a minute."""


@dataclass(frozen=True)
class Proxy:
    """A proxy that signs people in, and passes a name on."""

    header: str
    peers: tuple[str, ...]
    """Addresses or networks."""
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        """Raises `UsageError` for a peer that is no address: it would let nobody in."""
        for peer in self.peers:
            try:
                ipaddress.ip_network(peer)
            except ValueError as error:
                raise UsageError(f"--behind-proxy must be addresses or networks of proxies: {error}") from None

    def name(self, request: Request) -> str | None:
        """The name; None without the header. Raises `Refused` where it comes from anybody else."""
        values = request.headers.getlist(self.header)
        if not values:
            return None
        peer, secret = request.client.host if request.client else "", request.headers.get(SECRET_HEADER, "")
        try:
            is_peer = any(ipaddress.ip_address(peer) in ipaddress.ip_network(network) for network in self.peers)
        except ValueError:
            is_peer = False
        if not is_peer or not hmac.compare_digest(secret.encode(), self.secret.encode()) or len(values) != 1:
            raise Refused(403, "This request did not come through the proxy that signs people in.")
        try:
            return values[0].encode("latin-1").decode("utf-8")
        except UnicodeError:
            raise Refused(422, "The proxy passes a name that is not UTF-8.") from None


class Door:
    """One contest, served: its folder, what the door keeps beside it, and who asks."""

    def __init__(self, folder: Path, state: Path, site: Path, url: str, **how: Any) -> None:
        """`how` may have a `proxy`, the `limits` of a scoring, and what to `run` in place of a child."""
        self.folder, self.site, self.url = folder, site, url
        self.proxy: Proxy | None = how.get("proxy")
        self.run: Run = how.get("run", run_child)
        self.secure = url.startswith("https://")
        # The prefix makes browsers refuse the cookie from anywhere but this host, and without HTTPS.
        self.cookie = "__Host-sacrecap-contest" if self.secure else "sacrecap-contest"
        self.key = Key(state / "key")
        self.ledger = Ledger(state / "door.db", folder)
        self.ranker = Ranker(folder, site, self.ledger, how.get("limits", ResourceLimits(900, 4096)), self.run)
        self._contest: tuple[object, Contest] | None = None
        self._inside: Counter[str] = Counter()
        """How many files of each team are being checked."""
        self._begun = RateLimit(_A_MINUTE, 60)

    @cached_property
    def limiter(self) -> anyio.CapacityLimiter:
        """Of the files that are checked at a time."""
        return anyio.CapacityLimiter(_CHECKS)

    @asynccontextmanager
    async def place(self, team: str) -> AsyncIterator[None]:
        """A place for a file, to be taken before it is read. Raises `Refused` with the seconds to wait."""
        if self._inside[team] >= _MOST_OF_ONE:
            raise Refused(429, f"{_MOST_OF_ONE} files of this team are being checked.", retry_after=5)
        if self._inside.total() >= _MOST_INSIDE:
            raise Refused(503, "The server is checking many files. Send yours again in 20 seconds.", retry_after=20)
        self._begun.take(team)
        self._inside[team] += 1
        try:
            yield
        finally:
            self._inside[team] -= 1

    @property
    def contest(self) -> Contest:
        """What `contest.toml` says now. Raises `Refused` while the host has it wrong."""
        try:
            stamped = stamp(self.folder / "contest.toml")
            if self._contest is None or self._contest[0] != (stamped, stamps_of(self._contest[1])):
                contest = Contest.load(self.folder)
                self._contest = ((stamped, stamps_of(contest)), contest)
            return self._contest[1]
        except (OSError, RecursionError, SacrecapError) as error:
            raise self.changing from error

    @property
    def changing(self) -> Refused:
        """What people are told while the host's files are wrong; the host's page says why."""
        return Refused(503, "The host is changing this contest. Try again in a minute.", retry_after=60)

    def link(self, team: Team) -> str:
        """The address that opens the door to a team, or to the host."""
        return f"{self.url}/enter#{self.key.token(team.slug, team.renewal)}"

    def of(self, claim: tuple[str, int] | None) -> Team | None:
        """The team of a token or cookie, if it is the newest one."""
        team = self.ledger.team(claim[0]) if claim else None
        return team if team and claim and team.renewal == claim[1] and not team.revoked else None

    def who(self, request: Request) -> Team | None:
        """Who asks: the host by link or cookie, also behind a proxy that passes a name; else that name; else a team."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            by_link = self.of(self.key.of_token(token.strip()))
        else:
            by_link = self.of(self.key.of_cookie(request.cookies.get(self.cookie, ""), time.time()))
        name = None if self.proxy is None else self.proxy.name(request)
        if name is None or (by_link is not None and by_link.is_host):
            return by_link
        try:
            team = self.ledger.make_team(name)
        except SacrecapError as error:
            raise Refused(422, f"The proxy passes a name that cannot be a team's: {error}") from None
        if team.revoked:
            raise Refused(403, "The host has shut this team out.")
        return team

    def close(self) -> None:
        """Ends the contest now: the host's file says so from then on."""
        path, before = self.folder / "contest.toml", self.contest
        text = path.read_text(encoding="utf-8")
        line = f"ends = {self.ledger.clock():%Y-%m-%dT%H:%M:%SZ}"
        head, mark, tables = re.fullmatch(r"(.*?)(^\[|\Z)(.*)", text, re.DOTALL | re.MULTILINE).groups()  # type: ignore[union-attr]
        head, count = re.subn(r"^[ \t]*ends[ \t]*=.*$", line, head, flags=re.MULTILINE)
        place(path, ((head if count else f"{line}\n{head}") + mark + tables).encode())
        try:
            is_over = replace(Contest.load(self.folder), ends=before.ends) == before  # nothing else is changed
            is_over = is_over and Contest.load(self.folder).phase(self.ledger.clock()) == "over"
        except SacrecapError:
            is_over = False
        if not is_over:
            place(path, text.encode())
            raise Refused(409, "contest.toml has its end where it cannot be changed from here: edit the file.")
        self.ranker.wake()


def _route(
    path: str, handler: Callable[[Request, Door, Team], Response], *, method: str = "GET", host: bool | None = None
) -> Route:
    """A route; `host` says whether it is for the host alone or for teams alone, and None is whoever has a link."""

    async def endpoint(request: Request) -> Response:
        try:
            door, team = await _let_in(request, host)
            return await run_in_threadpool(handler, request, door, team)
        finally:
            await request.close()

    return Route(path, endpoint, methods=[method])


async def _let_in(request: Request, host: bool | None) -> tuple[Door, Team]:
    """Who asks. Raises `Refused` for anybody else than the page is for, and for forms that are not ours."""
    door: Door = request.app.state.door
    team = request.state.team = await run_in_threadpool(door.who, request)
    if team is None or (host is not None and team.is_host != host):
        whose = {None: "a team or the host", True: "the host", False: "a team"}[host]
        raise Refused(403 if team else 401, f"This needs the link of {whose}. Open the link again, or ask the host.")
    if request.method == "POST" and not _is_bearer(request):
        form = await request.form(max_files=1, max_fields=20)
        token = form.get("csrf")
        ours = door.key.form(team.slug, team.renewal)
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), ours.encode()):
            raise Refused(403, "This form is out of date, or came from another site. Reload the page and try again.")
        request.state.form = form
    return door, team


def _is_bearer(request: Request) -> bool:
    return request.headers.get("authorization", "").lower().startswith("bearer ")


def _wants_json(request: Request) -> bool:
    return _is_bearer(request) or request.headers.get("accept", "").startswith("application/json")


def _field(request: Request, name: str) -> str:
    """A value of the form, or, where a program asks, of the address."""
    values = request.query_params if _is_bearer(request) else request.state.form
    value = values.get(name, "")
    return value if isinstance(value, str) else ""


def _render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    door: Door = request.app.state.door
    team: Team | None = getattr(request.state, "team", None)
    shared = {"team": team, "csrf": door.key.form(team.slug, team.renewal) if team else "", "url": door.url}
    page = _TEMPLATES.get_template(template).render(**shared, **values)
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def home(request: Request) -> Response:
    """What the contest is, for everybody."""
    door: Door = request.app.state.door
    request.state.team = door.who(request)
    contest = door.contest
    has_board = (door.site / "index.html").is_file()
    return _render(request, "home.html", contest=contest, phase=contest.phase(door.ledger.clock()), board=has_board)


def board(request: Request) -> Response:
    """A file of the board as it is; its page has its own policy inside."""
    door: Door = request.app.state.door
    name = request.path_params["name"]
    path = door.site / name
    if name not in PAGES or path.is_symlink() or not path.is_file():
        raise Refused(404, "There is no such page. The first board comes within a minute of the first submission.")
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": "frame-ancestors 'none'"}
    media_type = {".html": "text/html; charset=utf-8", ".json": "application/json"}[path.suffix]
    return Response(path.read_bytes(), media_type=media_type, headers=headers)


def images(request: Request) -> Response:
    """The ids of the images, a line each, or a file to fill in."""
    door: Door = request.app.state.door
    try:
        ids = door.contest.images()
    except SacrecapError:
        raise door.changing from None
    if request.url.path.endswith(".txt"):
        return Response("\n".join(ids) + "\n", media_type="text/plain; charset=utf-8")
    empty = [{"image_id": image, "caption": ""} for image in ids]
    headers = {"Content-Disposition": 'attachment; filename="captions.json"'}
    return Response(json.dumps(empty, indent=0), media_type="application/json", headers=headers)


async def enter(request: Request) -> Response:
    """Exchanges a link's token for a cookie."""
    door: Door = request.app.state.door
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Refused(403, "Another site sent this link. Open it in the address bar instead.")
    form = await request.form(max_files=0, max_fields=5)
    # Whoever copies a link takes signs around it along, or twice the link; programs for mail break lines.
    token = "".join(str(form.get("token", "")).split()).rpartition("#")[2].rstrip("<>\"'.,;:)/")
    team = await run_in_threadpool(lambda: door.of(door.key.of_token(token)))
    if team is None:
        raise Refused(403, "This link opens nothing: it is not whole, or was renewed or revoked. Ask the host for it.")
    answer = RedirectResponse("/host" if team.is_host else "/team", 303)
    ends = int(time.time()) + COOKIE_SECONDS
    answer.set_cookie(
        door.cookie, door.key.cookie(team.slug, team.renewal, ends), path="/", httponly=True, samesite="strict",
        secure=door.secure, max_age=COOKIE_SECONDS,
    )  # fmt: skip
    return answer


def leave(_: Request, door: Door, __: Team) -> Response:
    """Takes the cookie back."""
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(door.cookie, path="/", httponly=True, samesite="strict", secure=door.secure)
    return answer


def team_page(request: Request, door: Door, team: Team, problem: Refused | None = None) -> Response:
    """A team's submissions, and the form for another one."""
    contest, submissions = door.contest, door.ledger.submissions(team.slug)
    left = door.ledger.left(team, contest)
    if _wants_json(request):
        entries = [_entry(door, submission) for submission in submissions]
        few = {span: few for span, (few, _) in left.items()}
        return JSONResponse({"team": team.name, "left": few, "submissions": entries})
    # A page that loads itself again has no form: it would empty what somebody is writing.
    waits = "taken" in request.query_params and bool(submissions) and submissions[0].state == WAITS
    values: dict[str, Any] = {"contest": contest, "phase": contest.phase(door.ledger.clock()), "left": left}
    values |= {"of": stamps_of(contest), "waits": waits, "choice": door.ledger.choice(team.slug)}
    values |= {"submissions": submissions, "problem": problem}
    return _render(request, "team.html", problem.status if problem else 200, **values)


def _entry(door: Door, submission: TakenFile) -> dict[str, Any]:
    return {
        "number": submission.number,
        "system": f"{submission.team}/{Path(submission.file).stem}",
        "file": submission.file,
        "sha256": submission.sha,
        "submitted": submission.taken.isoformat(),
        "state": submission.state,
        "chosen": door.ledger.choice(submission.team) == submission.file,
        **{name: value for name, value in submission.outcome.items() if name != "of"},
    }


async def submit(request: Request) -> Response:
    """Takes a file, as a form or as the body, after everything in it is checked."""
    door: Door = request.app.state.door
    caller = await run_in_threadpool(door.who, request)
    try:
        if caller is None or caller.is_host:
            return await _submit(request)  # which refuses it
        async with door.place(caller.slug):
            return await _submit(request)
    finally:
        await request.close()


async def _submit(request: Request) -> Response:
    door, team = await _let_in(request, host=False)
    contest = door.contest
    try:
        check_open(contest, door.ledger.clock())  # before anything is read
        if _is_bearer(request):
            name, system = (request.query_params.get(key, "") for key in ("file", "system"))
            data = await request.body()
        else:
            upload = request.state.form.get("file")
            if not isinstance(upload, UploadFile):
                raise Refused(422, "Choose a file of captions.")
            data, name, system = await upload.read(), upload.filename or "", _field(request, "system")
        take = partial(_take, door, team, contest, data, name, system)
        submission, is_new = await anyio.to_thread.run_sync(take, limiter=door.limiter)
    except Refused as refused:
        if _wants_json(request) or refused.status not in (403, 422, 429):
            raise
        return await run_in_threadpool(team_page, request, door, team, refused)
    if is_new:
        event("submission", number=submission.number)
        door.ranker.wake()
    if _wants_json(request):
        return JSONResponse(_entry(door, submission), 201 if is_new else 200)
    return RedirectResponse("/team?taken=yes", 303)


def _take(door: Door, team: Team, contest: Contest, data: bytes, name: str, system: str) -> tuple[TakenFile, bool]:
    """Takes a file without problems. Raises `Refused` with those that there are."""
    if door.ledger.submission(team.slug, sha=hashlib.sha256(data).hexdigest()) is None:
        door.ledger.check_allowed(team, contest, door.ledger.clock())
    try:
        limits = ResourceLimits(seconds=60, memory=3072)
        problems = door.run("sacrecap_server.contest.work:problems", {"folder": str(door.folder)}, [data], limits)
    except ChildRefusedError as error:
        door.ranker.problem = str(error)
        raise door.changing from None
    except ChildFailedError as error:
        problems = [f"The file could not be checked. {error}"]
    if problems:
        raise Refused(422, f"The file cannot be scored on {contest.title}.", problems)
    suffix = Path(name).suffix.lower()
    suffix = suffix if suffix in SUFFIXES else ".txt"
    return door.ledger.take(team, lambda: door.contest, data, system or Path(name).stem, suffix[1:])


def choose(request: Request, door: Door, team: Team) -> Response:
    """Lets one submission count, or again the best one."""
    number = _field(request, "number")
    if number and not re.fullmatch(r"[0-9]{1,6}", number):
        raise Refused(404, "The team has no such submission.")
    door.ledger.choose(team, lambda: door.contest, int(number) if number else None)
    door.ranker.wake()
    return JSONResponse({"chosen": number}) if _wants_json(request) else RedirectResponse("/team", 303)


def file(request: Request, door: Door, team: Team) -> Response:
    """A submitted file, for its team and for the host."""
    slug, number = request.path_params["slug"], request.path_params["number"]
    submission = door.ledger.submission(slug, number=number) if team.is_host or team.slug == slug else None
    try:
        data = b"" if submission is None else door.ledger.read(submission)
    except FileNotFoundError:
        submission = None
    if submission is None:
        raise Refused(404, "There is no such file.")
    # A name for the disk without letters that a header cannot carry.
    name = f"{number:03}{Path(submission.file).suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def host_page(request: Request, door: Door, _: Team, new_team: Team | None = None, problem: str = "") -> Response:
    """The teams with their files; a team's link is shown where it was just asked for."""
    try:
        contest = door.contest
    except Refused as refused:
        raise Refused(503, refused.message, [str(refused.__cause__)], retry_after=refused.retry_after) from None
    teams, every = door.ledger.teams(), door.ledger.submissions()
    problems = [f"The last board could not be made: {door.ranker.problem}"] if door.ranker.problem else []
    why = Counter(reason for _, reason in list(door.ranker.unscored.values()))
    problems += [f"{count} of the files cannot be scored: {reason}" for reason, count in why.most_common(3)]
    files = {team.slug: [file for file in every if file.team == team.slug] for team in teams}
    link = door.link(new_team) if new_team else ""
    values: dict[str, Any] = {"contest": contest, "phase": contest.phase(door.ledger.clock()), "teams": teams}
    values |= {"files": files, "shown": new_team, "link": link, "problem": problem, "problems": problems}
    return _render(request, "host.html", 422 if problem else 200, **values)


def host_teams(request: Request, door: Door, host: Team) -> Response:
    """Makes a team, shows its link, renews it, or shuts the team out."""
    what, slug = _field(request, "do"), _field(request, "team")
    if what == "make":
        try:
            return host_page(request, door, host, door.ledger.make_team(_field(request, "name"), by_host=True))
        except SacrecapError as error:
            return host_page(request, door, host, problem=str(error))
    team = door.ledger.team(slug)
    if team is None or team.is_host or what not in ("show", "renew", "revoke"):
        raise Refused(404, "There is no such team.")
    if what != "show":
        team = door.ledger.renew(slug, revoked=what == "revoke")
    return host_page(request, door, host, None if team.revoked else team)


def host_close(_: Request, door: Door, __: Team) -> Response:
    """Ends the contest now."""
    if door.contest.phase(door.ledger.clock()) != "over":
        door.close()
    return RedirectResponse("/host", 303)


ROUTES = [
    STATIC,
    Route("/", home),
    Route("/board/{name}", board),
    Route("/images.txt", images),
    Route("/captions.json", images),
    # Where a link leads: its script sends the fragment, which no server has seen until then.
    Route("/enter", lambda request: _render(request, "enter.html"), methods=["GET"]),
    Route("/enter", enter, methods=["POST"]),
    Route("/healthz", lambda _: Response("ok\n", media_type="text/plain")),
    Route("/submit", submit, methods=["POST"]),
    _route("/leave", leave, method="POST"),
    _route("/team", team_page, host=False),
    _route("/choose", choose, method="POST", host=False),
    _route("/files/{slug}/{number:int}", file),
    _route("/host", host_page, host=True),
    _route("/host/teams", host_teams, method="POST", host=True),
    _route("/host/close", host_close, method="POST", host=True),
]
_TEMPLATES = templates(Path(__file__).with_name("templates"))


def answer(request: Request, error: Exception) -> Response:
    """A refusal, as the page of an error or as JSON."""
    error = refused_of(error)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    if _wants_json(request):
        return JSONResponse(error.document, error.status, headers=headers)
    page = _render(request, "error.html", error.status, error=error)
    page.headers.update(headers)
    return page


def create_app(door: Door, settings: ServerSettings) -> Starlette:
    """The ASGI application; the ranker runs as long as it does."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        door.ranker.start()
        try:
            yield
        finally:
            door.ranker.stop()

    app = Starlette(routes=ROUTES, lifespan=lifespan, exception_handlers={Refused: answer, HTTPException: answer})
    app.state.door = door
    app.add_middleware(Surrounding, settings=settings, answer=answer, limits_addresses=False)
    return app
