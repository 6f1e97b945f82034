"""Which addresses of the network are open to everybody, and which lead to something private."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
GLOBAL = IPv6Network("2000::/3")
TRANSLATED = IPv6Network("64:ff9b::/96")
"""Where a network that has only IPv6 shows the addresses of IPv4."""
CLOSED = (
    IPv4Network("168.63.129.16/32"),  # in a cloud of Azure: the host of the machine, which tells its secrets
    IPv4Network("192.0.0.0/24"),  # of protocols, and in other clouds what the first is there
    IPv4Network("192.88.99.0/24"),  # the way into networks that no longer are
    IPv6Network("3fff::/20"),  # for documentation
)
"""What is private, and global to the standard library of some version."""


def read(text: str) -> Address:
    """An address as a resolver writes it; what follows a % is the local network it belongs to. Raises `ValueError`."""
    return ipaddress.ip_address(text.partition("%")[0])


def public(address: Address) -> bool:
    """Whether an address is no private, loopback, link-local, multicast, reserved or documentation one. An address of
    IPv4 inside one of IPv6 is judged as what it is."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved and not closed(address)
    if (inner := within(address)) is not None:
        return public(inner)
    return address in GLOBAL and address.is_global and not closed(address)


def closed(address: Address) -> bool:
    return any(address in network for network in CLOSED)


def within(address: IPv6Address) -> IPv4Address | None:
    """The address of IPv4 that an address of IPv6 stands for, if it does."""
    if address.teredo is not None:
        return address.teredo[1]
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour
