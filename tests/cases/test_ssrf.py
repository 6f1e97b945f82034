"""The handed cases of kind ssrf: the tool `http` with every host allowed, so that the addresses alone decide."""

import pathlib
import re
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from tests.endpoint import Answer, FakeEndpoint
from tests.tools.kit import invoke
from tests.tools.web import OPEN, Web

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("ssrf.yaml"))["cases"]


class Played(NamedTuple):
    given: dict[str, Any]
    web: Web
    seen: list[Any]
    """The observation of each call."""
    paths: list[str]
    """What the server was asked for."""


def play(given: dict[str, Any]) -> Played:
    """Each call of the case, on a network where `ok.example` is a public server."""
    moved = re.match(r"answers (\d+) to (\S+)", given.get("server", ""))
    script = [Answer(int(moved[1]), headers={"Location": moved[2]})] if moved else []
    urls = [given["call"]["url"]] if "call" in given else given["calls"]
    with FakeEndpoint(*script) as fake:
        web = Web(fake.server.server_port, ok_example=[OPEN])
        seen = [invoke(web.tool(hosts=["*", "*:8080"]), {"url": url}) for url in urls]
        return Played(given, web, seen, [received.path for received in fake.requests])


def target_refused(played: Played) -> None:
    assert played.paths == ["/"]
    assert played.web.connected == [(OPEN, 80)]
    assert played.seen[0].status == "not_allowed"
    assert played.seen[0].content == "127.0.0.1 leads to the private address 127.0.0.1"


def all_refused(played: Played) -> None:
    assert [seen.status for seen in played.seen] == ["not_allowed"] * 4
    assert (played.web.connected, played.paths) == ([], [])


def schemes_named(played: Played) -> None:
    assert [seen.status for seen in played.seen] == ["not_allowed"] * 2
    told = [seen.content for seen in played.seen]
    assert told == [f"only http and https are allowed, not {name}: write https://…" for name in ("'file'", "'ftp'")]
    assert (played.web.looked, played.web.connected) == ([], [])


EXPECTED = {
    "The redirect target is checked and refused.": target_refused,
    "All refused.": all_refused,
    "Only http and https are allowed; the message names the scheme.": schemes_named,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_ssrf(case):
    """Where a URL may lead to, and every line of what must come of it."""
    played = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](played)
