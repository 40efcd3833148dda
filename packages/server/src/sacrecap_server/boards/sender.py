"""Sends a webhook's message, in a child process; imports nothing of the server, so that the child starts quickly."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from sacrecap import __version__
from sacrecap_studies.messages import Message

_SECONDS = 10.0
"""For the connection and for each part of the answer."""
_SECONDS_IN_ALL = 20.0
_LONGEST_URL = 500
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 ones."""


def problem_with(url: str, *, private: bool) -> str:
    """Why nothing is sent to this address, as a sentence; empty if it is allowed. Does not look up names."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return Message("%(url)s is not an address; write it as https://example.org/path.", url=repr(url[:80]))
    schemes = ("https", "http") if private else ("https",)
    if parts.scheme not in schemes or not host or not url.isascii() or len(url) > _LONGEST_URL or url.split() != [url]:
        return Message(
            "A webhook needs an address such as https://example.org/path, up to %(most)s characters.", most=_LONGEST_URL
        )
    if parts.username is not None or parts.fragment:
        return Message("A webhook's address has no user name, password or #fragment.")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if not private and not is_public(str(address)):
        return Message("%(host)s is an address of a private network, and nothing is sent there.", host=host)
    return ""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public network: not to this machine, nor to a network behind it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        translated = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None
        ip = translated or ip.ipv4_mapped or ip.sixtofour or ip
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def deliver(header: dict[str, Any], _: list[bytes], __: Callable[[str], None]) -> dict[str, Any]:
    """The child's part: whether the message was taken, and what came of it in words."""
    if not header.get("url"):
        return {"delivered": False, "answer": "The webhook is removed."}
    message = header["message"]
    if "submission" in message:
        message["url"] = f"{header['server']['url']}/submissions/{message['submission']}"
    body = json.dumps(message, ensure_ascii=False).encode()
    came: list[tuple[bool, str]] = []

    def attempt() -> None:
        came.append(_attempt(header["url"], header["secret"], body, private=header["server"]["private_webhooks"]))

    # An answer that drips in keeps each single read below its limit; this process ends with the thread unfinished.
    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(_SECONDS_IN_ALL)
    delivered, answer = came[0] if came else (False, f"No answer within {_SECONDS_IN_ALL:.0f} seconds.")
    return {"delivered": delivered, "answer": answer}


def _attempt(url: str, secret: str, body: bytes, *, private: bool) -> tuple[bool, str]:
    if problem := problem_with(url, private=private):
        return False, problem
    try:
        status = _post(url, secret, body, private=private)
    except _NotSentError as error:
        return False, str(error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return False, f"Not delivered: {type(error).__name__}."
    if 300 <= status < 400:
        return False, f"Answered {status}: redirections are not followed; give the final address."
    return 200 <= status < 300, f"Answered {status}."


class _NotSentError(Exception):
    """Nothing was sent; the message says why."""


def _post(url: str, secret: str, body: bytes, *, private: bool) -> int:
    """The status of the answer, whose body is not read."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise _NotSentError(f"{host} has no address.") from None
    addresses = [str(each[4][0]) for each in found]
    if not private and not all(is_public(address) for address in addresses):
        raise _NotSentError(f"{host} leads to a private network, and nothing is sent there.")
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    # To the address that was just checked: looked up again, the name could lead elsewhere.
    plain = socket.create_connection((addresses[0], port), timeout=_SECONDS)
    secure = parts.scheme == "https"
    connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": f"sacrecap/{__version__}",
        "X-Sacrecap-Signature-256": f"sha256={signature}",
        "Connection": "close",
    }
    try:
        connection.request("POST", path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
