"""Usage: unknown is not zero, and stays unknown."""

from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.usage import Usage

figures = st.none() | st.integers(0, 10**6)
usages = st.builds(Usage, figures, figures, st.integers(0, 99), st.integers(0, 99), st.none() | st.integers(0, 99))


def test_an_unknown_figure_makes_the_sum_unknown_and_leaves_the_others_alone():
    """A call whose usage is missing must not look free; what else is known stays known."""
    total = Usage(12, None, usd=None) + Usage(30, 5, usd=0.5)
    assert (total.input, total.output, total.usd, total.tokens) == (42, None, None, None)
    assert total.counted == 42


@given(usages, usages, usages)
def test_usage_adds_up_in_any_grouping(a, b, c):
    """The usage of a run is one sum, whatever the order in which its parts are added."""
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a
