"""The reference vectors: each holds within its tolerance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.comparisons import reference

VECTORS = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))["cases"]


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Numbers within the tolerance, all else exactly; of an object only the named parts."""
    if isinstance(expected, dict):
        return all(close(found[key], value, tolerance) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected, [tolerance] * len(expected)))
    if isinstance(expected, bool | str) or expected is None:
        return bool(found == expected)
    return found is not None and abs(found - expected) <= tolerance


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_vector_holds_within_its_tolerance(vector: dict[str, Any]) -> None:
    """Positional and keyword arguments give the expected value."""
    function = getattr(reference, vector["function"])
    assert close(function(*vector["input"].values()), vector["expected"], vector["tol"])
    assert close(function(**vector["input"]), vector["expected"], vector["tol"])
