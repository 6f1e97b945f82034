"""The inbox in the browser, without a browser: what a page shows, and what a form does."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from loopworth.runs.store import Store
from tests.web.kit import ANYBODY, HOSTILE, LOOKS, SPELLED, Shop, browsing, settled, several


def test_a_question_shows_what_a_person_has_to_know(shop: Shop) -> None:
    """The tool, the exact arguments, the question, when it expires, and the run so far."""
    run = shop.waits("the kettle broke", more=", ask: 'Pay {{ args.amount }}?', timeout: 1h")
    with browsing(shop) as (tab, _):
        for path in ("/", f"/approvals/{run}.1"):
            page = tab.get(path).text
            for shown in ("refund", "&#34;amount&#34;: 250", "Pay 250?", "then reject", "the kettle broke", run):
                assert shown in page, (path, shown)


def test_an_approved_call_is_made_once_and_the_run_ends(shop: Shop) -> None:
    """A decision is entered with its name and reason, and the run goes on behind the pages."""
    run = shop.waits()
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        answer = tab.decide(one, "approve", note="it broke")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/approvals/{run}.1")
        settled(activations)
        assert "has ended: success" in tab.get(f"/approvals/{run}.1").text
    [one] = shop.questions(run)
    assert one.decision is not None
    assert (one.decision.choice, one.decision.by, one.decision.note) == ("approve", "ann", "it broke")
    assert shop.paid == ["Ann 250"]


def test_a_rejected_call_is_not_made_and_the_model_reads_why(shop: Shop) -> None:
    """A loop goes on with the reason."""
    run = shop.waits()
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        assert tab.decide(one, "reject", note="too much").status_code == 303
        settled(activations)
        assert "too much" in tab.get(f"/runs/{run}").text
    assert (shop.paid, shop.run(run).exit) == ([], "success")


def test_a_rejection_needs_a_reason(shop: Shop) -> None:
    """Without one the page says so, and nothing is decided."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, _):
        answer = tab.decide(one, "reject", note="  ")
    assert answer.status_code == 422
    assert "Say why" in answer.text
    assert shop.questions(one.run)[0].state == "waiting"


def test_an_edited_call_is_made_as_edited(shop: Shop) -> None:
    """What was typed is what is called."""
    run = shop.waits()
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        assert tab.decide(one, "edit", arguments='{"who": "Bob",\r\n "amount": 3}').status_code == 303
        settled(activations)
    assert shop.paid == ["Bob 3"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ('{"who": "Eve", "amount": 3}', "not allowed"),
        ('{"who": "Bob", "amount": "much"}', "amount"),
        ('{"who": "Bob"}', "amount"),
        ('{"who": "Bob", "amount": 3', "refund does not take these arguments"),
        ("[]", "refund does not take these arguments"),
    ],
)
def test_edited_arguments_are_held_against_schema_and_allow_list(shop: Shop, typed: str, told: str) -> None:
    """A person's slip is told beside what was typed, which is kept; nothing is decided and nothing is called."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, _):
        answer = tab.decide(one, "edit", arguments=typed, note="kept words")
    assert answer.status_code == 422
    for shown in (told, typed.replace('"', "&#34;"), "kept words", 'aria-invalid="true"'):
        assert shown in answer.text
    assert shop.questions(one.run)[0].state == "waiting"
    assert shop.paid == []


def test_a_tool_that_changed_since_takes_no_edit(shop: Shop) -> None:
    """What was decided would be decided on something else."""
    [one] = shop.questions(shop.waits())
    tools = shop.folder / "shop.py"
    tools.write_text(tools.read_text().replace("amount: int)", "amount: int, memo: str)"))
    with browsing(shop) as (tab, _):
        answer = tab.decide(one, "edit", arguments='{"who": "Bob", "amount": 3}')
    assert answer.status_code == 409
    assert "cannot go on" in answer.text
    assert shop.questions(one.run)[0].state == "waiting"


def test_a_run_that_cannot_go_on_says_why(shop: Shop) -> None:
    """The decision stands; the run's page tells what stands in its way, and offers to try again."""
    [one] = shop.questions(shop.waits())
    file = next(shop.folder.glob("*.yaml"))
    file.write_text(file.read_text() + "# changed\n")
    with browsing(shop) as (tab, activations):
        assert tab.decide(one, "approve").status_code == 303
        settled(activations)
        page = tab.get(f"/runs/{one.run}").text
    assert "It could not go on" in page
    assert "changed since it began" in page
    assert "Go on with it" in page
    assert shop.paid == []


