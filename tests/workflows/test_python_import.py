"""Modules beside a YAML file import each other, and nobody else sees them."""

import json
import pickle
import runpy
import sys
import typing
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.tools.python import python_tool
from loopworth.workflows.python_name import PythonNameFault, load
from loopworth.workflows.python_unit import reached, statements
from loopworth.workflows.type_expression import parse_type
from tests.tools.kit import invoke

FOLDER = {
    "helpers.py": "mark = 'helpers'\n",
    "shop/__init__.py": "mark = 'shop'\n",
    "shop/orders.py": "from . import config\nfrom helpers import mark as helped\nmark = 'shop.orders ' + config.mark\n",
    "shop/config.py": "mark = 'shop.config'\n",
    "shop/deep/__init__.py": "mark = 'shop.deep'\n",
    "shop/deep/down.py": "from ..config import mark as above\nmark = 'shop.deep.down ' + above\n",
    "plain/part.py": "mark = 'plain.part'\n",
}
MODULES = [
    "helpers",
    "shop",
    "shop.orders",
    "shop.config",
    "shop.deep",
    "shop.deep.down",
    "plain.part",
    "json",
    "os.path",
]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@contextmanager
def on_the_path(folder: Path):
    """Python's own way to find what stands in a folder."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("helpers", "shop", "plain", "data"):
                del sys.modules[name]


def marks(names: dict) -> dict:
    """What names are bound to: a module is told by its mark, and by what is bound in it in turn."""
    seen = {name: value for name, value in names.items() if not name.startswith("__")}
    return {
        name: [getattr(one, "mark", ""), *bound(one)] if isinstance(one, ModuleType) else one
        for name, one in seen.items()
    }


def bound(module: ModuleType) -> list[str]:
    return sorted(name for name in vars(module) if not name.startswith("__"))


def aliases(name: str):
    return st.sampled_from([name, f"{name} as other"])


STATEMENT = st.one_of(
    st.lists(st.sampled_from(MODULES).flatmap(aliases), min_size=1, max_size=3).map(
        lambda many: "import " + ", ".join(many)
    ),
    st.sampled_from(["helpers", "shop", "shop.orders", "shop.deep.down", "plain.part"]).map(
        lambda m: f"from {m} import *"
    ),
    st.sampled_from(["helpers", "shop.config", "shop.deep"]).map(lambda m: f"from {m} import mark as found, mark"),
    st.sampled_from(["from shop import orders, mark", "from plain import part as mine", "from shop.deep import down"]),
)


@given(st.lists(STATEMENT, min_size=1, max_size=4), st.sampled_from(["", "if True: ", "try:\n    "]))
def test_an_import_binds_what_it_binds_where_the_folder_is_on_the_path(statements, before):
    """Of whatever form an import is, it means what it means to Python in a script of that folder."""
    after = "\nexcept KeyError: pass" if before.startswith("try") else ""
    code = "\n".join(f"{before}{one}{after}" for one in statements)
    with TemporaryDirectory() as name:
        folder = written(Path(name).resolve(), {**FOLDER, "app.py": f"{code}\nseen = dict(globals())\n"})
        ours = marks(load("app:seen", folder))
        with on_the_path(folder):
            assert ours == marks(runpy.run_path(str(folder / "app.py"))["seen"])


def test_two_folders_do_not_see_each_others_modules_and_nobody_else_sees_either(tmp_path):
    """Each has a `helpers`, and a third one is installed, which all others go on to import."""
    written(tmp_path, {"installed/helpers.py": "mark = 'installed'\n"})
    for name in ("one", "two"):
        written(tmp_path, {f"{name}/helpers.py": f"mark = '{name}'\n", f"{name}/app.py": "from helpers import mark\n"})
    with on_the_path(tmp_path / "installed"):
        path, known = list(sys.path), {name for name in sys.modules if not name.startswith("_loopworth_")}
        assert [load("app:mark", tmp_path / name) for name in ("one", "two")] == ["one", "two"]
        assert sys.path == path
        assert {name for name in sys.modules if not name.startswith("_loopworth_")} == known
        assert load("helpers:mark") == "installed"
        assert load("app:mark", tmp_path / "one") == "one"


DOTS = """
from . import helpers, shop as whole
from .helpers import mark as found
from .shop.deep import down
from .plain import part
"""


def test_an_import_with_dots_starts_at_the_folder_of_the_yaml(tmp_path):
    """For a file beside it one dot is that folder, for one in a package below it the second."""
    up = "from ... import helpers\nfrom ...shop import config\nfrom .. import orders\nfrom . import down\n"
    written(tmp_path, {**FOLDER, "app.py": DOTS, "shop/deep/up.py": up})
    found = {name: load(f"app:{name}", tmp_path) for name in ("helpers", "whole", "found", "down", "part")}
    assert [getattr(one, "mark", one) for one in found.values()] == [
        "helpers",
        "shop",
        "helpers",
        "shop.deep.down shop.config",
        "plain.part",
    ]
    assert load("shop.deep.up:helpers", tmp_path) is found["helpers"]
    assert load("shop.deep.up:down", tmp_path) is found["down"]
    assert load("shop.deep.up:config.mark", tmp_path) == "shop.config"


def test_nothing_beside_the_yaml_shadows_the_standard_library(tmp_path):
    """`import json` is Python's, in whatever file it stands; `from . import json` is the file that is asked for."""
    written(tmp_path, {"json.py": "import json\nloads = json.loads\nmark = 'mine'\n"})
    written(tmp_path, {"app.py": "import json as theirs\nfrom . import json as ours\n"})
    assert load("app:theirs", tmp_path) is json
    assert load("app:ours.mark", tmp_path) == "mine"
    assert load("json:loads", tmp_path) is json.loads


