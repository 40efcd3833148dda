"""The door behind the programs of `examples/contest`, which sign people in: Caddy, oauth2-proxy and a local provider.

They come through Go's module proxy: `go install github.com/oauth2-proxy/oauth2-proxy/v7@latest` and
`github.com/caddyserver/caddy/v2/cmd/caddy@latest`; `mock-provider` is `mock_provider.go` beside this file, built with
github.com/oauth2-proxy/mockoidc. SACRECAP_TEST_PROXIES names the folder of the three.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
import yaml
from door_world import LiveDoor, file_of, make_contest

from sacrecap_server_testing.ports import free_port

CONFIGURATION = Path(__file__).parents[3] / "examples" / "contest"
PROGRAMS = Path(os.environ.get("SACRECAP_TEST_PROXIES", "nowhere"))
SECRET = "the secret between proxy and door, of a test"  # noqa: S105
missing = [name for name in ("caddy", "oauth2-proxy", "mock-provider") if not (PROGRAMS / name).exists()]
behind_proxies = pytest.mark.skipif(bool(missing), reason=f"SACRECAP_TEST_PROXIES has no {', '.join(missing)}")


@contextmanager
def running(log: Path, *words: str, port: int, **environment: str) -> Iterator[None]:
    """A program that listens at the port."""
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [PROGRAMS / words[0], *words[1:]], env={**os.environ, **environment}, stdout=file, stderr=file
        )
    try:
        ends = time.monotonic() + 60
        while not listens(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


Person = Callable[[], httpx.Client]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[tuple[LiveDoor, str, Person]]:
    """The door, its public address, and who comes: each is the next of alice, bob."""
    provider, sign_in, https = free_port(), free_port(), free_port()
    url = f"https://localhost:{https}"
    options = ("--behind-proxy", "127.0.0.1", "--proxy-header", "X-Forwarded-User", "--public-url", url)
    door = LiveDoor(make_contest(tmp_path), *options, environment={"SACRECAP_PROXY_SECRET": SECRET})
    caddyfile = tmp_path / "Caddyfile"
    text = (CONFIGURATION / "Caddyfile").read_text()
    local = "admin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tservers {"
    assert text.count("\tservers {") == 1
    caddyfile.write_text(text.replace("\tservers {", f"\t{local}"))
    oauth = {
        "OIDC_ISSUER_URL": f"http://127.0.0.1:{provider}/oidc",
        "CLIENT_ID": "contest",
        "CLIENT_SECRET": "a secret of a test",
        "COOKIE_SECRET": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "REDIRECT_URL": f"{url}/oauth2/callback",
        "HTTP_ADDRESS": f"127.0.0.1:{sign_in}",
    }
    site = {
        "SITE": url,
        "DOOR": f"127.0.0.1:{door.port}",
        "SIGN_IN": f"127.0.0.1:{sign_in}",
        "SACRECAP_PROXY_SECRET": SECRET,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    logs = [tmp_path / f"{name}.log" for name in ("provider", "sign-in", "caddy")]
    with ExitStack() as stack:
        stack.enter_context(running(logs[0], "mock-provider", f"127.0.0.1:{provider}", "alice", "bob", port=provider))
        config = str(CONFIGURATION / "oauth2-proxy.cfg")
        named = {f"OAUTH2_PROXY_{name}": value for name, value in oauth.items()}
        stack.enter_context(running(logs[1], "oauth2-proxy", "--config", config, port=sign_in, **named))
        stack.enter_context(running(logs[2], "caddy", "run", "--config", str(caddyfile), port=https, **site))
        door.start()
        stack.callback(door.stop)
        trusted = tmp_path / "data/caddy/pki/authorities/local/root.crt"
        ends = time.monotonic() + 60
        while not trusted.exists() and time.monotonic() < ends:
            time.sleep(0.1)

        def person() -> httpx.Client:
            context = ssl.create_default_context(cafile=str(trusted))
            client = httpx.Client(base_url=url, verify=context, follow_redirects=True, timeout=60)
            stack.callback(client.close)
            return client

        yield door, url, person


@behind_proxies
def test_who_is_signed_in_is_a_team_and_nobody_else_gets_through(world: tuple[LiveDoor, str, Person]) -> None:
    door, _, person = world
    names = set()
    for name, system in (("alice", "careful"), ("bob", "plain")):
        client = person()
        stranger = client.get("/", follow_redirects=False)
        assert (stranger.status_code, stranger.headers["location"]) == (302, "/oauth2/sign_in?rd=/")
        page = client.get("/")
        assert page.status_code == 200
        assert str(page.url).endswith("/")
        assert name in client.get("/team").text
        # A name that somebody sends is taken away, also with what looks like the secret.
        forged = {"X-Forwarded-User": "mallory", "X-Sacrecap-Proxy-Secret": SECRET}
        assert "mallory" not in client.get("/team", headers=forged).text
        names.add(name)
        csrf = client.get("/team").text.partition('name="csrf" value="')[2].partition('"')[0]
        files = {"file": ("a.json", file_of(system), "application/json")}
        assert client.post("/submit", data={"csrf": csrf, "system": system}, files=files).status_code == 200
    stored = {path.parent.name for path in (door.contest / "submissions").glob("*/*.json")}
    assert len(stored) == len(names) == 2
    # The board is compressed, and pages with secrets are not.
    ends = time.monotonic() + 60
    while (board := client.get("/board/index.html")).status_code == 404 and time.monotonic() < ends:
        time.sleep(0.2)
    assert board.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in client.get("/team").headers
    outside = person()
    forged = {"X-Forwarded-User": "alice", "X-Sacrecap-Proxy-Secret": SECRET}
    assert outside.get("/team", headers=forged, follow_redirects=False).status_code == 302
    assert client.post("/submit", content=b" " * (34 << 20)).status_code == 413


@behind_proxies
def test_heads_that_never_end_are_closed_by_the_proxy(world: tuple[LiveDoor, str, Person]) -> None:
    _, url, person = world
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with ExitStack() as stack:
        slow = []
        for _ in range(50):
            plain = socket.create_connection(("127.0.0.1", httpx.URL(url).port or 443), timeout=30)
            slow.append(stack.enter_context(context.wrap_socket(plain, server_hostname="localhost")))
            slow[-1].sendall(b"GET / HTTP/1.1\r\nHost: local")
        began = time.monotonic()
        assert person().get("/").status_code == 200
        assert time.monotonic() - began < 5
        for each in slow:
            assert b" 200 " not in each.recv(1000)
        assert time.monotonic() - began < 25


@behind_proxies
def test_a_request_that_goes_around_the_proxy_has_no_name(world: tuple[LiveDoor, str, Person]) -> None:
    door, url, _ = world
    host = url.removeprefix("https://")
    for headers in ({"X-Forwarded-User": "alice"}, {"X-Forwarded-User": "alice", "X-Sacrecap-Proxy-Secret": "guess"}):
        answer = httpx.get(f"http://127.0.0.1:{door.port}/team", headers={"Host": host, **headers})
        assert answer.status_code == 403


def test_compose_names_what_is_there() -> None:
    document = yaml.safe_load((CONFIGURATION / "compose.yaml").read_text())
    mounted = [volume.split(":")[0] for service in document["services"].values() for volume in service["volumes"]]
    files = {Path(name).name for name in mounted if name.startswith("./")} - {"contest", "hidden", "door"}
    assert files == {path.name for path in CONFIGURATION.iterdir()} - {"compose.yaml"}
    [network] = document["networks"]["inside"]["ipam"]["config"]
    address = ipaddress.ip_address(document["services"]["caddy"]["networks"]["inside"]["ipv4_address"])
    assert f"--behind-proxy {address} " in document["services"]["door"]["command"]
    assert address in ipaddress.ip_network(network["subnet"])
    assert address not in ipaddress.ip_network(network["ip_range"])
    caddyfile = (CONFIGURATION / "Caddyfile").read_text()
    for name in document["services"]["caddy"]["environment"]:
        assert f"{{${name}}}" in caddyfile or f"{{env.{name}}}" in caddyfile
