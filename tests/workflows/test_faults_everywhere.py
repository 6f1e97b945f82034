"""Every key misspelt and every reference broken, in every YAML file that ships: each is reported where it stands."""

import shutil
from pathlib import Path

import pytest

from loopworth.comparisons.language import load
from tests.workflows.slips import doubled, made, slips, swapped

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests/workflows/yaml"
SHIPPED = sorted([*HERE.rglob("*.yaml"), *(ROOT / "examples").rglob("*.yaml")])
NAMES = [str(path.relative_to(ROOT)) for path in SHIPPED]


@pytest.fixture
def copy(tmp_path):
    """A copy of the whole folder a file stands in, so that what it refers to is there."""

    def made_for(name):
        path = ROOT / name
        top = HERE if HERE in path.parents else ROOT / "examples"
        shutil.copytree(top, tmp_path / top.name, dirs_exist_ok=True)
        return tmp_path / top.name / path.relative_to(top)

    return made_for


def reported(path):
    """Where faults are reported in a file: lines, and lines with columns."""
    return {(fault.line, fault.column): str(fault) for fault in load(path).faults if Path(fault.file) == path}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_ships_has_no_fault(name):
    """The files that slips are put into are sound themselves."""
    assert not load(ROOT / name).faults


@pytest.mark.parametrize("wrong", [swapped, doubled])
@pytest.mark.parametrize("name", NAMES)
def test_each_slip_alone_is_reported_where_it_stands(name, wrong, copy):
    """A misspelt key and a broken reference give a fault at their own line and column."""
    path = copy(name)
    text = path.read_text("utf-8")
    missed = []
    for slip in slips(text, wrong):
        path.write_text(made(text, [slip]), "utf-8")
        faults = reported(path)
        if (slip.line, slip.column) not in faults:
            missed.append((slip, sorted(faults.values())))
    path.write_text(text, "utf-8")
    assert not missed, f"{len(missed)}: {missed[:3]}"


@pytest.mark.parametrize("name", NAMES)
def test_all_slips_together_are_each_reported(name, copy):
    """No fault hides another one of the same file."""
    path = copy(name)
    text = path.read_text("utf-8")
    every = slips(text)
    path.write_text(made(text, every), "utf-8")
    faults = reported(path)
    missed = [slip for slip in every if (slip.line, slip.column) not in faults]
    assert not missed, f"{len(missed)} of {len(every)}: {missed[:5]}"


def test_the_files_hold_forty_slips_and_more():
    """The number of one-line faults that are tried, over all files."""
    assert sum(len(slips(path.read_text("utf-8"))) for path in SHIPPED) > 40
