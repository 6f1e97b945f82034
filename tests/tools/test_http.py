"""The built-in `http`, on a network of the test's own: every connection ends at one server on loopback."""

import pytest

from loopworth.tools.builtin import builtin_tool
from loopworth.tools.fault import ToolFault
from tests.endpoint import Answer, FakeEndpoint
from tests.tools.kit import invoke
from tests.tools.web import OPEN, Web

TEXT = {"Content-Type": "text/plain"}


def web(fake, **names):
    return Web(fake.server.server_port, **{"ok_example": [OPEN], **names})


def get(tool, url="http://ok.example/"):
    return invoke(tool, {"url": url})


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (Answer(body={"a": [1]}), {"a": [1]}),
        (Answer(body='{"a": ', headers={"Content-Type": "application/json"}), '{"a": '),
        (Answer(body="[1]", headers={"Content-Type": "application/problem+json; x=y"}), [1]),
        (Answer(body="<p>hi</p>", headers={"Content-Type": "text/html"}), "<p>hi</p>"),
        (
            Answer(body="caf\xe9".encode("latin-1"), headers={"Content-Type": "text/plain; charset=ISO-8859-1"}),
            "caf\xe9",
        ),
        (Answer(status=204, body=b""), None),
    ],
)
def test_an_answer_is_data_or_text(answer, body):
    """JSON that is none stays text."""
    with FakeEndpoint(answer) as fake:
        seen = get(web(fake).tool(hosts=["ok.example"]), "http://ok.example/a?q=1")
    assert seen.full == {"status": answer.status, "url": "http://ok.example/a?q=1", "body": body}
    assert fake.requests[0].path == "/a?q=1"
    assert fake.requests[0].headers["host"] == "ok.example"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(404, "no such page", TEXT), "BadAnswer: ok.example answered 404 Not Found: no such page"),
        (Answer(500, {"error": "x"}), 'BadAnswer: ok.example answered 500 Internal Server Error: {"error": "x"}'),
        (Answer(799, "odd", TEXT), "BadAnswer: ok.example answered 799: odd"),
        (
            Answer(200, b"\x89PNG\0", {"Content-Type": "image/png"}),
            "BadAnswer: ok.example answered 5 bytes of image/png, not text",
        ),
        (Answer(200, "x" * 2000, TEXT), "BadAnswer: ok.example answered more than 1,000 bytes"),
        (Answer(200, b"\x1f\x8b", {"Content-Encoding": "gzip"}), "in the coding gzip, which was not asked for"),
        (Answer(gone=True), "ok.example cannot be used"),
        (Answer(200, "x" * 900, TEXT, cut=10), "ok.example cannot be used"),
    ],
)
def test_an_answer_of_no_use_is_a_failure_of_the_tool(answer, said):
    """It says what came, and how much of it."""
    with FakeEndpoint(answer) as fake:
        seen = get(web(fake).tool(hosts=["ok.example"], max_bytes=1_000))
    assert (seen.status, said in seen.content) == ("tool_error", True), seen.content


def test_the_connection_goes_to_the_address_that_was_checked():
    """A name server that answers differently the second time is never asked a second time."""
    with FakeEndpoint({"a": 1}) as fake:
        net = web(fake, ok_example=[[OPEN], ["127.0.0.1"]])
        assert get(net.tool(hosts=["ok.example"])).status == "ok"
    assert (net.looked, net.connected) == (["ok.example"], [(OPEN, 80)])


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], [OPEN, "10.0.0.1"], ["::1"], ["::ffff:192.168.0.1"], ["fe80::1%eth0"]]
)
def test_a_name_that_leads_to_a_private_address_is_refused(found):
    """Also where only one of its addresses does."""
    with FakeEndpoint() as fake:
        net = web(fake, ok_example=found)
        seen = get(net.tool(hosts=["ok.example"]))
    assert (seen.status, net.connected) == ("not_allowed", [])
    assert seen.content == f"ok.example leads to the private address {found[-1]}"


def test_a_private_address_is_reached_where_host_and_port_are_named():
    """With the real network: what tests and services of one's own need."""
    with FakeEndpoint({"a": 1}, {"a": 2}) as fake:
        port = fake.server.server_port
        bound = {"hosts": [f"127.0.0.1:{port}", "*:9"], "private": "allow"}
        tool = builtin_tool("web", "http", effect="read", bound=bound)
        assert get(tool, f"http://127.0.0.1:{port}/").full["body"] == {"a": 1}
        assert get(tool, "http://127.0.0.1:9/").content == "127.0.0.1 leads to the private address 127.0.0.1"
        strict = builtin_tool("web", "http", effect="read", bound={"hosts": [f"127.0.0.1:{port}"]})
        assert get(strict, f"http://127.0.0.1:{port}/").status == "not_allowed"
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("location", "status", "said"),
    [
        ("http://other.example/", "not_allowed", "the host 'other.example' is not allowed: the hosts are ok.example"),
        ("http://user@ok.example/", "not_allowed", "no user name"),
        ("file:///etc/hosts", "not_allowed", "not 'file'"),
        ("//ok.example:8080/", "not_allowed", "the host 'ok.example:8080' is not allowed"),
        ("/again", "tool_error", "ok.example redirects more than 2 times"),
    ],
)
def test_a_redirect_is_checked_like_the_first_url(location, status, said):
    """And there are only so many."""
    with FakeEndpoint(last=Answer(302, headers={"Location": location})) as fake:
        seen = get(web(fake).tool(hosts=["ok.example"], redirects=2))
    assert (seen.status, said in seen.content) == (status, True), seen.content
    assert len(fake.requests) == (3 if location == "/again" else 1)


def test_secrets_stay_with_the_first_origin():
    """A redirect to another allowed host gets none of the author's headers, and no cookies are kept."""
    moved = Answer(307, headers={"Location": "http://b.example/x", "Set-Cookie": "a=1"})
    with FakeEndpoint(Answer(307, headers={"Location": "/y", "Set-Cookie": "a=1"}), moved, {"a": 1}) as fake:
        net = web(fake, b_example=[OPEN])
        seen = get(net.tool(hosts=["ok.example", "b.example"], headers={"Authorization": "Bearer s"}))
    assert seen.full == {"status": 200, "url": "http://b.example/x", "body": {"a": 1}}
    assert [r.headers.get("authorization") for r in fake.requests] == ["Bearer s", "Bearer s", None]
    assert [r.headers["host"] for r in fake.requests] == ["ok.example", "ok.example", "b.example"]
    assert not any("cookie" in r.headers for r in fake.requests)


def test_nothing_comes_from_the_environment(monkeypatch):
    """A proxy named there would see every request, and look names up itself."""
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeEndpoint({"a": 1}) as fake:
        net = web(fake)
        assert get(net.tool(hosts=["ok.example"])).status == "ok"
    assert net.connected == [(OPEN, 80)]


def test_time_is_limited_as_a_whole():
    """A server that is slow is given up at the tool's timeout."""
    with FakeEndpoint(Answer(body="late", headers=TEXT, delay=0.3)) as fake:
        seen = get(web(fake).tool(hosts=["ok.example"], timeout=0.1))
    assert (seen.status, seen.content) == ("timed_out", "web gave no answer within 0.1 s")


@pytest.mark.parametrize(
    ("body", "raw", "kind"),
    [({"a": 1}, b'{"a": 1}', "application/json"), ("hi", b"hi", "text/plain; charset=utf-8"), (None, b"", None)],
)
def test_a_post_sends_a_body(body, raw, kind):
    """Data as JSON, a text as it is."""
    with FakeEndpoint({"id": 7}) as fake:
        tool = web(fake).tool(effect="write", hosts=["ok.example"], method="POST")
        seen = invoke(tool, {"url": "http://ok.example/orders", "body": body})
    assert seen.full["body"] == {"id": 7}
    assert (fake.requests[0].raw, fake.requests[0].headers.get("content-type")) == (raw, kind)


def test_a_write_follows_no_redirect():
    """It would happen somewhere else, or twice."""
    with FakeEndpoint(Answer(307, headers={"Location": "/b"})) as fake:
        tool = web(fake).tool(effect="write", hosts=["ok.example"], method="POST")
        seen = invoke(tool, {"url": "http://ok.example/a"})
    assert "redirects to /b, and a POST follows no redirect" in seen.content
    assert len(fake.requests) == 1


def test_a_host_that_cannot_be_reached_is_a_failure_of_the_tool():
    """With the addresses that were tried; a name that nobody knows says so."""
    seen = get(Web(9, ok_example=[OPEN]).tool(hosts=["ok.example"]))
    assert (seen.status, f"no connection to {OPEN}" in seen.content) == ("tool_error", True)


@pytest.mark.parametrize(
    ("bound", "said", "name"),
    [
        ({"hosts": []}, "`hosts` is empty", "hosts"),
        (
            {"hosts": ["a.example"], "method": "POST"},
            "`method` makes this tool write, and its `effect` is read",
            "method",
        ),
        ({"hosts": ["a.example"], "method": "FETCH"}, "`with`: method must be 'GET'", "method"),
        ({"hosts": ["a.example"], "headers": {"Host": "b"}}, "the header 'Host' is made by the connection", "headers"),
        ({"hosts": ["a.example"], "headers": {"X": "a\r\nY: b"}}, "holds more than plain ASCII", "headers"),
        ({"hosts": ["a.example"], "private": "allow"}, "named with its port", "private"),
        ({}, "a built-in http needs `hosts`", "hosts"),
        ({"hosts": ["a.example"], "max_bytes": -1}, "`max_bytes` is -1", "max_bytes"),
        ({"host": ["a.example"]}, "`with` binds 'host', which http() does not take", "host"),
    ],
)
def test_a_slip_in_with_is_the_authors_fault(bound, said, name):
    """Found while the file is checked."""
    with pytest.raises(ToolFault) as caught:
        builtin_tool("web", "http", effect="read", bound=bound)
    assert (said in caught.value.what, caught.value.key, caught.value.name) == (True, "with", name), caught.value.what
