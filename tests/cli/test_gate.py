"""A gate on the terminal: what is asked is exact, and only a plain yes approves."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import re
import signal
from functools import partial

import pytest
from msgspec import structs

import loopworth
from loopworth.cli.gate import NOBODY, TerminalGate, drawn, read
from loopworth.runs.approvals import Refused
from loopworth.runs.decision import Question
from loopworth.runs.outcome import Waiting
from loopworth.workflows.edited_call import accepted
from tests.cli.kit import Terminal

ASKED = """
import asyncio
from loopworth.cli.gate import TerminalGate
from loopworth.runs.world import Question

questions = [Question("refund", {arguments!r}, "h", "Refund [bold]Ann[/]?\\x1b[2J") for _ in range({times})]

async def main():
    gate = TerminalGate(accept=None)
    return await asyncio.gather(*(gate(question, f"{{n}}/gate") for n, question in enumerate(questions)))

for decision in asyncio.run(main()):
    print("DECIDED", decision.choice, repr(decision.note), decision.by)
"""


ASKS = Question("refund", {}, "h", choices=("approve", "reject"))
EDITS = Question("refund", {}, "h", choices=("approve", "edit", "reject"))


def anything(tool: str, typed: str) -> dict[str, object]:
    """A tool that takes whatever JSON is typed."""
    assert tool == "refund"
    return dict(json.loads(typed))


@pytest.mark.parametrize(
    ("line", "decided"),
    [
        ("approve\n", ("approve", "")),
        (" Approve. \n", ("approve", "")),
        ("reject\n", ("reject", "")),
        ("r too much\n", ("reject", "too much")),
        ("no, ask Ann first\n", ("reject", "ask Ann first")),
        ("\n", ("reject", "")),
        ("", ("reject", "")),
        ("a\n", None),
        ("y\n", None),
        ("yes\n", None),
        ("approved\n", None),
        ("approve but only 50\n", None),
        ("approve the smaller one\n", None),
    ],
)
def test_only_a_plain_word_decides(line: str, decided: tuple[str, str] | None) -> None:
    """Approval is the one word that is offered; nothing and the end of input reject; anything else is asked again."""
    decision = read(line, ASKS, anything)
    assert (decision and (decision.choice, decision.note)) == decided


@pytest.mark.parametrize(
    ("line", "decided"),
    [
        ('edit {"amount": 5}\n', {"amount": 5}),
        ('Edit: {"amount": 5, "why": "too much"}\n', {"amount": 5, "why": "too much"}),
        ("edit\n", None),
        ('e {"amount": 5}\n', None),
    ],
)
def test_an_edit_is_taken_where_it_is_offered(line: str, decided: dict[str, object] | None) -> None:
    """With all arguments after the whole word; an edit that nobody offered is asked again."""
    decision = read(line, EDITS, anything)
    assert (decision and (decision.choice, decision.arguments)) == (decided and ("edit", decided))
    assert read(line, ASKS, anything) is None


def test_what_is_not_offered_is_not_taken() -> None:
    """A gate that only edits or rejects approves nothing."""
    question = structs.replace(EDITS, choices=("edit", "reject"))
    assert read("approve", question, anything) is None
    assert (found := read("no", question, anything)) is not None
    assert found.choice == "reject"


REFUND = """
workflow: refund
shape: pipeline
tools:
  refund: {python: "shop:refund", effect: write, allow: {amount: [50, 120]}}
