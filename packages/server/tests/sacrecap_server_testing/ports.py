"""Ports for servers of the tests."""

from __future__ import annotations

import random
import socket

_PORTS = range(15_000, 30_000)
"""Below those that systems give to outgoing connections, which could take a port before its server has it."""


def free_port() -> int:
    """A port of the loopback address that nobody has.

    Drawn from the system's randomness: test programs that run side by side have the same seed.
    """
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise RuntimeError(f"all ports from {_PORTS.start} to {_PORTS.stop - 1} are taken")
