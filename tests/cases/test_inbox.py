"""The handed cases of kind inbox, through the pages of the server: forms and headers as a browser sends them."""

import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.runs.approvals import Approval
from tests.web.kit import LOOKS, Shop, browsing, settled, several

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("inbox.yaml"))["cases"]
PAGES = ("/", "/runs", "/comparisons", "/count", "/enter", "/static/style.css", "/nowhere")


class Played(NamedTuple):
    answers: list[Any]
    questions: list[Approval]
    paid: list[str]
    run: str


def play(given: dict[str, Any], shop: Shop) -> Played:
    five = given.get("pending") == "five calls of one turn"
    run = shop.waits("the secret case", several(5), text=LOOKS) if five else shop.waits("the secret case")
    if "request" in given:
        return Played(asked(given["request"], shop, run), shop.questions(run), shop.paid, run)
    answers = ACTIONS[given["action"]](shop, run)
    return Played(answers, shop.questions(run), shop.paid, run)


def asked(request: dict[str, Any], shop: Shop, run: str) -> list[Any]:
    assert request["path"] == "any page"
    with browsing(shop) as (tab, _):
        paths = (*PAGES, f"/runs/{run}", f"/approvals/{run}.1")
        return [tab.client.request(request["method"], path, headers=request["headers"]) for path in paths]


def two_tabs(shop: Shop, run: str) -> list[Any]:
    ready, [one] = threading.Barrier(2), shop.questions(run)
    with browsing(shop) as (tab, activations):
        sign = tab.sign("/")

        def send(by: str, choice: str) -> Any:
            ready.wait(10)
            form = {"sign": sign, "hash": one.hash, "choice": choice, "by": by, "note": f"{by} says so"}
            return tab.client.post(f"/approvals/{one.name}", data=form)

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(send, ("ann", "bob"), ("approve", "reject")))
        settled(activations)
        return [*answers, tab.get(f"/approvals/{one.name}")]


def the_fourth(shop: Shop, run: str) -> list[Any]:
    with browsing(shop) as (tab, activations):
        tab.decide(shop.questions(run)[3], "approve")
        settled(activations)
        return [tab.get("/")]


def of_a_cancelled_run(shop: Shop, run: str) -> list[Any]:
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        form = {"sign": tab.sign("/"), "hash": one.hash, "choice": "approve", "by": "ann"}
        tab.client.post(f"/runs/{run}/cancel", data={"sign": form["sign"]})
        answer = tab.client.post(f"/approvals/{one.name}", data=form)
        settled(activations)
        return [answer]


ACTIONS = {
    "approve from one tab and deny from another at the same time": two_tabs,
    "approve the fourth": the_fourth,
    "approve a request whose run was cancelled": of_a_cancelled_run,
}


def first_wins(found: Played) -> None:
    [one] = found.questions
    assert sorted(answer.status_code for answer in found.answers[:2]) == [200, 409]
    assert one.winner is not None
    assert one.decision == one.winner.decision
    assert one.decision.note == f"{one.decision.by} says so"
    assert sorted((b.by, b.won) for b in one.ballots) == sorted((by, by == one.decision.by) for by in ("ann", "bob"))
    page = found.answers[2].text
    assert "ann" in page
    assert "bob" in page
    assert page.count("(too late)") == 1
    assert found.paid == (["Ann 250"] if one.decision.choice == "approve" else [])


def only_the_fourth(found: Played) -> None:
    assert [one.state for one in found.questions] == ["waiting"] * 3 + ["decided", "waiting"]
    links = [f"/approvals/{found.run}.{n}" in found.answers[0].text for n in range(1, 6)]
    assert links == [True, True, True, False, True]


def nothing_told(found: Played) -> None:
    for answer in found.answers:
        assert answer.status_code == 421
        assert found.run not in answer.text
        assert "secret case" not in answer.text
        assert "set-cookie" not in answer.headers


def refused_in_words(found: Played) -> None:
    [answer] = found.answers
    assert answer.status_code == 409
    assert "cannot be decided: its run has ended (cancelled)" in answer.text
    assert found.questions[0].state == "waiting"
    assert found.paid == []


EXPECTED = {
    "The first wins as a whole; the record shows both tries and who won.": first_wins,
    "Only the fourth is decided; the others stay open.": only_the_fourth,
    "Refused; no run data in the answer.": nothing_told,
    "Refused with a clear message; the tool does not run.": refused_in_words,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_inbox(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """A page decides what it shows, once, for its own server's browser, and only while there is something to decide."""
    found = play(case["given"], Shop(tmp_path))
    for line in case["expect"]:
        EXPECTED[line](found)