def test_a_module_is_one_whoever_imports_it(tmp_path):
    """What a YAML names, and what another module imports of it, are the same object."""
    shared = "import state\nfrom shop import ledger\n"
    written(tmp_path, {"state.py": "seen = []\n", "a.py": shared, "b.py": shared})
    written(tmp_path, {"shop/__init__.py": "import state\n", "shop/ledger.py": "from state import seen\n"})
    seen = load("state:seen", tmp_path)
    names = ["a:state.seen", "b:state.seen", "a:ledger.seen", "shop:state.seen", "shop.ledger:seen"]
    assert all(load(name, tmp_path) is seen for name in names)


def test_modules_that_import_each_other_are_loaded_once(tmp_path):
    """A cycle is Python's own, and ends as it does there."""
    written(tmp_path, {"a.py": "import b\nmark = 'a'\n", "b.py": "import a\ndef back(): return a.mark\n"})
    assert load("a:b.back", tmp_path)() == "a"
    assert load("b:a.mark", tmp_path) == "a"


def test_what_changed_is_loaded_anew_with_all_that_imports_it(tmp_path):
    """And what did not is the same module; code that was loaded before goes on with what it was."""
    app = "import helpers\ndef told():\n    import later\n    return helpers.mark, later.mark\n"
    written(tmp_path, {"helpers.py": "mark = 1\n", "later.py": "mark = 1\n", "app.py": app, "other.py": "mark = []\n"})
    before, other = load("app:told", tmp_path), load("other:mark", tmp_path)
    written(tmp_path, {"helpers.py": "mark = 2\n", "later.py": "mark = 2\n"})
    after = load("app:told", tmp_path)
    assert (before(), after()) == ((1, 1), (2, 2))
    assert load("app:told", tmp_path) is after
    assert load("other:mark", tmp_path) is other


