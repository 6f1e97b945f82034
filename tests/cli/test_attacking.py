"""`loopworth attack`: what held, what did not, and what to write where there is nothing to attack."""

from __future__ import annotations

import json
import pathlib

import pytest

from loopworth.runs import approvals
from tests.cli.kit import REFUNDS, command, written


def test_the_attacks_are_listed_with_what_was_seen(tmp_path: pathlib.Path) -> None:
    """One line an attack, below the call that was tried; the user's own function is never called."""
    file = written(tmp_path, refunds=REFUNDS) / "refunds.yaml"
    done = command("attack", file, "--only", "reject", "--only", "expiry")
    assert done.exit_code == 0, done.output
    first, held, absent = done.stdout.splitlines()
    assert first == 'refund (refunds), called with {"amount": 1, "who": "a"}'
    assert held == "  held            reject                asked with its exact arguments; rejected, and never made"
    assert absent.startswith("  does not apply  expiry")
    assert "2 attacks on 1 gated tool: none got through, 1 did not apply" in done.stderr
    assert not (tmp_path / "paid.txt").exists()


def test_a_gate_that_does_not_hold_ends_with_1(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--json` has every attack, with what was seen."""
    file = written(tmp_path, refunds=REFUNDS) / "refunds.yaml"
    monkeypatch.setattr(approvals, "DECIDE", approvals.DECIDE.removesuffix(" and state = 'waiting'"))
    done = command("attack", file, "--only", "double decision", "--json")
    assert done.exit_code == 1
    [one] = json.loads(done.stdout)
    assert (one["attack"], one["tool"], one["workflow"], one["held"]) == ("double decision", "refund", "refunds", False)
    assert "1 attack on 1 gated tool: 1 got through" in done.stderr


def test_a_workflow_without_a_gate_is_told_what_to_write(tmp_path: pathlib.Path) -> None:
    text = REFUNDS.replace("gated_loop", "open_loop").replace(
        'gate: {refund: {ask: "Refund {{ args.amount }}?"}}\n', ""
    )
    done = command("attack", written(tmp_path, refunds=text) / "refunds.yaml")
    assert done.exit_code == 2
    assert "no tool of this workflow has a gate" in done.stderr
    assert "write `gate: {TOOL: required}` in the workflow" in done.stderr


def test_a_gate_that_no_made_call_reaches_takes_one_that_is_given(tmp_path: pathlib.Path) -> None:
    """Without, nothing is claimed of it: status 2, with what became of the calls, and one to begin with."""
    text = REFUNDS.replace("{ask:", "{if: args.who == 'Zo' ~ 'e', ask:")
    file = written(tmp_path, refunds=text) / "refunds.yaml"
    done = command("attack", file)
    assert (done.exit_code, done.stdout.count("not attacked")) == (2, 1)
    assert "pass by, as the gate's condition says (with the input {" in done.stdout
    assert """give one that it asks about, as --call 'refund={"amount": 1, "who": "a"}', or --input""" in done.stdout
    assert "; nothing was shown of the gate of refund" in done.stderr
    given = command("attack", file, "--only", "reject", "--call", 'refund={"who": "Zoe", "amount": 1}')
    assert given.exit_code == 0
    assert "  held " in given.stdout


def test_a_gate_that_looks_at_the_input_takes_one_that_is_given(tmp_path: pathlib.Path) -> None:
    """In another process too, which is told of it."""
    text = REFUNDS.replace("{ask:", "{if: case == 'v' ~ 'ip', ask:")
    file = written(tmp_path, refunds=text) / "refunds.yaml"
    words = ["attack", file, "--only", "reject", "--only", "another process"]
    assert command(*words).exit_code == 2
    done = command(*words, "-i", "case=vip")
    assert (done.exit_code, done.stdout.count("  held ")) == (0, 2), done.output
    assert command(*words, "-i", "cse=vip").exit_code == 2


def test_attacks_of_which_none_applies_show_nothing(tmp_path: pathlib.Path) -> None:
    """`--only expiry` on a gate that never expires: that is no success."""
    done = command("attack", written(tmp_path, refunds=REFUNDS) / "refunds.yaml", "--only", "expiry")
    assert (done.exit_code, "does not apply" in done.stdout) == (2, True)
    assert "nothing was shown of the gate of refund" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--call", 'refnd={"amount": 1, "who": "a"}'],
            "no tool of this name has a gate here\n    did you mean 'refund'?",
        ),
        (["--call", 'refund={"amount": "much"}'], "such calls are refused by the tool: "),
        (["--input", "nothing=1"], "the input is {case: str}"),
        (["--only", "rejct"], "there is no such attack\n    did you mean 'reject'?"),
        (["--call", "refund"], 'write TOOL={"argument": value}'),
        (["--call", "refund=[1]"], "the arguments are one JSON object"),
    ],
)
def test_what_was_typed_wrong_is_said(words: list[str], said: str, tmp_path: pathlib.Path) -> None:
    done = command("attack", written(tmp_path, refunds=REFUNDS) / "refunds.yaml", *words)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{ask:", "{if: 'args.amount < 0 and args.amount > 0', ask:"), "pass by, as the gate's condition says"),
        (("{ask:", "{if: args.amount / 0 > 1, ask:"), "end the run: the gate of the tool 'refund' cannot be decided"),
        (("irreversible}", "irreversible, allow: {who: {pattern: '(a)\\1'}}}"), "no value is known for who"),
        (
            ("finish:", "guard: [{on: call, if: args.amount > -99999999999, else: never}]\nfinish:"),
            "stopped by a guard",
        ),
    ],
)
def test_why_no_call_comes_to_a_gate_is_said(tmp_path: pathlib.Path, change: tuple[str, str], said: str) -> None:
    """The condition, an error in it, an allow-list that nobody can guess, a guard before it."""
    file = written(tmp_path, refunds=REFUNDS.replace(*change)) / "refunds.yaml"
    done = command("attack", file, "--only", "reject")
    assert (done.exit_code, said in done.stdout) == (2, True), done.output
