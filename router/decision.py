"""One bounded decision of a model: one label out of a closed set, or none.

How a reply is read, and nothing else counts: a JSON object `{"label": …}`, fenced or not, stands for its label; a
list's bullet, whitespace, quotes and punctuation around the text are dropped; what is left must be a label, whatever
its case. A sentence that merely holds a label is not that label. The word `none` abstains. An unreadable reply is asked
again, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from loopworth.runs.effects import Effects
from loopworth.runs.message import Message, Request, assistant, json_of, unfenced, user
from loopworth.runs.transcript import Transcript
from loopworth.runs.usage import Value

ABSTAIN = "none"
AROUND = " \t\r\n\f\v\u00a0\"'`\u00b4\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb*.,:;!?()[]"
"""What may stand around a label: whitespace, quotes, markup and punctuation."""


class Decision(Value, frozen=True):
    """What was decided. `said` is the model's last reply, raw, or the most similar label and its score; `rule` is how
    that was read."""

    label: str | None
    said: str
    rule: Literal["label", "abstained", "no label", "similar", "not similar"]


async def decide(
    fx: Effects,
    messages: Iterable[Message],
    labels: Mapping[str, str | None],
    *,
    model: str,
    constrained: bool = False,
    max_tokens: int | None = None,
    seed: int | None = None,
) -> Decision:
    """Ask for one of `labels` (label → description), with at most one re-ask; the effects are `choose` and `choose~2`.

    `constrained` also sends a JSON schema whose enum are the labels, for endpoints that decode under one.
    """
    log = Transcript(fx)
    log.add(*offered(list(messages), labels))
    schema = enum(labels) if constrained else None
    first = await fx.model("choose", Request(list(log.seen), model, schema=schema, max_tokens=max_tokens, seed=seed))
    decision = read(first.text, labels)
    if decision.rule != "no label":
        return decision
    log.turn(assistant(first.text), user(f"That is not a label. Answer with exactly one of: {listed(labels)}."))
    again = await fx.model("choose~2", Request(list(log.seen), model, schema=schema, max_tokens=max_tokens, seed=seed))
    return read(again.text, labels)


def read(said: str, labels: Iterable[str]) -> Decision:
    """The decision that a reply stands for, by the rule above."""
    known = {label.casefold().strip(AROUND): label for label in labels}
    word = bare(labelled(said))
    if word in known:
        return Decision(known[word], said, "label")
    return Decision(None, said, "abstained" if word == ABSTAIN else "no label")


def bare(text: str) -> str:
    return text.strip(AROUND).removeprefix("- ").strip(AROUND).casefold()


def labelled(text: str) -> str:
    """The label inside a JSON object, fenced or not, else the text itself."""
    held = unfenced(text)
    if not held.startswith("{"):
        return text
    try:
        label = json_of(held).get("label")
    except ValueError:
        return text
    return label if isinstance(label, str) else text


def offered(messages: list[Message], labels: Mapping[str, str | None]) -> list[Message]:
    """The prompt with the labels under its last message; a message of their own where that holds more than text."""
    lines = [f"- {label}: {description}" if description else f"- {label}" for label, description in labels.items()]
    if ABSTAIN not in labels:
        lines.append(f"- {ABSTAIN}: nothing above fits")
    text = "\n".join(["Answer with exactly one of these labels and nothing else:", *lines])
    last = messages[-1] if messages else user("")
    if last["role"] != "user" or not isinstance(last["content"], str):
        return [*messages, user(text)]
    return [*messages[:-1], user(f"{last['content']}\n\n{text}".strip())]


def listed(labels: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys([*labels, ABSTAIN]))


def enum(labels: Iterable[str]) -> dict[str, Any]:
    """The schema of `{"label": …}`."""
    words = list(dict.fromkeys([*labels, ABSTAIN]))
    label = {"type": "string", "enum": words}
    return {"type": "object", "properties": {"label": label}, "required": ["label"], "additionalProperties": False}