def test_however_big_a_package_is_each_of_its_modules_is_parsed_once(tmp_path):
    """Parsing takes most of the time, and every tool of a catalogue looks at all of them."""
    written(tmp_path, {f"shop/part{k}.py": f"import json\nmark = {k}\n" for k in range(1_500)})
    assert load("shop.part7:mark", tmp_path) == 7
    before = statements.cache_info().misses
    assert load("shop.part8:mark", tmp_path) == 8
    assert statements.cache_info().misses == before


def test_a_change_of_one_second_and_length_is_seen(tmp_path, monkeypatch):
    """Python's own cache of bytecode knows a file by these two alone; none is kept here."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for mark in ("1", "2"):
        written(tmp_path, {"app.py": "import helpers\nmark = helpers.mark\n", "helpers.py": f"mark = {mark}\n"})
        assert load("app:mark", tmp_path) == int(mark)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py", "helpers.py"]


def test_threads_that_load_at_once_get_one_module_that_is_whole(tmp_path):
    """The first runs it and the others wait."""
    slow = "import threading\nthreading.Event().wait(0.01)\n"
    written(tmp_path, {"app.py": f"{slow}from helpers import mark\n", "helpers.py": f"{slow}mark = object()\n"})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: load(name, tmp_path), ["app:mark", "helpers:mark"] * 8))
    assert len(set(map(id, found))) == 1


CLASSES = """
from __future__ import annotations
from dataclasses import dataclass, field
from pydantic import BaseModel
import shapes

@dataclass
class Line:
    order: Order
    tags: list[str] = field(default_factory=list)

class Order(BaseModel):
    items: list[Item]
    shape: shapes.Shape

class Item(BaseModel):
    name: str

def lookup(order: Order, shape: shapes.Shape) -> Line:
    return Line(order)
"""


def test_classes_of_such_modules_are_ordinary_ones(tmp_path):
    """Hints are read, forward references resolved, instances pickled."""
    written(
        tmp_path, {"shapes.py": "from enum import Enum\nclass Shape(Enum):\n    ROUND = 'round'\n", "app.py": CLASSES}
    )
    order = load("app:Order", tmp_path)(items=[{"name": "cup"}], shape="round")
    line = load("app:lookup", tmp_path)(order, order.shape)
    assert pickle.loads(pickle.dumps(line)) == line
    hints = typing.get_type_hints(load("app:lookup", tmp_path))
    assert (hints["shape"], hints["return"]) == (load("shapes:Shape", tmp_path), type(line))


def test_what_python_finds_there_by_itself_is_one_with_that_of_the_program(tmp_path):
    """Where the folder is on Python's path, as beside a script, a tool sees the modules that the script imported."""
    written(tmp_path, {**FOLDER, "app.py": "import helpers\nfrom shop import config\n"})
    with on_the_path(tmp_path.resolve()):
        import helpers  # type: ignore[import-not-found]
        import shop.orders  # type: ignore[import-not-found]

        assert load("app:helpers", tmp_path) is helpers
        assert load("app:config", tmp_path) is shop.config
        assert load("shop.orders:mark", tmp_path) is shop.orders.mark


def test_what_python_has_of_it_is_loaded_anew_too_where_it_changed(tmp_path):
    """A worker of a fleet tells the digest of the files as they are, and runs what it tells."""
    written(tmp_path, {**FOLDER, "app.py": "from helpers import mark\nfrom shop import config\n"})
    with on_the_path(tmp_path.resolve()):
        first = [load(name, tmp_path) for name in ("app:mark", "app:config.mark", "shop.orders:mark")]
        written(tmp_path, {"helpers.py": "mark = 'new'\n", "shop/config.py": "mark = 'newer'\n"})
        assert first == ["helpers", "shop.config", "shop.orders shop.config"]
        assert load("app:mark", tmp_path) == "new"
        assert load("app:config.mark", tmp_path) == "newer"
        assert load("shop.orders:mark", tmp_path) == "shop.orders newer"
        written(tmp_path, FOLDER)
        assert load("app:config", tmp_path) is sys.modules["shop.config"]


