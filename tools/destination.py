"""Where a URL leads, read in one strict way, and the hosts that an author allows."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.names import listed, shown

PORTS = {"http": 80, "https": 443}
LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NUMBER = re.compile("(?:.*\\.)?(?:[0-9]+|0x[0-9a-f]*)")
"""A host that ends in a number is an address, in some spelling."""
SAFE = "/%:@!$&'()*+,;=~-._?"


@dataclass(frozen=True, slots=True)
class Destination:
    """`host` is in lower case, without brackets; `target` is path and query, as they go over the wire."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def redirected(self, location: str) -> Destination:
        """Where an answer's `Location` leads; from https never to http. Raises `ArgumentFault`."""
        there = destination(urljoin(self.url, location))
        if (self.scheme, there.scheme) == ("https", "http"):
            raise ArgumentFault(f"{self.host} redirects from https to http", "not_allowed")
        return there


def destination(url: str) -> Destination:
    """Raises `ArgumentFault` for what is no plain URL of http or https."""
    if re.search(r"[\x00-\x20\x7f-\xa0\\]", url):
        raise ArgumentFault(f"{shown(url)} holds a space, a backslash or a control character: write %20 and the like")
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme, parts.port
    except ValueError as error:
        raise ArgumentFault(f"{shown(url)} is no URL: {error}") from None
    if scheme not in PORTS:
        what = f"only http and https are allowed, not {shown(scheme)}" if scheme else f"{shown(url)} has no scheme"
        raise ArgumentFault(f"{what}: write https://…", "not_allowed" if scheme else "invalid_arguments")
    if "@" in parts.netloc:
        raise ArgumentFault("a URL may hold no user name and no password", "not_allowed")
    if port == 0:
        raise ArgumentFault(f"{shown(url)} names the port 0")
    return Destination(scheme, hostname(parts), port or PORTS[scheme], target(parts))


def hostname(parts: SplitResult) -> str:
    """The host in its one spelling: a name, or an address in the usual notation."""
    host = (parts.hostname or "").removesuffix(".")
    try:
        if ":" in host:
            return str(ipaddress.IPv6Address(host.partition("%")[0] if "%" not in host else ""))
        if NUMBER.fullmatch(host):
            return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise ArgumentFault(f"{shown(host)} is an address in an odd spelling: write a name", "not_allowed") from None
    if not NAME.fullmatch(host) or len(host) > 253:
        hint = "write it in ASCII (xn--…)" if not host.isascii() else "write https://host/path"
        raise ArgumentFault(f"{shown(host)} is no host: {hint}")
    return host


def target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", SAFE)
    return f"{path}?{quote(parts.query, SAFE)}" if parts.query else path


@dataclass(frozen=True, slots=True)
class Host:
    """One entry of an allow-list: a name, `*.` and a name (what lies below it), or `*`. Without a port: 80 and 443."""

    name: str
    port: int | None

    def allows(self, there: Destination) -> bool:
        if there.port not in ((self.port,) if self.port is not None else PORTS.values()):
            return False
        return self.name in ("*", there.host) or (self.name[:2] == "*." and there.host.endswith(self.name[1:]))


@dataclass(frozen=True, slots=True)
class Hosts:
    """The allow-list. `private`: an entry that names host and port exactly may lead to a private address."""

    entries: tuple[Host, ...]
    private: bool = False

    @classmethod
    def of(cls, written: Iterable[str], private: bool = False) -> Hosts:
        """Raises `ToolFault`."""
        entries = tuple(map(entry, written))
        if not entries:
            raise ToolFault("`hosts` is empty", "name the hosts that may be called", "with", "hosts")
        if private and not any(each.port is not None and "*" not in each.name for each in entries):
            what = "`private: allow` is for a host that is named with its port"
            raise ToolFault(what, "write it as host:port in `hosts`, or leave `private` out", "with", "private")
        return cls(entries, private)

    def check(self, there: Destination) -> None:
        """Raises `ArgumentFault` (not_allowed)."""
        if not any(each.allows(there) for each in self.entries):
            known = listed(each.name + (f":{each.port}" if each.port else "") for each in self.entries)
            why = f"the host {shown(there.authority)} is not allowed: the hosts are {known}"
            raise ArgumentFault(why, "not_allowed")

    def trusts(self, there: Destination) -> bool:
        """Whether this host and port may lead to a private address."""
        return self.private and any((each.name, each.port) == (there.host, there.port) for each in self.entries)


def entry(written: str) -> Host:
    """An entry such as `api.example.com`, `*.example.com`, `localhost:8080`, `[::1]:8080`. Raises `ToolFault`."""
    stars = re.match(r"\*\.?", written)
    star = stars[0] if stars else ""
    rest = written[len(star) :]
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port
        plain = not (parts.path or parts.query or parts.fragment or "@" in rest)
        name = "*" if star == "*" and not parts.hostname else star + hostname(parts)
        if plain and star in ("", "*.", name):
            return Host(name, port)
    except ValueError:
        """Told below, like every other slip."""
    hint = "write a host such as api.example.com, *.example.com or localhost:8080"
    raise ToolFault(f"`hosts` holds {written!r}", hint, "with", "hosts")
