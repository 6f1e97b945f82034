"""The pages in a real browser: Debian's chromium, by its path. Without one these tests are skipped, saying so."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
import uvicorn

from loopworth.runs.shelf import Shelf
from loopworth.web.activations import Activations
from loopworth.web.app import application
from loopworth.web.hosts import Hosts
from tests.web.kit import ANYBODY, HOSTILE, Shop, settled
from tests.web.test_history import compared, made_one_more

CHROMIUM = os.environ.get("LOOPWORTH_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no chromium on this machine: apt-get install chromium", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="pip install playwright (it needs no browser of its own)"
)
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1200, "height": 900}
WAIT = 30_000
"""Milliseconds for what takes none on a machine that is not busy."""


class Screen(NamedTuple):
    """A page in the browser, the shop behind it, and all that the browser complained of."""

    page: Any
    shop: Shop
    activations: Activations
    address: str
    complaints: list[str]

    def open(self, path: str = "/") -> Any:
        self.page.goto(self.address + path)
        return self.page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that is served in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listens]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listens.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


@contextmanager
def shown(chromium: Any, folder: pathlib.Path, script: bool = True, **more: Any) -> Iterator[Screen]:
    shop = Shop(folder)
    activations = Activations(shop.home)
    with served(application(shop.home, Hosts(), "me", activations=activations, sweep=None)) as address:
        context = chromium.new_context(java_script_enabled=script, **{"viewport": DESK, **more})
        context.set_default_timeout(WAIT)
        page, complaints = context.new_page(), list[str]()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        try:
            yield Screen(page, shop, activations, address, complaints)
        finally:
            context.close()


@pytest.fixture
def screen(chromium: Any, tmp_path: pathlib.Path) -> Iterator[Screen]:
    """A page that must end without a complaint of the browser: no error, no breach of the policy, no dialog."""
    with shown(chromium, tmp_path) as made:
        yield made
        assert made.complaints == []


def test_approve(screen: Screen) -> None:
    """One press: the call is made, and the page says how the run ended, without being loaded again."""
    run = screen.shop.waits()
    page = screen.open()
    page.get_by_label("Reason").fill("it broke")
    page.get_by_label("Your name").fill("Ann Example")
    page.get_by_role("button", name="Approve", exact=True).click()
    page.get_by_text("has ended: success").wait_for()
    assert page.url.endswith(f"/approvals/{run}.1")
    assert "approve by Ann Example" in page.locator("main").inner_text()
    assert screen.shop.paid == ["Ann 250"]
    screen.shop.waits()
    page = screen.open()
    assert page.get_by_label("Your name").input_value() == "Ann Example"


def test_edit(screen: Screen) -> None:
    """A slip is told beside what was typed; put right, it is what is called."""
    screen.shop.waits()
    page = screen.open()
    page.get_by_text("Edit the arguments").click()
    field = page.get_by_label("All arguments, as one JSON object")
    assert '"amount": 250' in field.input_value()
    field.fill('{"who": "Eve", "amount": 3}')
    with_these = page.get_by_role("button", name="Approve with these arguments")
    with_these.click()
    page.get_by_role("alert").wait_for()
    assert "not allowed" in page.get_by_role("alert").inner_text()
    assert field.input_value() == '{"who": "Eve", "amount": 3}'
    assert screen.complaints.pop().startswith("Failed to load resource: the server responded with a status of 422")
    field.fill('{"who": "Bob", "amount": 3}')
    with_these.click()
    page.get_by_text("has ended: success").wait_for()
    assert screen.shop.paid == ["Bob 3"]


def test_reject(screen: Screen) -> None:
    """The reason reaches the model; nothing is called."""
    run = screen.shop.waits()
    page = screen.open(f"/approvals/{run}.1")
    page.get_by_label("Reason").fill("too much")
    page.get_by_role("button", name="Reject").click()
    page.get_by_text("has ended: success").wait_for()
    assert "too much" in page.locator(".steps").inner_text()
    assert screen.shop.paid == []


def test_decided_twice(screen: Screen) -> None:
    """The second tab is told who was first, and its try is kept."""
    run = screen.shop.waits()
    first = screen.open(f"/approvals/{run}.1")
    second = first.context.new_page()
    second.goto(f"{screen.address}/approvals/{run}.1")
    first.get_by_label("Your name").fill("ann")
    first.get_by_role("button", name="Approve", exact=True).click()
    first.get_by_text("has ended").wait_for()
    second.get_by_label("Your name").fill("bob")
    second.get_by_label("Reason").fill("no")
    second.get_by_role("button", name="Reject").click()
    told = second.get_by_role("alert")
    told.wait_for()
    assert "already decided: approved by ann" in told.inner_text()
    assert "reject by bob" in second.locator(".tries").inner_text()
    assert screen.shop.paid == ["Ann 250"]


def test_by_keyboard_alone(screen: Screen) -> None:
    """Every control is reached in reading order and shows that it has the focus; Enter in a field decides nothing."""
    run = screen.shop.waits()
    page = screen.open(f"/approvals/{run}.1")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        named = page.evaluate("document.activeElement.name || document.activeElement.innerText")
        reached.append(" ".join(named.split()))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", reached
        if reached[-1] == "by":
            page.keyboard.press("Enter")
            assert screen.shop.questions(run)[0].state == "waiting"
        if page.evaluate("document.activeElement.innerText") == "Approve":
            break
    wanted = ["To the content", "Waiting 1", "Runs", "Comparisons", run, "note", "by", "Edit the arguments", "choice"]
    assert reached == wanted
    page.keyboard.press("Enter")
    page.get_by_text("has ended: success").wait_for()
    assert screen.shop.paid == ["Ann 250"]


def test_the_keyboard_jumps_to_the_content(screen: Screen) -> None:
    """The first stop of a page leads past what stands on all of them."""
    screen.shop.waits()
    page = screen.open()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(chromium: Any, tmp_path: pathlib.Path, scheme: str) -> None:
    """Nothing scrolls sideways at 360 pixels; what is pressed is 44 high; what is read stands out, by day and night."""
    with shown(chromium, tmp_path, viewport=PHONE, color_scheme=scheme, has_touch=True, is_mobile=True) as screen:
        long = "w" * 300
        run = screen.shop.waits(
            long, calls=f"[{{tool: refund, arguments: {{who: {long}, amount: 250}}}}]", text=ANYBODY
        )
        for path in ("/", f"/approvals/{run}.1", "/runs", f"/runs/{run}", "/comparisons", "/nowhere"):
            page = screen.open(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
            for name, height, width in page.evaluate(PRESSED):
                assert height >= 44, (path, name)
                assert width >= 44, (path, name)
            assert page.evaluate(CONTRAST) == [], path
        page = screen.open(f"/approvals/{run}.1")
        page.get_by_role("button", name="Approve", exact=True).tap()
        page.get_by_text("has ended: success").wait_for()


PRESSED = """
() => [...document.querySelectorAll('button, a:not(.skip), input:not([type=hidden]), select, summary, textarea')]
  .filter(one => one.checkVisibility())
  .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect().height, one.getBoundingClientRect().width])
