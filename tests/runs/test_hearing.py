"""Text told while it comes: whole words, nothing lost, no key in pieces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.hearing import Delta, Hearing
from loopworth.runs.secrets import KNOWN, learn


@pytest.fixture(autouse=True)
def _made_up() -> Iterator[None]:
    yield
    KNOWN.forget()


def told(*pieces: str) -> list[str]:
    heard: list[Delta] = []
    hearing = Hearing(heard.append, "1/ask")
    for piece in pieces:
        hearing(piece, 1)
    hearing.end()
    return [delta.text for delta in heard]


@given(st.lists(st.text(max_size=5), max_size=9))
def test_all_that_was_said_is_told(pieces: list[str]) -> None:
    """However it comes."""
    assert "".join(told(*pieces)) == "".join(pieces)


def test_words_are_told_whole() -> None:
    """As soon as they end, and the last at the end."""
    assert told("He", "llo ", "wor", "ld") == ["Hello ", "world"]


@pytest.mark.parametrize("key", ["sk-very-secret-key", "a pass phrase"])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_no_key_is_told_in_pieces(key: str, size: int) -> None:
    """The mask stands for it, wherever the pieces were cut, and where it holds spaces itself."""
    learn(key)
    text = f"The key is {key}, do not tell."
    heard = "".join(told(*(text[k : k + size] for k in range(0, len(text), size))))
    assert heard == "The key is ***, do not tell."


def test_another_attempt_begins_anew() -> None:
    """What the first one left half said is not glued to the second."""
    heard: list[Delta] = []
    hearing = Hearing(heard.append, "1/ask")
    for text, attempt in (("Hello wo", 1), ("Hi ", 2), ("you", 2)):
        hearing(text, attempt)
    hearing.end()
    assert heard == [Delta("1/ask", "Hello "), Delta("1/ask", "Hi ", 2), Delta("1/ask", "you", 2)]
