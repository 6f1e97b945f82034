"""Every key misspelt and every reference broken, in every YAML file that ships: each is reported where it stands."""

import shutil
from pathlib import Path

import pytest

from loopworth.comparisons.language import Loaded, load
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


def reported(path, others):
    """What is reported in a file, by line and column; `others` are the documents that stay as they are."""
    loaded = Loaded()
    loaded.files.documents.update(others)
    loaded.add(path)
    loaded.check()
    return {(fault.line, fault.column): str(fault) for fault in loaded.faults if Path(fault.file) == path}


def others_of(path):
    """The documents that a file refers to, read once for all slips."""
    return {key: read for key, read in load(path).files.documents.items() if key != path.resolve()}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_ships_has_no_fault(name):
    """The files that slips are put into are sound themselves."""
    assert not load(ROOT / name).faults


@pytest.mark.parametrize(("wrong", "every"), [(swapped, 4), (doubled, 10)])
@pytest.mark.parametrize("name", NAMES)
def test_each_slip_alone_is_reported_where_it_stands(name, wrong, every, copy):
    """A misspelt key and a broken reference give a fault at their own line and column."""
    path = copy(name)
    text, others = path.read_text("utf-8"), others_of(path)
    missed = []
    for slip in slips(text, wrong)[::every]:
        path.write_text(made(text, [slip]), "utf-8")
        faults = reported(path, others)
        if (slip.line, slip.column) not in faults:
            missed.append((slip, sorted(faults.values())))
    assert not missed, f"{len(missed)}: {missed[:3]}"


@pytest.mark.parametrize("name", NAMES)
def test_all_slips_together_are_each_reported(name, copy):
    """No fault hides another one of the same file."""
    path = copy(name)
    text, others = path.read_text("utf-8"), others_of(path)
    every = slips(text)
    path.write_text(made(text, every), "utf-8")
    faults = reported(path, others)
    missed = [slip for slip in every if (slip.line, slip.column) not in faults]
    assert not missed, f"{len(missed)} of {len(every)}: {missed[:5]}"


def test_the_files_hold_forty_slips_and_more():
    """The number of one-line faults that are tried, over all files."""
    assert sum(len(slips(path.read_text("utf-8"))) for path in SHIPPED) > 40