"""
CONTRAST = """
() => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = one => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const poor = [];
  for (const one of document.querySelectorAll('body *')) {
    const own = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !one.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(one.outerHTML.slice(0, 80));
  }
  return poor;
}
"""


def test_hostile_text_stays_text(screen: Screen) -> None:
    """It runs nowhere, closes no element, and turns no line round."""
    more = f", ask: {json.dumps(HOSTILE)}"
    calls = f"[{{tool: refund, arguments: {{who: {json.dumps(HOSTILE)}, amount: 1}}}}]"
    run = screen.shop.waits(HOSTILE, calls=calls, more=more, text=ANYBODY)
    for path in (
        "/",
        f"/approvals/{run}.1",
        "/runs",
        f"/runs/{run}",
        "/runs?workflow=%3Cscript%3Ealert(2)%3C/script%3E",
    ):
        page = screen.open(path)
        assert page.locator("script").count() == 1
        assert "\u202e" not in page.content()
    page = screen.open(f"/approvals/{run}.1")
    assert "<script>alert(1)</script>" in page.locator(".question").inner_text()
    assert "<script>alert(1)</script>" in page.locator(".steps").inner_text()
    assert "\\u202eevil" in page.locator(".arguments").inner_text()


def test_without_a_script_everything_is_decided_all_the_same(chromium: Any, tmp_path: pathlib.Path) -> None:
    """The script only renews what is shown."""
    with shown(chromium, tmp_path, script=False) as screen:
        run = screen.shop.waits()
        page = screen.open()
        page.get_by_role("button", name="Approve", exact=True).click()
        page.wait_for_url(f"**/approvals/{run}.1")
        settled(screen.activations)
        page = screen.open(f"/approvals/{run}.1")
        assert "has ended: success" in page.locator("main").inner_text()


def test_what_comes_while_a_page_is_open_is_told(screen: Screen) -> None:
    """The count on every page, and a line on the inbox; what is being typed is left alone."""
    screen.shop.waits()
    page = screen.open()
    page.get_by_label("Reason").fill("half a sent")
    screen.shop.waits()
    page.locator("#count", has_text="2").wait_for()
    page.get_by_text("What waits has changed.").wait_for()
    assert page.get_by_label("Reason").input_value() == "half a sent"


def test_a_comparison_is_seen_to_come_on(screen: Screen) -> None:
    """Its page changes while another process makes it."""
    compared(screen.shop)
    page = screen.open("/runs/c1")
    page.get_by_text("2 of 4").wait_for()
    made_one_more(screen.shop)
    page.get_by_text("3 of 4").wait_for()
    assert Shelf(screen.shop.home).run("c1").state == "unfinished"


def test_the_token_is_asked_for_once(chromium: Any, tmp_path: pathlib.Path) -> None:
    """Then this browser is let in."""
    shop = Shop(tmp_path)
    run = shop.waits()
    app = application(shop.home, Hosts(), "me", token="correct horse battery", sweep=None)
    with served(app) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}/approvals/{run}.1")
        page.get_by_label("The token").fill("correct horse battery")
        page.get_by_role("button", name="Enter").click()
        page.get_by_role("button", name="Approve", exact=True).wait_for(timeout=WAIT)
        page.goto(f"{address}/approvals/{run}.1")
        page.get_by_role("button", name="Approve", exact=True).wait_for(timeout=WAIT)
        assert page.get_by_label("The token").count() == 0
        context.close()