gate: {refund: {choices: [approve, edit, reject]}}
steps: [{id: paid, call: refund, with: {code: R-1, amount: 120}}]
answer: "{{ paid }}"
"""


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ('{"amount": 50}', "code"),
        ('{"code": "R-1", "amount": "much"}', "amount"),
        ('{"code": "R-1", "amount": 999}', "amount"),
        ('{"code": "R-1", "amount": 50, "to": "Eve"}', "to"),
        ("amount 50", "one JSON object"),
        ("{'amount': 50}", "not JSON"),
        ("[5]", "one JSON object"),
    ],
)
def test_an_edit_is_held_to_its_tool_as_any_call_is(tmp_path: pathlib.Path, typed: str, says: str) -> None:
    """Schema and allow-list, where it is typed: what is wrong is said, and it is asked again. So does the inbox."""
    (tmp_path / "shop.py").write_text('def refund(code: str, amount: int) -> str:\n    """Pay."""\n    return "paid"\n')
    (tmp_path / "refund.yaml").write_text(REFUND)
    accept = partial(accepted, loopworth.compile(tmp_path / "refund.yaml"))
    with pytest.raises(Refused, match=f"refund does not take these arguments: .*{says}"):
        read(f"edit {typed}", EDITS, accept)
    assert (found := read('edit {"code": "R-1", "amount": 50}', EDITS, accept)) is not None
    assert found.arguments == {"code": "R-1", "amount": 50}


def test_without_a_terminal_a_gate_rejects(capsys: pytest.CaptureFixture[str]) -> None:
    """A run in a pipe or a cron job never approves by accident."""
    decision = asyncio.run(TerminalGate(lambda tool, typed: {})(Question("refund", {"amount": 5}, "h"), "1/gate"))
    assert (decision.choice, decision.note) == ("reject", NOBODY)
    assert '"amount": 5' in capsys.readouterr().err


def asked(arguments: dict[str, object], times: int = 1) -> Terminal:
    return Terminal("-c", ASKED.format(arguments=arguments, times=times))


def test_a_gate_shows_the_exact_arguments_and_takes_a_word() -> None:
    """The tool, its canonical arguments as JSON, and the author's question: markup and escapes are inert."""
    terminal = asked({"who": "Ann\x1b[1A", "amount": 250})
    shown = terminal.until("[reject]")
    assert '"amount": 250' in shown
    assert '"who": "Ann\\u001b[1A"' in shown
    assert "Refund [bold]Ann[/]?\\x1b[2J" in shown
    assert shown.index("amount") < shown.index("who")
    terminal.type("approve\n")
    assert "DECIDED approve '' terminal" in terminal.until("terminal\r\n")
    assert terminal.close() == 0


def test_who_decides_is_told_what_else_it_is_about() -> None:
    """A decision that is remembered is one on calls that nobody is asked about again."""
    question = Question("refund", {"amount": 2}, "h", "Refund?")
    for remembered in (question, structs.replace(question, remember=True)):
        text = str(drawn(remembered, "1/call").renderable)
        assert ("the decision stands for equal calls of this run" in text) == remembered.remember


def test_an_unclear_word_is_asked_again_and_enter_rejects() -> None:
    """A typing slip decides nothing; an empty line rejects."""
    terminal = asked({})
    terminal.until("[reject]")
    terminal.type("aprove\n")
    terminal.until("please type")
    terminal.type("\n")
    assert "DECIDED reject" in terminal.until("terminal\r\n")
    assert terminal.close() == 0


def test_two_gates_are_asked_one_after_another() -> None:
    """Concurrent calls that both need a person do not mix on the terminal."""
    terminal = asked({"n": 1}, times=2)
    assert terminal.until("[reject]").count("may this run?") == 1
    terminal.type("approve\n")
    terminal.until("1/gate")
    terminal.type("reject not this one\n")
    decided = re.findall(r"DECIDED (\w+) '(.*)' terminal", terminal.until("'not this one' terminal"))
    assert decided == [("approve", ""), ("reject", "not this one")]
    assert terminal.close() == 0


WORDS = """
import asyncio
from loopworth.cli.gate import TerminalGate
from loopworth.runs.world import Question

question = Question("ask", {"question": "Which colour?"}, "h", "Which [bold]colour[/]?", ("answer", "reject"))
decision = asyncio.run(TerminalGate(lambda tool, typed: {})(question, "1/call[0]/answer"))
print("DECIDED", decision.choice, repr(decision.note), decision.by)
"""


@pytest.mark.parametrize(
    ("line", "decided"),
    [("approve of blue \n", "answer 'approve of blue' terminal"), ("\n", "reject '' terminal"), ("\x04", "reject ''")],
)
def test_a_question_takes_a_persons_words(line: str, decided: str) -> None:
    """One line as it is, whatever words are in it; nothing is no answer."""
    terminal = Terminal("-c", WORDS)
    shown = terminal.until("[none]")
    assert "a question 1/call[0]/answer" in shown
    assert "Which [bold]colour[/]?" in shown
    terminal.type(line)
    assert f"DECIDED {decided}" in terminal.until("terminal\r\n")
    assert terminal.close() == 0


def test_without_a_terminal_a_question_waits() -> None:
    """No words are made up for a person who is not there."""
    question = Question("ask", {"question": "Which?"}, "h", "Which?", ("answer", "reject"))
    with pytest.raises(Waiting) as caught:
        asyncio.run(TerminalGate(lambda tool, typed: {})(question, "1/call[0]/answer"))
    assert caught.value.gates == ("1/call[0]/answer",)


def test_the_end_of_input_rejects() -> None:
    """Ctrl-D at the question is no approval."""
    terminal = asked({})
    terminal.until("[reject]")
    terminal.type("\x04")
    assert "DECIDED reject" in terminal.until("terminal\r\n")
    assert terminal.close() == 0


def test_ctrl_c_at_the_question_ends_the_process() -> None:
    """The wait for a person can be interrupted: no thread holds the process."""
    terminal = asked({})
    terminal.until("[reject]")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() != 0