def test_what_python_could_not_load_is_its_own_once_it_is_mended(tmp_path):
    """Python holds nothing of a module that failed, and looks at its file again."""
    written(tmp_path, {"helpers.py": "mark = 1 / 0\n", "app.py": "import helpers\n"})
    with on_the_path(tmp_path.resolve()):
        with pytest.raises(PythonNameFault, match="division by zero"):
            load("app:helpers", tmp_path)
        written(tmp_path, {"helpers.py": "mark = 'mended'\n"})
        assert load("app:helpers", tmp_path) is sys.modules["helpers"]


def test_links_are_followed_and_not_in_a_circle(tmp_path):
    """Modules are where a folder says they are, and each is read once on its way."""
    written(tmp_path, {"elsewhere/part.py": "mark = 1\n", "own/app.py": "import shop.linked.part as part\n"})
    (tmp_path / "own" / "shop").mkdir()
    (tmp_path / "own" / "shop" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(tmp_path / "own" / "shop")
    assert load("shop.linked.part:mark", tmp_path / "own") == 1
    assert load("app:part.mark", tmp_path / "own") == 1
    (unit,) = reached("shop.linked.part", tmp_path / "own").values()
    assert list(unit.sources) == ["shop", "shop.linked", "shop.linked.part"]


def test_a_plain_folder_comes_after_what_is_installed(tmp_path):
    """As in Python: a folder of data has many a package's name. One with `__init__.py` comes before."""
    written(
        tmp_path,
        {"lib/data/__init__.py": "mark = 'installed'\n", "own/data/load.py": "", "own/app.py": "import data\n"},
    )
    with on_the_path(tmp_path / "lib"):
        assert load("app:data.mark", tmp_path / "own") == "installed"
        written(tmp_path, {"own/data/__init__.py": "mark = 'own'\n"})
        assert load("app:data.mark", tmp_path / "own") == "own"


@pytest.mark.parametrize(("before", "terms"), [("import helpers\n", 300), ("", 2000)])
def test_what_python_compiles_is_compiled_however_deep_it_is(tmp_path, before, terms):
    """A tree may be less deep than a text: only a file with an import to replace is made one."""
    written(tmp_path, {"helpers.py": "", "app.py": f"{before}total = {' + '.join(['1'] * terms)}\n"})
    assert load("app:total", tmp_path) == terms


ITEM = "from pydantic import BaseModel\nclass Item(BaseModel):\n    {}: str\n"
TOLD = {
    "bought.py": ITEM.format("price"),
    "lent.py": ITEM.format("until"),
    "app.py": """
import bought, lent
from pydantic import BaseModel

class Shelf(BaseModel):
    bought: bought.Item
    lent: lent.Item
    below: "list[Shelf]"

def put(one: bought.Item, other: lent.Item) -> str:
    "Put two things on the shelf."
    return object.__new__(type("Thing", (), {"__module__": __name__}))

def fail() -> str:
    "Look for what is not there."
    return lent.shelf
""",
}


def test_what_a_model_is_told_is_the_same_wherever_the_files_stand(tmp_path):
    """Two classes of one name are told apart by their modules, which have the names that their author knows."""

    def told(folder: str) -> str:
        here = written(tmp_path / folder, TOLD)
        tool = python_tool("put", load("app:put", here), effect="read")
        answered = invoke(tool, {"one": {"price": "5"}, "other": {"until": "May"}})
        failed = invoke(python_tool("fail", load("app:fail", here), effect="read"))
        return json.dumps([tool.parameters, parse_type("app:Shelf", here).schema, answered.content, failed.content])

    assert told("a") == told("b")
    assert "bought__Item" in told("a")
    assert "app.Thing" in told("a")
    assert "module 'lent' has no attribute 'shelf'" in told("a")
    assert "_loopworth_" not in told("a")
