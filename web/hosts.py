"""Under which names a server answers: a page of another site that points its own name here is told nothing."""

from __future__ import annotations

import ipaddress
import re

from loopworth.runs.usage import Value

HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9_.-]+))(?::\d{1,5})?")
LOCAL = "localhost"


class Hosts(Value, frozen=True):
    """The names of a server. An address is no name that can be pointed elsewhere: any loopback one is admitted, and any
    at all where the server is `open` to other machines."""

    open: bool = False
    names: tuple[str, ...] = ()

    def admit(self, header: str) -> bool:
        """Whether a request's `Host` is one of them."""
        match = HOST.fullmatch(header)
        if match is None:
            return False
        name = (match["six"] or match["name"]).lower().removesuffix(".")
        if name == LOCAL or name in self.names:
            return True
        there = address(name)
        return there is not None and (self.open or there.is_loopback)


def is_loopback(host: str) -> bool:
    """Whether what listens there is reached from this machine only."""
    there = address(host)
    return host == LOCAL if there is None else there.is_loopback


def address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
