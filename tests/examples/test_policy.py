"""A policy in the model's place: what it is given, and what is said of it."""

from __future__ import annotations

import subprocess
import sys

from tests.examples.kit import EXAMPLES, POLICY, scripted


def told(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def test_what_it_prints_is_labelled() -> None:
    """The first line and the last one say that no model answered, and the report does not name one."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "policy.py", "chain"], capture_output=True, text=True, check=True, timeout=120
    )
    lines = done.stdout.strip().splitlines()
    assert lines[0] == lines[-1] == "scripted: shows the mechanism, says nothing about models"
    assert "answered by scripted;" in lines[1]
    assert "smollm2" not in done.stdout


def test_it_is_given_the_last_question_and_what_was_seen_since() -> None:
    """The examples in a prompt are neither question nor observation."""
    call = '{"tool": "look", "arguments": {"at": 1}}'
    example = [
        told("user", "one?"),
        told("assistant", call),
        told("user", "look: 5"),
        told("assistant", '{"answer": 5}'),
    ]
    asked = [told("system", "…"), *example, told("user", "two?")]
    assert POLICY.read(asked) == ("two?", [])
    seen = [*asked, told("assistant", call), told("user", 'look: {"is": 7}'), told("assistant", call)]
    assert POLICY.read([*seen, told("user", "look: nothing there")]) == (
        "two?",
        [("look", {"at": 1}, {"is": 7}), ("look", {"at": 1}, "nothing there")],
    )


def test_no_other_arm_is_touched() -> None:
    """Only a model is replaced: arms without one are what they were."""
    arms = {arm.name: arm for arm in scripted("orders").comparison.arms}
    assert arms["agent"].models == ("scripted",)
    assert arms["router"].models == arms["pipeline"].models == ()
