"""The order of a comparison."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.schedule import Planned, order

names = st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


@given(names, names, st.integers(1, 3), st.integers())
def test_every_arm_meets_every_task_as_often_as_planned(
    arms: list[str], tasks: list[str], repeats: int, seed: int
) -> None:
    """The order is a permutation of all (arm, task, repeat)."""
    planned = order(arms, tasks, repeats, seed)
    everything = {Planned(arm, task, repeat) for arm in arms for task in tasks for repeat in range(repeats)}
    assert set(planned) == everything
    assert len(planned) == len(everything)


@given(names, names, st.integers(1, 3), st.integers())
def test_a_seed_fixes_the_order(arms: list[str], tasks: list[str], repeats: int, seed: int) -> None:
    """The same arguments give the same order, whatever was drawn before."""
    assert order(arms, tasks, repeats, seed) == order(arms, tasks, repeats, seed)


@given(names, names, st.integers(1, 3), st.integers())
def test_arms_are_interleaved_task_by_task(arms: list[str], tasks: list[str], repeats: int, seed: int) -> None:
    """All arms meet a task before any meets the next, in every round the same order of tasks."""
    planned = order(arms, tasks, repeats, seed)
    blocks = [planned[at : at + len(arms)] for at in range(0, len(planned), len(arms))]
    assert all(len({run.task for run in block}) == 1 for block in blocks)
    rounds = [tuple(block[0].task for block in blocks if block[0].repeat == repeat) for repeat in range(repeats)]
    assert len(set(rounds)) == 1
    assert [block[0].repeat for block in blocks] == sorted(block[0].repeat for block in blocks)


def test_each_arm_goes_first_equally_often() -> None:
    """Which arm starts a task rotates: over as many tasks as arms each starts one."""
    arms = ["a", "b", "c"]
    firsts = [block.arm for block in order(arms, [str(n) for n in range(9)], 1, 7)[::3]]
    assert sorted(firsts) == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert firsts[:3] != firsts[1:4]


def test_another_seed_gives_another_order() -> None:
    """The tasks are shuffled, not kept as they stand in the file."""
    tasks = [str(n) for n in range(40)]
    orders = [tuple(run.task for run in order(["a"], tasks, 1, seed)) for seed in range(3)]
    assert len({*orders, tuple(tasks)}) == 4
