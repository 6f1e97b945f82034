"""The runs that an example's page tells of are kept beside it; CI makes them again: no model, no key, no network."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from tests.cli.kit import ROOT

RECORDINGS = sorted((ROOT / "examples").glob("*/recording.jsonl"))


def replayed(recording: pathlib.Path, folder: pathlib.Path) -> dict:
    """What the example's comparison comes to, made of its recording, with every way out closed."""
    comparison = recording.with_name("comparison.yaml")
    words = ["compare", str(comparison), "--replay", str(recording), "--no-store", "--json"]
    closed = {"PATH": "", "LOOPWORTH_CACHE": str(folder), "HTTPS_PROXY": "http://127.0.0.1:9", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "loopworth", *words], cwd=folder, env=closed, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.parent.name)
def test_a_recording_replays_to_the_figures_of_its_page(recording, tmp_path):
    """Every run is made again from what was recorded, spends nothing, and gives the counts that the page prints."""
    found = replayed(recording, tmp_path)
    assert (found["usd"], found["interrupted"], found["stopped"]) == (0.0, False, "")
    assert all(arm["made"] == arm["planned"] for arm in found["arms"])
    counts = [f"{arm['accuracy']['right']:g}/{arm['accuracy']['runs']}" for arm in found["arms"]]
    page = recording.with_name("README.md").read_text("utf-8")
    rows = [re.findall(r"\d+/\d+", line) for line in page.splitlines() if re.match(r"\s*right\s+\d", line)]
    assert counts in rows


def test_there_are_recordings():
    """Every example that compares keeps its runs; an empty list of them would pass the test above."""
    compared = {path.parent.name for path in (ROOT / "examples").glob("*/comparison.yaml")}
    assert compared == {recording.parent.name for recording in RECORDINGS}
