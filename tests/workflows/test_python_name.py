"""`module:name`: a file beside the YAML first, then an installed module."""

import json
import sys

import pytest

from loopworth.workflows.python_name import PythonNameFault, load


def test_a_file_beside_the_yaml_comes_before_an_installed_module(tmp_path):
    """The file is loaded once, under a private name, and `sys.path` and the real module stay as they were."""
    (tmp_path / "json.py").write_text("loads = 'mine'\nmark = object()\n")
    path = list(sys.path)
    assert load("json:loads", tmp_path) == "mine"
    assert load("json:mark", tmp_path) is load("json:mark", tmp_path)
    assert load("json:loads") is json.loads
    assert sys.modules["json"] is json
    assert sys.path == path


def test_two_folders_may_hold_files_of_one_name(tmp_path):
    """A module is known by its path, not by its name."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.py").write_text(f"where = '{folder}'\n")
    assert [load("app:where", tmp_path / folder) for folder in ("one", "two")] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("projects", "is not a Python name"),
        ("os.system('x'):y", "is not a Python name"),
        ("nowhere_at_all:x", "no file nowhere_at_all.py beside the YAML"),
        ("json:lods", "'json' has no 'lods'; did you mean 'loads'?"),
        ("broken:x", "fails when it is imported: ZeroDivisionError"),
        ("needs:x", "imports 'not_there_either', which is not installed"),
    ],
)
def test_a_name_that_leads_nowhere_says_why(tmp_path, name, said):
    """Each way to fail has its own words."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "needs.py").write_text("import not_there_either\n")
    with pytest.raises(PythonNameFault) as caught:
        load(name, tmp_path)
    assert said in str(caught.value)


def test_an_import_of_a_file_beside_the_yaml_says_how_it_is_found(tmp_path):
    """The folder is on no path of Python, so that two of them may hold files of one name; what to do is said."""
    (tmp_path / "app.py").write_text("import helpers_of_ours\n")
    (tmp_path / "helpers_of_ours.py").write_text("")
    with pytest.raises(PythonNameFault) as caught:
        load("app:x", tmp_path)
    assert caught.value.what == "'app' imports 'helpers_of_ours', which is not installed"
    assert f"set PYTHONPATH={tmp_path}, or install it" in caught.value.instead


def test_a_file_that_changed_is_loaded_anew(tmp_path):
    """A process that lives long calls what stands in the file, not what stood there; the same content is one module."""
    file = tmp_path / "shop.py"
    file.write_text("price = 1\n")
    first = load("shop:price", tmp_path)
    file.write_text("price = 2\n")
    assert (first, load("shop:price", tmp_path)) == (1, 2)
    file.write_text("stock = []\n")
    assert load("shop:stock", tmp_path) is load("shop:stock", tmp_path)
