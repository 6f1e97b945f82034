"""One decision without generation: the label whose texts are the most similar, if they are similar enough."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from loopworth.router.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.message import Message, Request, user
from loopworth.runs.transcript import Transcript

scores_of = msgspec.json.Decoder(dict[str, float]).decode


@dataclass(frozen=True, slots=True)
class Similarity:
    """`model` is the key of a model that answers a text with a score for each label, from -1 to 1.

    A label is chosen where its score is `at_least` that; without it the nearest is, however far. Of equals the first.
    """

    model: str
    at_least: float | None = None

    async def decide(self, fx: Effects, messages: list[Message]) -> Decision:
        """Compare the last of the messages; the effect is `choose`. Its record has the scores, and the decision is made
        of them alone."""
        log = Transcript(fx)
        log.add(user(text_of(messages)))
        reply = await fx.model("choose", Request(list(log.seen), self.model, max_tokens=1))
        scores = scores_of(reply.text)
        label = max(scores, key=lambda one: scores[one])
        said = f"{label} {scores[label]:.4f}"
        if self.at_least is not None and scores[label] < self.at_least:
            return Decision(None, f"{said}, under {self.at_least:g}", "not similar")
        return Decision(label, said, "similar")


def text_of(messages: list[Message]) -> str:
    """The text of the last message; of one with other parts, its texts."""
    content = messages[-1]["content"] if messages else ""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    return str(content)