def test_who_comes_second_is_told_who_was_first(shop: Shop) -> None:
    """The later try is refused, kept, and changes nothing."""
    run = shop.waits()
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        sign = tab.sign("/")
        tab.decide(one, "approve")
        form = {"sign": sign, "hash": one.hash, "choice": "reject", "by": "bob", "note": "no"}
        answer = tab.client.post(f"/approvals/{one.name}", data=form)
        settled(activations)
    assert answer.status_code == 409
    assert "already decided: approved by ann" in answer.text
    [one] = shop.questions(run)
    assert [(b.by, b.decision.choice, b.won) for b in one.ballots] == [
        ("ann", "approve", True),
        ("bob", "reject", False),
    ]
    assert shop.paid == ["Ann 250"]


def test_of_two_tabs_at_once_one_wins_whole(shop: Shop) -> None:
    """Choice, name and reason are of the same tab, and both tries are kept."""
    run = shop.waits()
    [one] = shop.questions(run)
    ready = threading.Barrier(2)
    with browsing(shop) as (tab, activations):
        sign = tab.sign("/")

        def send(by: str, choice: str) -> int:
            ready.wait(10)
            form = {"sign": sign, "hash": one.hash, "choice": choice, "by": by, "note": f"{by}'s"}
            answer = tab.client.post(f"/approvals/{one.name}", data=form, follow_redirects=False)
            return int(answer.status_code)

        with ThreadPoolExecutor(2) as pool:
            answers = sorted(pool.map(send, ("ann", "bob"), ("approve", "reject")))
        settled(activations)
    assert answers == [303, 409]
    [one] = shop.questions(run)
    assert sorted(b.won for b in one.ballots) == [False, True]
    assert one.winner is not None
    assert one.decision == one.winner.decision
    assert one.decision.note == f"{one.decision.by}'s"
    assert shop.paid == (["Ann 250"] if one.decision.choice == "approve" else [])


def test_one_call_of_a_turn_is_decided_alone(shop: Shop) -> None:
    """The others of the turn stay open, and are shown as such."""
    run = shop.waits(calls=several(5), text=LOOKS)
    fourth = shop.questions(run)[3]
    with browsing(shop) as (tab, activations):
        tab.decide(fourth, "approve")
        settled(activations)
        page = tab.get("/").text
    assert [one.state for one in shop.questions(run)] == ["waiting"] * 3 + ["decided", "waiting"]
    assert f"/approvals/{run}.3" in page
    assert f"/approvals/{run}.4" not in page


def test_a_request_of_a_cancelled_run_is_refused(shop: Shop) -> None:
    """In words; the tool does not run."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, activations):
        sign = tab.sign("/")
        answer = tab.client.post(f"/runs/{one.run}/cancel", data={"sign": sign})
        assert "cancelled" in answer.text
        form = {"sign": sign, "hash": one.hash, "choice": "approve", "by": "ann"}
        answer = tab.client.post(f"/approvals/{one.name}", data=form)
        settled(activations)
    assert answer.status_code == 409
    assert "cannot be decided: its run has ended (cancelled)" in answer.text
    assert shop.paid == []


def test_a_call_that_was_asked_anew_is_not_decided_by_an_old_page(shop: Shop) -> None:
    """What is approved is what was shown."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, _):
        answer = tab.decide(one, "approve", hash="0123456789abcdef")
    assert answer.status_code == 409
    assert "look again" in answer.text
    assert shop.questions(one.run)[0].state == "waiting"


def test_a_request_that_was_altered_in_the_store_offers_no_button(shop: Shop) -> None:
    """The page says so, and a form that is sent all the same is refused."""
    [one] = shop.questions(shop.waits())
    store = Store(shop.home)
    altered = json.dumps({"tool": "refund", "arguments": {"who": "Ann", "amount": 9}, "hash": one.hash}).encode()
    store.wait(store.submit(lambda db: db.execute("update approval set question = ?", (altered,))))
    with browsing(shop) as (tab, _):
        page = tab.get("/").text
        assert "altered in the store" in page
        assert 'value="approve"' not in page
        form = {"sign": tab.sign(f"/runs/{one.run}"), "hash": one.hash, "choice": "approve"}
        assert tab.client.post(f"/approvals/{one.name}", data=form).status_code == 409
    store.close()


def test_an_expired_question_is_decided_as_its_author_said(shop: Shop) -> None:
    """The server looks for what has expired, and goes on with its run."""
    run = shop.waits(more=", timeout: 1s, on_timeout: approve")
    store = Store(shop.home)
    store.wait(store.submit(lambda db: db.execute("update approval set expires = '2026-01-01T00:00:00.000+00:00'")))
    store.close()
    with browsing(shop) as (tab, activations):
        activations.sweep()
        settled(activations)
        assert "by <bdi>timeout</bdi>" in tab.get(f"/approvals/{run}.1").text
    assert shop.paid == ["Ann 250"]


