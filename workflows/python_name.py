"""What `module:name` in a file means: an object from a Python file beside the YAML, or from an installed module."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from loopworth.runs.spelling import nearest


class PythonNameFault(ValueError):
    """A `module:name` that leads nowhere; `what` is wrong and what to write `instead`."""

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(what, instead)
        self.what, self.instead = what, instead

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}" if self.instead else self.what


def load(name: str, base: Path | None = None) -> Any:
    """The object `module:name` stands for. `base` is the folder of the YAML; `sys.path` is never touched.

    A file in `base` comes before an installed module. Raises PythonNameFault.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise PythonNameFault(f"{name!r} is not a Python name", "write `module:name`, such as `projects:lookup`")
    found: Any = module(module_name, base)
    for part in attribute.split("."):
        if not hasattr(found, part):
            close = nearest(part, [name for name in dir(found) if not name.startswith("_")])
            raise PythonNameFault(f"{module_name!r} has no {attribute!r}", f"did you mean {close!r}?" if close else "")
        found = getattr(found, part)
    return found


def module(name: str, base: Path | None) -> ModuleType:
    """A module by name: a file beside the YAML first, then what is installed."""
    path = beside(name, base) if base is not None else None
    try:
        return from_file(path) if path else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            where = f"no file {name.replace('.', '/')}.py beside the YAML, and no installed module {name!r}"
            raise PythonNameFault(where, "a path is relative to the file it stands in") from None
        what = f"{name!r} imports {error.name!r}, which is not installed"
        raise PythonNameFault(what, neighbour(error.name, base)) from error
    except PythonNameFault:
        raise
    except Exception as error:
        raise PythonNameFault(f"{name!r} fails when it is imported: {type(error).__name__}: {error}") from error


def neighbour(name: str | None, base: Path | None) -> str:
    """What to do about a module that a file imports, and that stands beside the YAML: the folder is on no path."""
    if not name or base is None or beside(name, base) is None:
        return ""
    return f"it stands beside it, where Python does not look: set PYTHONPATH={base}, or install it as a package"


def beside(name: str, base: Path) -> Path | None:
    stem = base.joinpath(*name.split("."))
    found = (path for path in (stem.with_name(stem.name + ".py"), stem / "__init__.py") if path.is_file())
    return next(found, None)


def from_file(path: Path) -> ModuleType:
    """The module in a file, under a private name made from its path and content: loaded once, and anew when it was
    changed, so that a process that lives long does not go on with what it was."""
    path = path.resolve()
    digest = hashlib.blake2b(str(path).encode() + b"\0" + path.read_bytes(), digest_size=8).hexdigest()
    private = f"_loopworth_{path.stem}_{digest}"
    if private in sys.modules:
        return sys.modules[private]
    spec = importlib.util.spec_from_file_location(private, path)
    if spec is None or spec.loader is None:
        raise PythonNameFault(f"{path.name} cannot be imported")
    loaded = sys.modules[private] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(loaded)
    except BaseException:
        del sys.modules[private]
        raise
    return loaded
