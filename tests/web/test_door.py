"""Who may come in, whose forms are taken, and what every answer says to the browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Route

from loopworth.web import history, inbox
from loopworth.web.door import HEADERS
from loopworth.web.hosts import Hosts, is_loopback
from loopworth.web.session import COOKIE, Sessions
from tests.web.kit import Shop, Tab, browsing

TOKEN = "correct horse battery"
PAGES = ("/", "/runs", "/comparisons", "/count", "/enter", "/static/style.css", "/static/live.js", "/nowhere")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8420", "localhost:1", "LOCALHOST", "[::1]:8420", "localhost."]
)
def test_this_machine_is_a_name_of_a_server_for_this_machine(host: str) -> None:
    """Each spelling that a browser may send."""
    assert Hosts().admit(host)


@pytest.mark.parametrize(
    "host", ["evil.example", "", "127.0.0.1.evil.example", "10.0.0.1", "localhost@evil.example", "[::1", "a b", "::1"]
)
def test_no_other_is(host: str) -> None:
    """A name that can be pointed here, an address of another machine, and what is no host at all."""
    assert not Hosts().admit(host)


def test_a_server_for_others_answers_under_addresses_and_its_names() -> None:
    """An address cannot be pointed elsewhere; a name has to be given."""
    open_ = Hosts(open=True, names=("inbox.example",))
    assert open_.admit("10.0.0.1:8420")
    assert open_.admit("Inbox.example")
    assert not open_.admit("evil.example")


@given(st.text())
def test_no_text_breaks_the_reading_of_a_host(text: str) -> None:
    """Whatever it is, it is admitted only as a loopback name."""
    if Hosts().admit(text):
        assert re.match(r"\[|127\.|localhost", text.lower())


def test_only_loopback_is_loopback() -> None:
    """0.0.0.0 listens to all; a name might be anything."""
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "inbox.example")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_every_answer_has_the_headers(shop: Shop) -> None:
    """Also a refusal, a missing page and a file; no script or style but our own, nothing cached."""
    with browsing(shop) as (tab, _):
        answers = [tab.get(path) for path in PAGES]
        answers.append(tab.client.get("/", headers={"Host": "evil.example"}))
        answers.append(tab.client.post("/enter", data={}))
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (answer.url, name)
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert HEADERS["Cache-Control"] == "no-store"


def test_a_page_can_be_asked_for_without_its_body(shop: Shop) -> None:
    """HEAD is answered as GET is, as by every server: `curl -I` shows the headers."""
    with browsing(shop) as (tab, _):
        for path in PAGES:
            asked, whole = tab.client.head(path), tab.client.get(path)
            assert (asked.status_code, asked.text) == (whole.status_code, ""), path
            assert asked.headers["content-type"] == whole.headers["content-type"], path


def test_no_page_has_a_script_or_style_of_its_own(shop: Shop) -> None:
    """Which the policy would stop: no inline script, style or handler in any page."""
    run = shop.waits()
    with browsing(shop) as (tab, _):
        for path in ("/", "/runs", f"/runs/{run}", f"/approvals/{run}.1", "/comparisons", "/nowhere"):
            page = tab.get(path).text
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?! src=\"/static/)", page), path


def posts() -> list[str]:
    """The path of everything that a form can be sent to."""
    paths = [route.path for router in (inbox.router, history.router) for route in router.routes if takes_forms(route)]
    return [*paths, "/enter"]


def takes_forms(route: Any) -> bool:
    return isinstance(route, Route) and "POST" in (route.methods or ())


FORGED: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {}),
    ({"sign": "0" * 64}, {}),
    ({"sign": "of another session"}, {}),
    ({"sign": "mine"}, {"Origin": "http://evil.example"}),
    ({"sign": "mine"}, {"Origin": "null"}),
    ({"sign": "mine"}, {"Origin": "http://127.0.0.1:9999"}),
    ({"sign": "mine"}, {"Sec-Fetch-Site": "cross-site"}),
    ({"sign": "mine"}, {"Sec-Fetch-Site": "same-site"}),
    ({"sign": "mine"}, {"Cookie": f"{COOKIE}=made.1.up"}),
]


@pytest.mark.parametrize(("form", "headers"), FORGED)
def test_a_form_that_is_not_of_this_session_does_nothing(
    shop: Shop, form: dict[str, str], headers: dict[str, str]
) -> None:
    """Wherever it is sent: without its sign, with another one, from another site, or by another browser."""
    run = shop.waits()
    [one] = shop.questions(run)
    assert len(posts()) == 4
    with browsing(shop) as (tab, _):
        mine = tab.sign("/")
        with browsing(shop) as (other, _):
            signs = {"mine": mine, "of another session": other.sign("/")}
        sent = {name: signs.get(value, value) for name, value in form.items()}
        for path in posts():
            where = path.replace("{name}", one.name).replace("{id}", run)
            fields = {**sent, "choice": "approve", "hash": one.hash, "by": "eve"}
            answer = tab.client.post(where, data=fields, headers=headers, follow_redirects=False)
            assert answer.status_code == 403, where
    assert shop.questions(run)[0].state == "waiting"
    assert shop.run(run).exit == "waiting"


def test_a_form_of_this_server_is_taken(shop: Shop) -> None:
    """With what a browser says of where it comes from."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, _):
        own = {"Origin": "http://127.0.0.1:8420", "Sec-Fetch-Site": "same-origin"}
        form = {"sign": tab.sign("/"), "hash": one.hash, "choice": "reject", "by": "a", "note": "no"}
        answer = tab.client.post(f"/approvals/{one.name}", data=form, headers=own, follow_redirects=False)
        assert answer.status_code == 303


