"""`diagnose`: the right part for planted defects, nothing where nothing is wrong."""

from __future__ import annotations

import pathlib

import pytest

from loopworth.comparisons.diagnosis import diagnose
from tests.comparisons.planted import HEALTHY, PLANTED, run


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_leads_to_its_part(name: str, tmp_path: pathlib.Path) -> None:
    """The first finding names the part in which the defect was planted, with a run, a place and a change."""
    part, workflow = PLANTED[name]
    findings = diagnose(run(tmp_path, name, workflow))
    assert [finding.part for finding in findings] == [part], findings
    assert findings[0].signs[0].run
    assert findings[0].change


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_workflow_has_no_finding(name: str, tmp_path: pathlib.Path) -> None:
    """One slip that is mended, calls that differ, a job that is waited for: nothing to look at."""
    recordings = run(tmp_path, name, HEALTHY[name])
    assert [one.kept.exit for one in recordings] == ["success"]
    assert diagnose(recordings) == []
