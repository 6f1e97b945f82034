"""The tool `http` on a network of the test's own: names stand in a table, every connection ends at one server."""

import httpcore2

from loopworth.tools import http
from loopworth.tools.builtin import MAKERS, builtin_tool

OPEN = "93.184.216.34"
"""An address that is open to everybody; no packet is ever sent there."""


class Web:
    """`names`: addresses by host; a list of lists answers differently each time. `looked` and `connected` are what was
    asked of it."""

    def __init__(self, port=9, **names):
        self.port, self.names = port, {name.replace("_", "."): found for name, found in names.items()}
        self.looked, self.connected = [], []

    async def resolve(self, host, port):
        self.looked.append(host)
        if host not in self.names:
            return await http.resolve(host, port)
        found = self.names[host]
        return found.pop(0) if isinstance(found[0], list) else found

    def network(self):
        return Cable(self)

    def tool(self, name="web", effect="read", timeout=5.0, **bound):
        makers = {**MAKERS, "http": http.by(self.resolve, self.network)}
        return builtin_tool(name, "http", effect=effect, bound=bound, timeout=timeout, makers=makers)


class Cable(httpcore2.AsyncNetworkBackend):
    def __init__(self, web):
        self.web, self.real = web, httpcore2.AnyIOBackend()

    async def connect_tcp(self, host, port, *rest, **more):
        self.web.connected.append((host, port))
        return await self.real.connect_tcp("127.0.0.1", self.web.port, *rest, **more)
