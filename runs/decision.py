"""What a person is asked, and what they decide: the one rule on what decides a question."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from loopworth.runs.journal import Record, body, reader
from loopworth.runs.outcome import Diverged
from loopworth.runs.usage import Value

Choice: TypeAlias = Literal["approve", "edit", "reject", "answer"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
"""What a person may say, in the order in which it is told."""
OF_A_CALL = tuple(choice for choice in CHOICES if choice != "answer")
"""What a gate can offer."""
MOST_SAID = 120
"""Characters shown of what is said in the place of a decision."""


class Question(Value, frozen=True):
    """What a person is asked. `hash` binds the decision to the exact canonical arguments.

    A gate asks whether a call may be made; with the choice `answer` it is the call itself that asks, for their words.
    `remember`: the decision stands for equal calls of the same run. After `timeout` seconds `on_timeout` is decided.
    """

    tool: str
    arguments: dict[str, Any]
    hash: str
    text: str = ""
    choices: tuple[str, ...] = ("approve", "reject")
    remember: bool = False
    timeout: float | None = None
    on_timeout: Literal["approve", "reject"] = "reject"

    @property
    def also(self) -> str:
        """What a decision is about beside this call, for whoever makes it; "" where it is about this call alone."""
        return "the decision stands for equal calls of this run" if self.remember else ""


class Decision(Value, frozen=True):
    """A person's answer to a `Question`, and who gave it; `arguments` replace the call's where the choice is `edit`,
    and `note` holds the words where it is `answer`."""

    choice: Choice
    by: str = ""
    arguments: dict[str, Any] | None = None
    note: str = ""


decision_of = reader(Decision)


def lapsed(question: Question) -> Decision:
    """What a question comes to that nobody decided in its time: what its author said."""
    return Decision(question.on_timeout, "timeout", note=f"nobody decided within {question.timeout:g} s")


def no_decision(question: Question, said: Any) -> str:
    """Why this decides nothing of the question; "" for a `Decision` for one of the choices that are offered.

    It is the one rule for whoever says it: a program's `ask`, the inbox, a journal, what is remembered.
    """
    offered = " or ".join(question.choices)
    if not isinstance(said, Decision):
        return f"offers {offered}, not {short(said)}: give a Decision, as {example(question.choices[0])}"
    if said.choice not in question.choices:
        return f"offers {offered}, not {short(said.choice)}{to_offer(question, said.choice)}"
    try:
        decision_of(body(said))
    except (TypeError, ValueError) as why:
        return f"takes no {short(said.choice)} like this: {why}"
    bare = said.choice == "edit" and said.arguments is None
    return f"takes no edit without arguments: write {example('edit')}" if bare else ""


def to_offer(question: Question, choice: Any) -> str:
    """How the author of a gate offers a choice that it does not, for runs that are begun from then on."""
    ways = [way for way in OF_A_CALL if way in (*question.choices, choice)]
    known = choice in OF_A_CALL and question.choices[0] in OF_A_CALL
    return f" (a gate offers {choice} by `choices: [{', '.join(ways)}]`)" if known else ""


def example(choice: str) -> str:
    """How a program writes a decision."""
    more = {"edit": ", arguments={…}", "answer": ', note="…"', "reject": ', note="why"'}
    return f'Decision("{choice}"{more.get(choice, "")})'


def short(said: Any) -> str:
    return said if isinstance(said, str) and said.isidentifier() else repr(said)[:MOST_SAID]


def decision_in(record: Record, id: str, question: Question) -> Decision:
    """A decision of the journal. Raises `Diverged` for what the question does not offer: nothing is called on it."""
    try:
        decision = decision_of(record.body)
        why = no_decision(question, decision)
    except ValueError as unreadable:
        why = f"cannot be decided by this: {unreadable}"
    if why:
        text = record.body.decode("utf-8", "replace")
        raise Diverged(f"{id}: the gate of {question.tool} {why}\n    recorded: {text}")
    return decision
