"""The runs and comparisons of a store on pages."""

from __future__ import annotations

import asyncio

import loopworth
from loopworth.runs import approvals
from loopworth.runs.decision import Decision
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import Shelf
from loopworth.runs.standing import Standing, standings
from loopworth.runs.store import Store
from tests.runs.storing import BEGAN, kept
from tests.web.kit import Shop, browsing, settled

LIVE = ("data-live", 'http-equiv="refresh"')
ANSWERS = """\
workflow: answers
shape: pipeline
input: {q: str}
model: {name: scripted, replies: [{text: "it is 4", usage: {prompt_tokens: 100, completion_tokens: 7}}]}
steps: [{id: said, ask: "{{ q }}"}]
answer: "{{ said }}"
"""


def compared(shop: Shop) -> str:
    """A comparison under way: one arm has two of four tasks behind it and one before it, the other has begun."""
    store = Store(shop.home)
    store.begin(Kept("c1", "comparison", "sums", "sums.yaml", BEGAN, input={"n": 4}))
    for n, (arm, right) in enumerate([("loop", True), ("loop", False), ("loop", None), ("pipe", None)], 1):
        journal = store.begin(kept(f"c1.{n}", kind="trial", parent="c1", arm=arm, task=f"t{n}", repeat=1, attempt=1))
        if right is not None:
            store.finish(journal, Outcome("hi"), Score(right))
    store.close()
    return "c1"


def made_one_more(shop: Shop) -> None:
    """Another run of it ends."""
    store = Store(shop.home)
    journal = store.resume("c1.3")
    store.finish(journal, Outcome("hi"), Score(True))
    store.close()


def test_a_run_is_told_step_by_step_with_its_costs(shop: Shop) -> None:
    """What was said, what each call sent, got and cost, and how it ended."""
    file = shop.folder / "answers.yaml"
    file.write_text(ANSWERS)
    store = Store(shop.home)
    asyncio.run(loopworth.run(str(file), {"q": "2 + 2?"}, store=store, id="r1"))
    store.close()
    with browsing(shop) as (tab, _):
        page = tab.get("/runs/r1").text
        listed = tab.get("/runs").text
    for shown in ("2 + 2?", "it is 4", "100 tokens", "got 7 tokens", "not billed", "success"):
        assert shown in page
    for shown in ("/runs/r1", "answers", "success", "107"):
        assert shown in listed


def test_the_list_is_narrowed(shop: Shop) -> None:
    """By workflow, end and time; trials where a comparison is named; what was typed stays."""
    compared(shop)
    run = shop.waits()
    with browsing(shop) as (tab, _):
        assert run in tab.get("/runs").text
        assert run in tab.get("/runs?workflow=refunds&exit=waiting&since=2020-01-01").text
        page = tab.get("/runs?workflow=other").text
        assert run not in page
        assert 'value="other"' in page
        assert run not in tab.get("/runs?exit=success").text
        assert run not in tab.get("/runs?since=2999-01-01").text
        trials = tab.get("/runs?comparison=c1&arm=loop").text
        assert "c1.1" in trials
        assert "c1.4" not in trials


def test_a_long_list_goes_on(shop: Shop) -> None:
    """With what it was narrowed by; what is no number is a slip of whoever typed it."""
    store = Store(shop.home)
    for n in range(60):
        store.begin(kept(f"r{n:02}"))
    store.close()
    with browsing(shop) as (tab, _):
        assert 'href="/runs?workflow=w&amp;most=200"' in tab.get("/runs?workflow=w").text
        assert "most=" not in tab.get("/runs?workflow=w&most=200").text
        assert tab.get("/runs?most=x").status_code == 404


def test_how_far_a_comparison_has_come_is_read_from_the_store(shop: Shop) -> None:
    """Per arm: tasks, runs, scores and what is known to be spent."""
    compared(shop)
    loop, pipe = standings(Shelf(shop.home), "c1")
    assert loop == Standing("loop", 2, 2, 1, 1, 1, 0.0, loop.unpriced, BEGAN)
    assert (pipe.tasks, pipe.done, pipe.open) == (0, 0, 1)


def test_a_comparison_under_way_is_a_page_that_changes(shop: Shop) -> None:
    """Its pages renew themselves while it goes on, also without a script, and no longer when it is done."""
    compared(shop)
    with browsing(shop) as (tab, _):
        for path in ("/comparisons", "/runs/c1"):
            page = tab.get(path).text
            for shown in ("sums", "2 of 4", '<progress max="4" value="2"', "under way", *LIVE):
                assert shown in page, (path, shown)
        store = Store(shop.home)
        store.end("c1", 1, "done", "", Outcome().usage, 1.0)
        store.close()
        for path in ("/comparisons", "/runs/c1"):
            page = tab.get(path).text
            assert not any(shown in page for shown in LIVE)


def test_a_run_that_was_interrupted_can_be_gone_on_with(shop: Shop) -> None:
    """From its page; one that has ended cannot."""
    run = shop.waits()
    [one] = shop.questions(run)
    store = Store(shop.home)
    store.wait(store.submit(lambda db: db.execute("update run set exit = 'provider_error' where id = ?", (run,))))
    store.close()
    with browsing(shop) as (tab, activations):
        assert "Go on with it" in tab.get(f"/runs/{run}").text
        tab.client.post(f"/runs/{run}/resume", data={"sign": tab.sign("/")})
        settled(activations)
        assert shop.run(run).exit == "waiting"
        tab.decide(one, "approve")
        settled(activations)
        answer = tab.client.post(f"/runs/{run}/resume", data={"sign": tab.sign(f"/runs/{shop.waits()}")})
        assert answer.status_code == 409
        assert "nothing to go on with" in answer.text


def test_what_others_decided_is_gone_on_with(shop: Shop) -> None:
    """The server looks for runs that wait although something is decided; not for one that could not go on."""
    run = shop.waits()
    [one] = shop.questions(run)
    store = Store(shop.home)
    approvals.decide(store, run, one.id, Decision("approve", "cli"))
    store.close()
    with browsing(shop) as (_, activations):
        activations.trouble[run] = "its file is gone"
        activations.sweep()
        settled(activations)
        assert shop.paid == []
        activations.trouble.clear()
        activations.sweep()
        settled(activations)
    assert shop.paid == ["Ann 250"]


def test_a_store_that_cannot_be_read_is_said(shop: Shop) -> None:
    """In words, and not as a failure of ours."""
    with browsing(shop) as (tab, _):
        (shop.folder / "runs.db").write_bytes(b"no database " * 100)
        for name in ("runs.db-wal", "runs.db-shm"):
            (shop.folder / name).unlink(missing_ok=True)
        answer = tab.get("/runs")
    assert answer.status_code == 503
    assert "runs.db" in answer.text


def test_a_run_whose_process_is_gone_says_so(shop: Shop) -> None:
    """In the list and on its page, with the button that goes on with it."""
    run = shop.waits()
    store = Store(shop.home)
    store.resume(run)  # an activation that never ends
    store.close()
    with browsing(shop) as (tab, activations):
        listed, page = tab.get("/runs").text, tab.get(f"/runs/{run}").text
        assert '<td data-label="end">killed</td>' in listed
        for shown in ("<dd>killed</dd>", "its process ended", "Go on with it"):
            assert shown in page
        tab.client.post(f"/runs/{run}/resume", data={"sign": tab.sign(f"/runs/{run}")})
        settled(activations)
        assert "<dd>waiting</dd>" in tab.get(f"/runs/{run}").text
