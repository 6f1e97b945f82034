"""Tests over several groups, and Holm's correction."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.homogeneity import chi2_homogeneity, cochran_q, fisher_two_sided, holm


def test_the_reference_experiments_tests_come_out() -> None:
    """25 v 10 of 25: p = 3e-6; 17 v 15: .77; 17 v 10: .088; the five text cells: .009."""
    assert f"{fisher_two_sided(25, 25, 10, 25):.0e}" == "3e-06"
    assert round(fisher_two_sided(17, 25, 15, 25), 2) == 0.77
    assert round(fisher_two_sided(17, 25, 10, 25), 3) == 0.088
    cells = chi2_homogeneity([10, 19, 13, 15, 7], [25] * 5)
    assert cells
    assert round(cells.p, 3) == 0.009


def test_equal_answers_have_no_test() -> None:
    """All right, all wrong, or an empty group: None."""
    assert chi2_homogeneity([5, 5], [5, 5]) is None
    assert chi2_homogeneity([0, 0], [5, 5]) is None
    assert chi2_homogeneity([1, 0], [5, 0]) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=40))
def test_cochrans_q_of_two_arms_is_mcnemars_chi_square(table: list[tuple[int, int]]) -> None:
    """(b - c)² / (b + c); None where no task parts them."""
    found, b, c = cochran_q(table), table.count((1, 0)), table.count((0, 1))
    if not b + c:
        assert found is None
        return
    assert found is not None
    assert found.statistic == pytest.approx((b - c) ** 2 / (b + c))
    assert found.df == 1


def test_cochrans_q_of_three_arms_comes_out_by_hand() -> None:
    """Columns of 4, 2 and 1, rows of 2, 1, 2, 0 and 2: 2 · (3 · 21 - 49) / (21 - 13); ties add nothing."""
    table = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]]
    found = cochran_q(table)
    assert found is not None
    assert (found.statistic, found.df, found.p) == (3.5, 2, pytest.approx(exp(-1.75)))
    assert cochran_q([*table, [1, 1, 1], [0, 0, 0]]) == found


@given(st.lists(st.floats(0, 1), max_size=10))
def test_holm_never_lowers_a_p_and_keeps_their_order(p: list[float]) -> None:
    """The adjusted values are probabilities in the same order."""
    adjusted = holm(p)
    assert all(raw <= new <= 1 for raw, new in zip(p, adjusted, strict=True))
    assert sorted(adjusted) == [adjusted[i] for i in sorted(range(len(p)), key=p.__getitem__)]
