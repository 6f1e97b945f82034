"""Branching: which structure replays a set of runs."""

from __future__ import annotations

from loopworth.comparisons.branching import Label, branching, observation_information

ONE = [("search", "ok"), ("write", "ok")]
OTHER = [("open", "ok"), ("write", "ok")]
RETRY = [("search", "empty"), ("refine", "ok"), ("search", "ok"), ("write", "ok")]


def label(runs: list[list[tuple[str, str]]], kinds: list[str] | None = None) -> Label | None:
    found = branching(runs, kinds)
    return found and found.label


def test_one_path_is_a_pipeline() -> None:
    """Runs that all go the same way need no choice."""
    assert label([ONE] * 10) == "pipeline"


def test_a_path_by_kind_is_a_router() -> None:
    """What the kind known beforehand explains; without kinds it stays unexplained."""
    runs, kinds = [ONE, OTHER] * 6, ["a", "b"] * 6
    assert label(runs, kinds) == "router"
    assert label(runs) == "unexplained"


def test_a_path_by_observation_is_a_constrained_loop() -> None:
    """What the last observation explains, and it carries information."""
    runs = [ONE, RETRY] * 8
    assert label(runs) == "constrained loop"
    assert (observation_information(runs) or 0) > 0
    assert observation_information([ONE] * 5) == 0


def test_a_retry_after_an_error_is_the_same_path() -> None:
    """The immediate second try of a tool that failed is not a branch."""
    found = branching([ONE, [("search", "error"), *ONE]] * 4)
    assert found
    assert found.distinct == 1


def test_paths_that_never_come_again_are_an_open_loop() -> None:
    """Ten runs, ten paths, nothing that predicts a step."""
    runs = [[(f"t{i}", "ok"), (f"t{(i * 7 + 3) % 10}", "ok"), (f"u{i}", "ok")] for i in range(10)]
    assert label(runs) == "open loop"


def test_a_run_is_not_replayed_by_itself() -> None:
    """Each run is judged by the others, and a tie of theirs is a miss."""
    found = branching([ONE, ONE, OTHER])
    assert found
    assert (found.replay_one_path, found.top1) == (0.0, 2 / 3)


def test_no_run_has_no_structure() -> None:
    """None, not a division by zero."""
    assert branching([]) is None
    assert observation_information([]) is None