def test_a_question_in_words_is_answered_in_words(shop: Shop) -> None:
    """`ask_human` has an answer, no approval."""
    text = """\
workflow: asks
shape: pipeline
input: {case: str}
tools: {ask_human: {builtin: ask_human, effect: read}}
steps: [{id: told, call: ask_human, with: {question: "{{ case }}"}}]
answer: "{{ told }}"
"""
    run = shop.waits("Which colour?", text=text)
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        page = tab.get("/").text
        assert "Which colour?" in page
        assert 'value="approve"' not in page
        assert tab.decide(one, "answer", note="").status_code == 422
        assert tab.decide(one, "answer", note="blue\r\nish").status_code == 303
        settled(activations)
    outcome = shop.shelf().outcome(run)
    assert outcome is not None
    assert outcome.answer == "blue\nish"


def test_long_arguments_are_shown_whole_and_can_be_approved(shop: Shop) -> None:
    """What is decided is seen to its end, and comes back with the form."""
    long = "x" * 400_000 + "END"
    [one] = shop.questions(shop.waits(calls=f"[{{tool: refund, arguments: {{who: {long}, amount: 1}}}}]", text=ANYBODY))
    with browsing(shop) as (tab, activations):
        assert tab.get("/").text.partition("</pre>")[0].endswith("END&#34;,\n  &#34;amount&#34;: 1\n}")
        padded = json.dumps({"who": "é" * 400_000, "amount": 1})
        assert tab.decide(one, "approve", arguments=padded).status_code == 303
        settled(activations)
    assert shop.paid == [f"{long} 1"]


def test_looking_decides_nothing(shop: Shop) -> None:
    """No link does, whatever it carries: a browser may follow one by itself."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, activations):
        sign = tab.sign("/")
        for path in (f"/approvals/{one.name}", f"/runs/{one.run}/resume", f"/runs/{one.run}/cancel"):
            tab.get(path, params={"choice": "approve", "hash": one.hash, "sign": sign, "by": "eve"})
        settled(activations)
    assert shop.questions(one.run)[0].state == "waiting"
    assert shop.run(one.run).exit == "waiting"


def test_many_questions_come_in_pages(shop: Shop) -> None:
    """The oldest first; the count is of all."""
    run = shop.waits(calls=several(25), text=LOOKS)
    with browsing(shop) as (tab, _):
        first, second = tab.get("/").text, tab.get("/?start=20").text
        assert "(25) Waiting" in first
        assert 'href="/?start=20"' in first
        assert f"/approvals/{run}.20" in first
        assert f"/approvals/{run}.21" not in first
        assert f"/approvals/{run}.25" in second
        assert "?start=40" not in second


def test_a_choice_that_is_not_offered_is_refused(shop: Shop) -> None:
    """Also where a form claims it."""
    [one] = shop.questions(shop.waits())
    with browsing(shop) as (tab, _):
        assert tab.decide(one, "answer", note="x").status_code == 409
        assert tab.decide(one, "explode").status_code == 422
    assert shop.questions(one.run)[0].state == "waiting"


def test_hostile_text_is_shown_as_text_everywhere(shop: Shop) -> None:
    """Markup is escaped; control and direction characters are spelled out, in every field of another's."""
    hostile = json.dumps(HOSTILE)
    calls = f"[{{tool: refund, arguments: {{who: Ann, amount: 1}}}}, {{tool: {hostile}, arguments: {{}}}}]"
    text = f"description: {hostile}\n"
    run = shop.waits(HOSTILE, calls=calls, more=f", ask: {hostile}", text=ANYBODY + text)
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        pages = [tab.get(path).text for path in ("/", "/runs", f"/runs/{run}", f"/approvals/{run}.1")]
        pages.append(tab.get("/runs", params={"workflow": HOSTILE}).text)
        pages.append(tab.get(f"/runs/{quote(HOSTILE, safe='')}").text)
        pages.append(tab.decide(one, "edit", by=HOSTILE, note=HOSTILE, arguments=HOSTILE).text)
        tab.decide(one, "reject", by=HOSTILE, note=HOSTILE)
        settled(activations)
        pages.append(tab.get(f"/approvals/{run}.1").text)
    assert any(SPELLED in page for page in pages)
    for page in pages:
        assert "<script>alert" not in page
        assert not set(page) & set("\x1b\u202e\u2066\x85\x00")


def test_arguments_on_a_page_read_back_as_they_are(shop: Shop) -> None:
    """What would hide is spelled as JSON spells it, so that an edit that changes nothing changes nothing."""
    calls = json.dumps([{"tool": "refund", "arguments": {"who": "a\u202eb\x85c\U000e0001\u2028\n", "amount": 1}}])
    run = shop.waits(calls=calls, text=ANYBODY)
    [one] = shop.questions(run)
    with browsing(shop) as (tab, activations):
        page = tab.get("/").text
        shown = page.partition('class="exact arguments">')[2].partition("</pre>")[0].replace("&#34;", '"')
        assert json.loads(shown) == one.question.arguments
        assert tab.decide(one, "edit", arguments=shown).status_code == 303
        settled(activations)
    [one] = shop.questions(run)
    assert one.decision is not None
    assert one.decision.arguments == one.question.arguments
