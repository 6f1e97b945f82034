"""`loopworth rescore`: the runs that are kept, judged anew without a model call."""

from __future__ import annotations

import json
import pathlib
from datetime import UTC, datetime

import pytest

from loopworth.comparisons.rescoring import repriced
from loopworth.models import ModelSpec, Price
from loopworth.runs.events import ModelCalled
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage
from tests.cli.kit import command
from tests.cli.test_comparisons import COMPARISON, doubles
from tests.cli.test_extension import EARLY


@pytest.fixture(autouse=True)
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(*words: object) -> dict[str, object]:
    done = command(*words, "--json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def right(result: dict[str, object]) -> dict[str, int]:
    return {arm["arm"]: arm["accuracy"]["right"] for arm in result["arms"]}  # type: ignore[attr-defined]


def test_another_score_is_applied_to_kept_runs(tmp_path: pathlib.Path) -> None:
    """A tolerance makes more answers right; nothing is spent, and the verdict is that of the new score."""
    file = doubles(tmp_path)
    before = found("compare", file)
    file.write_text(COMPARISON.replace("tolerance: 0", "tolerance: 4"), "utf-8")
    after = found("rescore", file)
    assert right(before) == {"double": 12, "guess": 1}
    assert right(after) == {"double": 12, "guess": 4}
    assert after["verdict"]["arms"][0]["c"] == 8  # type: ignore[index]
    assert after["usd"] == 0
    assert len(json.loads(command("runs", "--json").stdout)) == 1


def test_another_price_is_applied_to_kept_tokens() -> None:
    """By the model's name, whatever its block said; what another model cost stays, and unknown is unknown."""
    used = Usage(1000, 100, usd=0.5)
    outcome = Outcome("x", events=[ModelCalled("1", "vllm/m@0ld", used), ModelCalled("2", "vllm/other", used)])
    priced = {"vllm/m": ModelSpec("vllm/m", price=Price(1000, 10000))}
    assert repriced(outcome, priced).usage.usd == pytest.approx(2.0 + 0.5)
    assert repriced(outcome, {"vllm/m": ModelSpec("vllm/m")}).usage.usd is None


def test_another_rule_gives_another_verdict(tmp_path: pathlib.Path) -> None:
    """The same runs, another smallest gain: the kept ones decide, and `--require` sets the status."""
    file = doubles(tmp_path)
    found("compare", file)
    file.write_text(COMPARISON.replace("error: 0.05", "error: 0.0000001"), "utf-8")
    assert found("rescore", file)["verdict"]["token"] == "undecided"  # type: ignore[index]
    assert command("rescore", file, "--require", "keeps").exit_code == 1


def test_what_stopped_early_is_rescored_as_it_was_read(tmp_path: pathlib.Path) -> None:
    """In the seeded order, on the tasks that it was run on."""
    file = doubles(tmp_path, 60, EARLY)
    before = found("compare", file)
    verdicts = [before["verdict"], found("rescore", file)["verdict"]]
    origins = [one.pop("provenance")["n"] for verdict in verdicts for one in verdict["arms"]]  # type: ignore[index]
    assert origins == ["measured", "recorded"]
    assert verdicts[0] == verdicts[1]


def test_only_the_tasks_that_were_run_count(tmp_path: pathlib.Path) -> None:
    """A comparison of the first five is rescored on five, and none of the others is missed."""
    file = doubles(tmp_path)
    found("compare", file, "--limit", 5)
    after = found("rescore", file)
    assert (after["verdict"]["arms"][0]["n"], after["verdict"]["arms"][0]["left_out"]) == (5, 0)  # type: ignore[index]


def test_nothing_kept_is_the_users_slip(tmp_path: pathlib.Path) -> None:
    """It says where to look."""
    found("compare", doubles(tmp_path))
    other = tmp_path / "other.yaml"
    other.write_text(COMPARISON, "utf-8")
    done = command("rescore", other)
    assert done.exit_code == 2
    assert "loopworth runs" in done.stderr


def test_another_file_says_how_the_runs_of_this_one_are_named(tmp_path: pathlib.Path) -> None:
    """What a second rule would say of them is one more word, and the message has it."""
    before = found("compare", doubles(tmp_path))
    (tmp_path / "stricter.yaml").write_text(COMPARISON.replace("min_gain: 0.10", "min_gain: 0.20"), "utf-8")
    done = command("rescore", "stricter.yaml")
    assert done.exit_code == 2
    assert "no comparison of stricter.yaml is kept in" in done.stderr
    assert "its id after FILE names one of another file" in done.stderr
    assert found("rescore", "stricter.yaml", before["id"])["replayed"] == before["id"]


def test_a_kept_run_is_priced_by_its_own_day() -> None:
    """Where the file has prices for several days: what changed since does not change what it cost."""
    outcome = Outcome("x", events=[ModelCalled("1", "vllm/m", Usage(0, 1_000_000, usd=None))])
    dated = (Price(output=12.0, since="2026-01-01"), Price(output=9.0, since="2026-06-15"))
    priced = {"vllm/m": ModelSpec("vllm/m", price=dated)}
    days = [datetime(2026, 6, day, tzinfo=UTC).timestamp() for day in (14, 16)]
    assert [repriced(outcome, priced, day).usage.usd for day in days] == [12.0, 9.0]
