"""Lanes: how long the runs of a comparison may still take."""

from __future__ import annotations

from collections import deque

from loopworth.comparisons.lanes import Lane, eta


def lane(slots: int, arms: int, left: int) -> Lane:
    names = [f"a{n}" for n in range(arms)]
    return Lane(("local",), slots, dict.fromkeys(names, ("m",)), {("m",): deque()}, left)


def test_what_is_left_is_told_by_the_runs_after_the_first() -> None:
    """The first of an arm is slow (a model warms up): it says nothing of the others, and no guess is made of it."""
    one, at, told = lane(1, 3, 72), 0.0, []
    for n in range(72):
        began, at = at, at + (20.0 if n < 3 else 2.0)
        one.end(f"a{n % 3}", began, at)
        told.append(eta([one]))
    assert told[:5] == [None] * 5
    assert told[5:] == [*(2.0 * (left - 0.5) for left in range(66, 0, -1)), None]


def test_runs_that_are_under_way_at_once_are_no_slowness() -> None:
    """Four at once, each of 10 s: the first of them to end has three behind it that are as good as done."""
    one, told = lane(4, 1, 40), []
    for n in range(40):
        began = 10.0 * (n // 4) + (n % 4) / 100
        one.end("a0", began, began + 10.0)
        told.append((eta([one]), 90 - began))
    assert [left for left, _ in told[:4]] == [None] * 4
    assert all(abs(left - real) <= 7.5 for left, real in told if left is not None)


def test_arms_that_take_longer_weigh_as_much_as_their_runs_to_come() -> None:
    """Though more of a quick arm have ended."""
    one = lane(1, 2, 20)
    for arm, began, at in [("a0", 0, 9), ("a1", 9, 10), ("a1", 10, 11), ("a1", 11, 12), ("a0", 12, 21)]:
        one.end(arm, began, at)
    assert eta([one]) == (9 + 1) / 2 * 14.5


def test_the_slowest_lane_says_how_long_it_takes() -> None:
    """Nothing is told while one of them cannot be told; one that is through is not waited for."""
    quick, slow = lane(1, 1, 4), lane(1, 1, 4)
    for n in range(2):
        quick.end("a0", n, n + 1)
    assert eta([quick, slow]) is None
    for n in range(2):
        slow.end("a0", 5 * n, 5 * n + 5)
    assert (eta([quick, slow]), eta([slow, quick])) == (7.5, 7.5)
    assert eta([lane(1, 1, 0), quick]) == 1.5
    assert eta([]) is None
