"""A run shown while it goes on: each message as it is said, and the text of a reply as it comes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from loopworth.cli.terminal import shown
from loopworth.models.reading import thoughts
from loopworth.runs.characters import safe
from loopworth.runs.hearing import Delta
from loopworth.runs.message import Message
from loopworth.runs.outcome import Said
from loopworth.runs.steps import content

LONGEST = 200
"""Characters shown of what a model thought before it spoke."""


class Following:
    """Shows every message (`transcript`), the text of every reply as it comes (`stream`), or both."""

    def __init__(self, console: Console, transcript: bool, stream: bool) -> None:
        self.console, self.transcript, self.stream = console, transcript, stream
        self.at, self.attempt, self.open = "", 0, False
        self.heard: set[str] = set()

    def hear(self, delta: Delta) -> None:
        """Go on with a reply; that of another effect, or of another attempt, begins a line of its own."""
        if (delta.at, delta.attempt) != (self.at, self.attempt) or not self.open:
            self.end()
            again = "asked again: " if delta.at in self.heard and delta.attempt > 1 else ""
            self.console.print(headed(delta.at, "assistant", Text(again, "dim")), soft_wrap=True, end="")
        self.at, self.attempt, self.open = delta.at, delta.attempt, True
        self.heard.add(delta.at)
        self.console.out(safe(delta.text), end="", highlight=False)

    def say(self, said: Said) -> None:
        """Show what is new in a message."""
        left = self.left(said)
        if left is not None or said.at == self.at:
            self.end()
        if left is not None:
            self.console.print(line(Said(said.at, left)), soft_wrap=True)

    def left(self, said: Said) -> Message | None:
        """What of a message is still to be shown: of a reply that was heard, its calls; without a transcript only what
        is said in replies."""
        reply = said.message.get("role") == "assistant"
        heard = reply and said.at in self.heard
        if not self.transcript and not reply:
            return None
        wanted = {"content": not heard, "tool_calls": self.transcript}
        left = {key: value for key, value in said.message.items() if wanted.get(key, True)}
        return left if content(left) or (self.transcript and not heard) else None

    def end(self) -> None:
        """End the line that a reply left open."""
        if self.open:
            self.console.print()
        self.open = False


def line(said: Said) -> Text:
    """One message of a transcript: where, who, what, and the start of what was thought before it."""
    thought = " ".join(thoughts(said.message).split())
    aside = f"({thought[:LONGEST]}{'…' * (len(thought) > LONGEST)})" if thought else ""
    text = "\n".join(filter(None, (aside, content(said.message))))
    return headed(said.at, str(said.message.get("role", "?")), shown(text))


def headed(at: str, role: str, text: Text) -> Text:
    start = Text().append_text(shown(at or "-", "dim", lines=False)).append("  ")
    return start.append_text(shown(role, "bold", lines=False)).append("  ").append_text(text)
