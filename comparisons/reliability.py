"""Whether an arm is right every time, not only on average."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import fmean


def pass_hat_k(correct: Sequence[int], runs: int, k: int) -> float | None:
    """The chance that k runs of a task are all right, from tasks run `runs` times; None where k > runs or no task.

    The mean over tasks of C(correct, k) / C(runs, k). Yao et al. 2024, τ-bench, arXiv 2406.12045.
    """
    if not correct or k > runs:
        return None
    return fmean(pass_shares(correct, runs, k))


def pass_shares(correct: Sequence[int], runs: int, k: int) -> list[float]:
    """Each task's share of the ways to pick k of its runs that are all right."""
    return [comb(right, k) / comb(runs, k) for right in correct]
