"""The built-in `ask_human`: a question to a person, whose own words are the result."""

from __future__ import annotations

from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.made import Made


def ask_human() -> Made:
    return Made(put, inline=True, asks=True)


def put(question: str) -> str:
    """Ask a person what no other tool can tell, and wait for the answer.

    Args:
        question: one question, with all that the person needs to answer it
    """
    if not question.strip():
        raise ArgumentFault("the question is empty")
    return question.strip()
