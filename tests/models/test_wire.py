"""JSON on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth.models import wire


def test_a_lone_surrogate_becomes_the_replacement_sign() -> None:
    """UN-02: half a pair is no text; the rest of it is unchanged."""
    assert wire.decode(rb'{"text": "answer \ud800 end", "\udcb2": ["\ud83d\ude00"]}') == {
        "text": "answer � end",
        "�": ["\U0001f600"],
    }


def test_invalid_utf8_becomes_the_replacement_sign() -> None:
    """A broken byte does not lose the answer."""
    assert wire.decode(b'{"text": "a\xff"}') == {"text": "a�"}


def test_half_a_pair_is_never_sent() -> None:
    """What a tool returned may hold one; strict servers refuse it."""
    sent = wire.encode({"messages": [{"content": "x\udcb2y"}], "n": 2**70})
    assert json.loads(sent) == {"messages": [{"content": "x�y"}], "n": 2**70}


@pytest.mark.parametrize("content", [b"", b"<html>", b'{"a": '])
def test_what_is_not_json_is_a_value_error(content: bytes) -> None:
    """The caller decides what that means."""
    with pytest.raises(ValueError):  # noqa: PT011  # the decoders word it differently
        wire.decode(content)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=8), PLAIN, max_size=3))
def test_what_is_sent_is_what_was_meant(value: dict[str, Any]) -> None:
    """decode(encode(x)) == x."""
    assert wire.decode(wire.encode(value)) == value


def test_a_byte_order_mark_before_json_is_read_over() -> None:
    """Some servers on Windows write one."""
    assert wire.decode(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_what_is_no_finite_number_is_null() -> None:
    """JSON has no word for it, so it could be neither recorded nor sent back."""
    assert wire.decode(b'{"a": NaN, "b": [1e999], "c": -Infinity}') == {"a": None, "b": [None], "c": None}


@pytest.mark.parametrize("depth", [300, 5_000])
def test_what_is_nested_without_end_is_a_value_error(depth: int) -> None:
    """It could be read and not written again: an answer like that is a broken one."""
    with pytest.raises(ValueError, match="nested more than 200 levels deep"):
        wire.decode(b'{"a": ' + b"[" * depth + b"]" * depth + b"}")
    assert wire.decode(b"[" + b"[]," * 300 + b"1]")[-1] == 1
