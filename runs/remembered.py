"""Decisions that stand for a whole run."""

from __future__ import annotations

import asyncio

import msgspec

from loopworth.runs.decision import Decision

SUFFIX = " (remembered)"


def remembered(decision: Decision) -> Decision:
    """The decision, as it stands for an equal call."""
    return msgspec.structs.replace(decision, by=f"{decision.by.removesuffix(SUFFIX)}{SUFFIX}".strip())


class Remembered:
    """One run's decisions by what they were bound to (the hash of tool and canonical arguments).

    Of two equal questions at once the second waits for what the first comes to.
    """

    __slots__ = ("decisions", "turns")

    def __init__(self) -> None:
        self.decisions: dict[str, Decision] = {}
        self.turns: dict[str, asyncio.Lock] = {}

    def turn(self, hash: str) -> asyncio.Lock:
        return self.turns.setdefault(hash, asyncio.Lock())
