"""A server that reads less than it was sent is found out by its own count."""

from __future__ import annotations

import pytest

from loopworth.models.truncation import dropped_part
from loopworth.runs.usage import Usage


@pytest.mark.parametrize(
    ("text", "counted", "warned"),
    [
        ("word " * 6000, 2100, True),
        ("word " * 6000, 6100, False),
        ("word " * 6000, 3800, False),
        ("word " * 100, 1, False),
        ("я" * 12000, 1600, False),
        ("字" * 12000, 900, True),
        ("word " * 6000, None, False),
    ],
)
def test_only_a_count_far_below_the_estimate_is_told(text: str, counted: int | None, warned: bool) -> None:
    """Signs count, not bytes, and short prompts say nothing."""
    found = dropped_part(text.encode(), Usage(counted, 1))
    assert bool(found) == warned
    if warned:
        assert f"{counted:,} input tokens" in found[0]


def test_an_estimate_of_ours_is_no_count_of_the_servers() -> None:
    """A call that was cut counted nothing."""
    assert dropped_part(b"word " * 6000, Usage(0, 64, estimated=True)) == ()


def test_an_image_is_no_prompt_that_was_dropped() -> None:
    """Its data has many more signs than it has tokens."""
    assert dropped_part(b'"data:image/png;base64,' + b"A" * 90_000, Usage(1200, 1)) == ()
