"""The names that a program may use are complete, sorted, and there."""

from __future__ import annotations

import importlib
import pkgutil
import types

import pytest

import loopworth

ROOMS = [f"loopworth.{found.name}" for found in pkgutil.iter_modules(loopworth.__path__) if found.ispkg]


def test_the_front_door_offers_what_the_documentation_names() -> None:
    """Define, run, compare: each is one function of the package; and the values that a program's own objects meet."""
    files, runs = ["check", "compare", "compile", "draw", "load", "opened"], ["render", "replay", "resume", "run"]
    verbs = ["begin", *files, *runs, "run_sync"]
    values = ["Compiled", "Decision", "Effects", "Outcome", "Question", "Reply", "Request", "Result", "Store"]
    assert loopworth.__all__ == [*values, "ToolCall", "Usage", "WorkflowFault", "__version__", *verbs]
    assert [name for name in loopworth.__all__ if getattr(loopworth, name, None) is None] == []
    assert dir(loopworth) == loopworth.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The lazy front door fails as any module does."""
    with pytest.raises(AttributeError, match="no attribute 'compere'"):
        loopworth.compere  # noqa: B018


@pytest.mark.parametrize("package", ["loopworth", *ROOMS])
def test_exported_names_are_complete_and_sorted(package: str) -> None:
    """What a package imports for others to use stands in its `__all__`, in order, and nothing else does."""
    module = importlib.import_module(package)
    listed = list(getattr(module, "__all__", ()))
    assert listed == sorted(listed, key=lambda name: (kind(name), name))
    assert [name for name in listed if not hasattr(module, name)] == []
    if package != "loopworth":
        public = {name for name, value in vars(module).items() if exported(name, value)}
        assert public <= set(listed)


def kind(name: str) -> int:
    """Constants come first, then classes, then functions: the order that the linter keeps."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


def exported(name: str, value: object) -> bool:
    """Whether a package's attribute is one that it brought in by name: no module, nothing private."""
    return not name.startswith("_") and not isinstance(value, types.ModuleType) and name != "annotations"
