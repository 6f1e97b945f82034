"""How deeply a value may be nested."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopworth.runs.message import json_of
from loopworth.runs.nesting import DEEPEST, nested


def deep(levels: int, leaf: Any = 1) -> Any:
    """A leaf in lists and mappings by turns, so many in all."""
    for level in range(levels):
        leaf = [leaf] if level % 2 else {"a": leaf}
    return leaf


@pytest.mark.parametrize("leaf", [1, "x", None])
def test_levels_are_lists_and_mappings(leaf: Any) -> None:
    """A leaf is none; an empty list is one."""
    assert not nested(deep(DEEPEST, leaf))
    assert nested(deep(DEEPEST + 1, leaf))
    assert nested(deep(DEEPEST, []))
    assert nested(deep(100_000))
    assert not nested([[1, [2]], {"a": [[]]}], 4)
    assert not nested(leaf, 0)


def test_what_holds_itself_has_no_end() -> None:
    """However often it does: each level is looked at once."""
    ring: list[Any] = []
    ring += [ring, ring, {"a": ring}]
    assert nested(ring)
    shared: Any = [1]
    for _ in range(DEEPEST - 1):
        shared = [shared, shared]
    assert not nested(shared)


def test_json_that_is_read_can_be_written() -> None:
    """However deep it is, it is a value that all else can take, or a ValueError; brackets in texts are no levels."""
    assert json_of(json.dumps(deep(DEEPEST))) == deep(DEEPEST)
    assert json_of(json.dumps(["[" * 500, "{" * 500])) == ["[" * 500, "{" * 500]
    for levels in (DEEPEST + 1, 500, 2_000, 100_000):
        with pytest.raises(ValueError, match="is nested too deeply: at most 100 levels"):
            json_of("[" * levels + "]" * levels)
