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


FILES = {
    "broken.py": "\n1 / 0\n",
    "needs.py": "import not_there_either\n",
    "outer.py": "import needs\n",
    "lost.py": "from shop import nothing\n",
    "loster.py": "import shop.nothing\n",
    "dots.py": "from . import nothing\n",
    "unread.py": "import torn\n",
    "torn.py": "x = 1\nx = (\n",
    "quits.py": "import script\n",
    "script.py": "import sys\nsys.exit(2)\n",
    "late.py": "import importlib\nimportlib.import_module('broken_not')\n",
    "broken_not.py": "",
    "shop/__init__.py": "",
    "shop/near.py": "import close\n",
    "shop/close.py": "",
    "deep.py": "import json\njson.loads('{')\n",
}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("projects", "is not a Python name"),
        ("os.system('x'):y", "is not a Python name"),
        ("nowhere_at_all:x", "no file nowhere_at_all.py beside the YAML"),
        ("shop.nowhere:x", "no file shop/nowhere.py beside the YAML"),
        ("json:lods", "'json' has no 'lods'; did you mean 'loads'?"),
        ("broken:x", "'broken' fails when it is imported: ZeroDivisionError: division by zero (broken.py:2)"),
        (
            "needs:x",
            "'needs' imports 'not_there_either', which is not installed (needs.py:1); "
            "there is no not_there_either.py beside the YAML either: put it there, or install it",
        ),
        ("neds:x", "no file neds.py beside the YAML, and no installed module 'neds'; did you mean 'needs:x'?"),
        ("outer:x", "'outer' imports 'not_there_either', which is not installed (needs.py:1)"),
        ("lost:x", "ImportError: cannot import name 'nothing' from 'shop'"),
        ("loster:x", "'loster' imports 'shop.nothing', which does not stand beside the YAML (loster.py:1)"),
        ("dots:x", "'dots' imports 'nothing', which does not stand beside the YAML (dots.py:1)"),
        ("unread:x", "'unread' fails when it is imported: SyntaxError: '(' was never closed (torn.py:2)"),
        ("quits:x", "'quits' ends the program when it is imported (script.py:2); put what a script does under `if"),
        (
            "late:x",
            "'late' imports 'broken_not', which is not installed (late.py:2); it stands beside the YAML, where a",
        ),
        (
            "shop.near:x",
            "'shop.near' imports 'close', which is not installed (shop/near.py:1); it stands beside near.py: ",
        ),
        ("deep:x", "(deep.py:2)"),
    ],
)
def test_a_name_that_leads_nowhere_says_why(tmp_path, name, said):
    """Each way to fail has its own words, with the file and line of the user's own that is to blame."""
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    with pytest.raises(PythonNameFault) as caught:
        load(name, tmp_path)
    assert said in str(caught.value)
    assert "_loopworth_" not in str(caught.value)


def test_a_file_that_changed_is_loaded_anew(tmp_path):
    """A process that lives long calls what stands in the file, not what stood there; the same content is one module."""
    file = tmp_path / "shop.py"
    file.write_text("price = 1\n")
    first = load("shop:price", tmp_path)
    file.write_text("price = 2\n")
    assert (first, load("shop:price", tmp_path)) == (1, 2)
    file.write_text("stock = []\n")
    assert load("shop:stock", tmp_path) is load("shop:stock", tmp_path)
