"""Parts of JSON: paths lead where they say, and order and extra parts count as they are told to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.json_paths import NoPath, Within, frozen, part, steps

ORDER = {"total": 5, "items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], "a.b": {"c d": [True]}}
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("total", 5),
        ("items[1].sku", "b"),
        ("items[*].n", [1, 2]),
        ("items[*]", ORDER["items"]),
        ('["a.b"].c d[0]', True),
    ],
)
def test_a_path_leads_to_its_part(path: str, value: Any) -> None:
    """By name, by place, into every item, and by a name that has a dot."""
    assert part(ORDER, steps(path)) == value


@pytest.mark.parametrize("path", ["totl", "items[2]", "items.sku", "total.x", "total[0]", "items[*].no", "total[*]"])
def test_a_path_that_leads_nowhere_says_so(path: str) -> None:
    """Whatever stands in its way."""
    with pytest.raises(LookupError):
        part(ORDER, steps(path))


@pytest.mark.parametrize("path", ["", ".", "a.", "a..b", "[", "a[x]", "a[-1]", "[*", "a b]"])
def test_what_is_no_path_is_told(path: str) -> None:
    """With one that is."""
    with pytest.raises(NoPath, match="is not a path; write one such as"):
        steps(path)


def test_a_truth_value_and_a_number_are_two() -> None:
    """At every depth; 1 and 1.0 are one."""
    assert frozen({"a": [1, 0]}) == frozen({"a": [1.0, 0.0]})
    assert frozen([True]) != frozen([1])
    assert not Within(unordered=True).holds({"a": [1]}, {"a": [True]})


@given(JSON, st.randoms())
def test_order_is_free_where_it_is_said(value: Any, random: Any) -> None:
    """A value with all its lists shuffled is the same then, and within itself."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in random.sample(sorted(value), len(value))}
        return [shuffled(item) for item in random.sample(value, len(value))] if isinstance(value, list) else value

    other = shuffled(value)
    assert frozen(value, unordered=True) == frozen(other, unordered=True)
    assert Within(unordered=True).holds(value, other)


def test_each_wanted_item_has_one_of_its_own() -> None:
    """Two wanted items do not share one, and a first fit does not take away what a later one needs."""
    within = Within(unordered=True)
    assert within.holds([{"a": 1, "b": 2}, {"a": 1}], [{"a": 1}, {"a": 1, "b": 2}])
    assert not within.holds([{"a": 1}, {"b": 2}], [{"a": 1}, {"a": 1}])
    assert not Within(unordered=False).holds([{"a": 1}, {"b": 2}], [{"a": 1}])


def test_matching_without_end_is_refused() -> None:
    """Every item of a thousand against every other."""
    with pytest.raises(ValueError, match="too many"):
        Within(unordered=True).holds([[n] for n in range(1000)], [[-1 - n] for n in range(1000)])
