"""How wide a fleet may be at an endpoint."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.fleet.width import width, widths
from loopworth.models import ModelSpec
from tests.comparisons.contenders import Asks, Says, arm

ONE = ModelSpec("vllm/m", base_url="http://one/v1", concurrency=8)
TWO = ModelSpec("vllm/m", base_url="http://two/v1", concurrency=3)


def asks(name: str, *models: ModelSpec) -> Arm:
    return arm(name, Asks(models[0].key), *models)


@given(st.integers(1, 500))
def test_no_more_runs_than_calls_are_allowed_are_under_way(most: int) -> None:
    """On all workers together; and at least half as many can be, whatever the number."""
    found = width([ModelSpec("vllm/m", base_url="http://one/v1", concurrency=most)])
    assert found.chunks is not None
    assert most / 2 < found.chunks * found.runs <= most


def test_arms_that_share_an_endpoint_share_a_queue() -> None:
    """Through a third that reaches both, too: then the narrowest counts."""
    apart = widths([asks("a", ONE), asks("b", TWO)])
    assert apart["a"].queue != apart["b"].queue
    assert [apart[name].chunks for name in "ab"] == [8, 3]
    arms = [asks("a", ONE), asks("b", TWO), asks("c", ONE, TWO)]
    for order in permutations(arms):
        joined = widths(order)
        assert joined["a"] == joined["b"] == joined["c"]
        assert joined["a"].chunks == 3


@pytest.mark.parametrize("models", [(), (ModelSpec("scripted"),), (ModelSpec("local/qwen3-0.6b"),)])
def test_what_each_worker_has_for_itself_is_not_bound_across_workers(models: tuple[ModelSpec, ...]) -> None:
    """Programs, scripted models, the embedded model."""
    one = arm("a", Says(str), *models)
    assert widths([one])["a"].chunks is None