def test_a_form_that_is_too_long_or_none_is_refused(shop: Shop) -> None:
    """Before anything is kept of it."""
    with browsing(shop, token=TOKEN) as (tab, _):
        assert tab.client.post("/enter", content=b"a=" + b"x" * 10_000).status_code == 413
    with browsing(shop) as (tab, _):
        assert tab.client.post("/enter", content=b"a=" + b"x" * 20_000_000).status_code == 413
        assert tab.client.post("/enter", content=b"\xff\xfe=1").status_code == 400
        assert tab.client.post("/enter", content=b"&".join([b"a=1"] * 30)).status_code == 400


def test_the_cookie_is_for_the_server_alone(shop: Shop) -> None:
    """No script reads it, no form of another site sends it, and over TLS it stays there."""
    with browsing(shop) as (tab, _):
        cookie = tab.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" in Sessions(None).cookie(Sessions(None).fresh(), secure=True)


def test_a_cookie_of_another_server_is_none() -> None:
    """The key is the server's own: neither a made-up cookie nor one of before counts."""
    mine, other = Sessions(TOKEN), Sessions(TOKEN)
    cookie = mine.cookie(mine.fresh(entered=True), secure=False).partition(";")[0]
    assert mine.read(cookie).entered
    assert not other.read(cookie).entered
    assert not mine.read(cookie.replace(".1.", ".0.")).entered
    assert not mine.read(cookie.replace(".1.", ".2.")).entered


def test_without_the_token_nothing_is_told(shop: Shop) -> None:
    """Every page leads to the entrance; no form is taken."""
    run = shop.waits("the secret case")
    with browsing(shop, token=TOKEN) as (tab, _):
        for path in ("/", "/runs", f"/runs/{run}", f"/approvals/{run}.1", "/count", "/nowhere"):
            answer = tab.get(path, follow_redirects=False)
            assert (answer.status_code, answer.headers["location"], answer.text) == (303, "/enter", "")
        sign = tab.sign("/enter")
        for path in posts()[:-1]:
            where = path.replace("{name}", f"{run}.1").replace("{id}", run)
            assert tab.client.post(where, data={"sign": sign}).status_code == 403
    assert shop.run(run).exit == "waiting"


def test_the_token_opens_the_door_for_this_browser(shop: Shop) -> None:
    """A wrong one does not; who entered has another session than before."""
    run = shop.waits("the secret case")
    with browsing(shop, token=TOKEN) as (tab, _):
        assert entered(tab, "guess").status_code == 403
        before = tab.client.cookies[COOKIE]
        assert entered(tab, TOKEN).status_code == 200
        assert tab.client.cookies[COOKIE].partition(".")[0] != before.partition(".")[0]
        assert run in tab.get("/").text
        tab.client.cookies.clear()
        assert run not in tab.get("/").text


def entered(tab: Tab, token: str) -> Any:
    return tab.client.post("/enter", data={"sign": tab.sign("/enter"), "token": token})


def test_a_second_host_header_is_refused(shop: Shop) -> None:
    """A proxy and a server might each believe another of them."""
    with browsing(shop) as (tab, _):
        headers = [("Host", "127.0.0.1:8420"), ("Host", "evil.example")]
        assert tab.client.get("/", headers=headers).status_code == 421  # type: ignore[arg-type]


def test_the_application_has_no_pages_of_the_framework(shop: Shop) -> None:
    """Its documentation would load scripts from elsewhere."""
    with browsing(shop) as (tab, _):
        assert {tab.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json")} == {404}
