"""Runs that wait in a store, and a browser without a screen."""

from __future__ import annotations

import asyncio
import pathlib
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

import loopworth
from loopworth.runs import approvals
from loopworth.runs.approvals import Approval
from loopworth.runs.home import home
from loopworth.runs.kept import Kept
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.web.activations import Activations
from loopworth.web.app import application
from loopworth.web.hosts import Hosts

HOSTILE = "<script>alert(1)</script>\"'&\x1b[2J\u202eevil\u2066\x85</pre></textarea>"
SPELLED = "&lt;script&gt;alert(1)&lt;/script&gt;"
TOOLS = '''
import pathlib


def refund(who: str, amount: int) -> str:
    """Pay money back."""
    with (pathlib.Path(__file__).parent / "paid.txt").open("a") as file:
        file.write(f"{who} {amount}\\n")
    return f"paid {who} {amount}"


def doze(case: str) -> str:
    """Block until the test says otherwise."""
    from tests.web import kit

    kit.ASLEEP.set()
    return "woke" if kit.AWAKE.wait(20) else "nobody woke it"
'''
ASLEEP, AWAKE = threading.Event(), threading.Event()
REFUNDS = """\
workflow: refunds
shape: gated_loop
input: {case: str}
model:
  name: scripted
  replies:
    - {calls: CALLS}
    - done
tools: {refund: {python: "shop:refund", effect: irreversible, allow: {who: [Ann, Bob]}}}
gate: {refund: {choices: [approve, edit, reject]MORE}}
prompt: "{{ case }}"
finish: text
budget: {turns: 5}
"""
DOZES = """\
workflow: dozes
shape: pipeline
input: {case: str}
tools:
  refund: {python: "shop:refund", effect: irreversible}
  doze: {python: "shop:doze", effect: read, timeout: 60s}
gate: {refund: {}}
steps:
  - {id: paid, call: refund, with: {who: "{{ case }}", amount: 1}}
  - {id: slept, call: doze, with: {case: "{{ paid }}"}}
answer: "{{ slept }}"
"""
ANYBODY = REFUNDS.replace(", allow: {who: [Ann, Bob]}", "")
"""Money for anybody."""
LOOKS = ANYBODY.replace("irreversible", "read")
"""Calls that do not wait for one another."""
ONE = "[{tool: refund, arguments: {who: Ann, amount: 250}}]"


LOOPBACK = Hosts()


def several(n: int) -> str:
    """So many calls of one turn."""
    return "[" + ", ".join(f"{{tool: refund, arguments: {{who: Ann, amount: {k}}}}}" for k in range(1, n + 1)) + "]"


class Shop:
    """A folder with a store, workflows and tools; `paid` is what was really paid."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.home = folder, home(str(folder / "runs.db"))
        (folder / "shop.py").write_text(TOOLS, "utf-8")
        Store(self.home).close()

    @property
    def paid(self) -> list[str]:
        path = self.folder / "paid.txt"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def waits(self, case: str = "c", calls: str = ONE, more: str = "", text: str = REFUNDS) -> str:
        """A run that waits at its gate; its id."""
        file = self.folder / f"w{len(list(self.folder.glob('*.yaml')))}.yaml"
        file.write_text(text.replace("CALLS", calls).replace("MORE", more), "utf-8")
        store = Store(self.home)
        id = loopworth.begin(store, str(file), {"case": case})
        assert apart(loopworth.resume(store, id)).exit == "waiting"
        store.close()
        return id

    def shelf(self) -> Shelf:
        return Shelf(self.home)

    def questions(self, run: str) -> list[Approval]:
        return approvals.of_run(self.shelf(), run)

    def run(self, id: str) -> Kept:
        return self.shelf().run(id)


def apart(work: Any) -> Any:
    """What something asynchronous comes to, in a thread of its own, whatever runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class Tab:
    """A browser's tab as far as cookies and forms go."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def sign(self, path: str = "/runs") -> str:
        """What the forms of this session carry."""
        page = self.get(path).text
        found = re.search(r'name="sign" value="([0-9a-f]+)"', page)
        assert found, page
        return found[1]

    def decide(self, one: Approval, choice: str, **fields: str) -> Any:
        path = f"/approvals/{one.name}"
        form = {"sign": self.sign(path), "hash": one.hash, "choice": choice, "by": "ann", "note": "", **fields}
        return self.client.post(path, data=form, follow_redirects=False)


@contextmanager
def browsing(shop: Shop, hosts: Hosts = LOOPBACK, **more: Any) -> Iterator[tuple[Tab, Activations]]:
    """A tab on a server over a shop, and the runs that the server goes on with."""
    activations = Activations(shop.home)
    app = application(shop.home, hosts, "me", activations=activations, **{"sweep": None, **more})
    with TestClient(app, base_url="http://127.0.0.1:8420") as client:
        yield Tab(client), activations


def settled(activations: Activations, but: str = "") -> None:
    """Wait until no run is under way, `but` one."""

    async def done() -> None:
        while tasks := [task for run, task in activations.under_way.items() if run != but]:
            await asyncio.wait(tasks)

    asyncio.run_coroutine_threadsafe(done(), activations.loop).result(30)
