"""What `module:name` in a file means: an object from a Python file beside the YAML, or from an installed module."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.tools.module_name import public
from loopworth.workflows import python_import, python_unit


class PythonNameFault(ValueError):
    """A `module:name` that leads nowhere; `what` is wrong and what to write `instead`."""

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(what, instead)
        self.what, self.instead = what, instead

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}" if self.instead else self.what


def load(name: str, base: Path | None = None) -> Any:
    """The object `module:name` stands for. `base` is the folder of the YAML; `sys.path` is never touched.

    A file in `base`, with what it imports there, comes before an installed module. Raises PythonNameFault.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise PythonNameFault(f"{name!r} is not a Python name", "write `module:name`, such as `projects:lookup`")
    found: Any = module(module_name, base, attribute)
    for part in attribute.split("."):
        if not hasattr(found, part):
            close = nearest(part, [name for name in dir(found) if not name.startswith("_")])
            raise PythonNameFault(f"{module_name!r} has no {attribute!r}", f"did you mean {close!r}?" if close else "")
        found = getattr(found, part)
    return found


def module(name: str, base: Path | None, attribute: str = "") -> ModuleType:
    """A module by name: a file beside the YAML first, then what is installed. `attribute` is what is wanted of it."""
    own = base is not None and beside(name, base) is not None
    try:
        return python_import.load(name, base) if own and base is not None else importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = public(error.name or "")
        if not own and missing and f"{name}.".startswith(f"{missing}."):
            where = f"no file {name.replace('.', '/')}.py beside the YAML, and no installed module {name!r}"
            raise PythonNameFault(where, other_module(name, base, attribute)) from None
        place = raised_at(error, files(name, base))
        lacking = "is not installed" if missing == error.name else "does not stand beside the YAML"
        what = f"{name!r} imports {missing!r}, which {lacking}{told(place, base)}"
        raise PythonNameFault(what, neighbour(missing, place, base) or nowhere(missing, base)) from error
    except SystemExit as error:
        what = f"{name!r} ends the program when it is imported{told(raised_at(error, files(name, base)), base)}"
        raise PythonNameFault(what, 'put what a script does under `if __name__ == "__main__":`') from error
    except Exception as error:
        said = public(error.msg if isinstance(error, SyntaxError) else str(error))
        where = told(raised_at(error, files(name, base)), base)
        raise PythonNameFault(f"{name!r} fails when it is imported: {type(error).__name__}: {said}{where}") from error


def beside(name: str, base: Path) -> Path | None:
    stem = base.joinpath(*name.split("."))
    found = (path for path in (stem.with_name(stem.name + ".py"), stem / "__init__.py") if path.is_file())
    return next(found, None)


def other_module(name: str, base: Path | None, attribute: str) -> str:
    """What to write in place of a module that there is not: the nearest beside the YAML."""
    near = nearest(name, [] if base is None else [path.stem for path in base.glob("*.py")])
    meant = f"{near}:{attribute}" if attribute else near
    return f"did you mean {meant!r}?" if near else "a path is relative to the file it stands in"


# -- what is wrong with a module ---------------------------------------------------------------------------------------


def raised_at(error: BaseException, files: Collection[Path]) -> tuple[Path, int] | None:
    """The last line of these files that an error came through; where a file is no Python, that line of it."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno or 1))
    own = [(Path(file), line) for file, line in places if Path(file) in files]
    return own[-1] if own else None


def told(place: tuple[Path, int] | None, base: Path | None) -> str:
    if place is None or base is None:
        return ""
    file, line = place
    folder = base.resolve()
    return f" ({file.relative_to(folder) if file.is_relative_to(folder) else file}:{line})"


def neighbour(missing: str, place: tuple[Path, int] | None, base: Path | None) -> str:
    """What to write where a file asks for one that stands beside it, and asks so that it cannot be found."""
    if place is None or base is None or not missing or beside(missing, place[0].parent) is None:
        return ""
    if place[0].parent == base.resolve():
        return f"it stands beside the YAML, where a statement finds it: write `import {missing}`"
    return f"it stands beside {place[0].name}: write `from . import {missing}`"


def nowhere(missing: str, base: Path | None) -> str:
    """What to do about a module that is neither installed nor beside the YAML."""
    if base is None or not missing or beside(missing, base) is not None:
        return ""
    return f"there is no {missing.replace('.', '/')}.py beside the YAML either: put it there, or install it"


# -- what a module is made of ------------------------------------------------------------------------------------------


def code(name: str, base: Path | None) -> frozenset[Path]:
    """The Python files that `module:name` is made of: all that its module imports beside the YAML; what is installed
    counts for no more than the file of the object itself. Raises PythonNameFault."""
    return frozenset({*files(name.partition(":")[0], base), *code_of(load(name, base))})


def files(name: str, base: Path | None) -> frozenset[Path]:
    """The files of a module that stands beside the YAML, and of all that it imports there."""
    if base is None or beside(name, base) is None:
        return frozenset()
    sources = (source for unit in python_unit.reached(name, base).values() for source in unit.sources.values())
    return frozenset(source.path for source in sources if source.path.is_file())


def code_of(named: Any) -> frozenset[Path]:
    """The file of a user's own function or class; none of one of ours, or without a file."""
    found = inspect.unwrap(named)
    found = getattr(found, "func", found)
    found = getattr(found, "__func__", found)
    module = str(getattr(found, "__module__", ""))
    home = getattr(sys.modules.get(module), "__file__", None) if isinstance(found, type) else None
    path = Path(str(home or getattr(getattr(found, "__code__", None), "co_filename", "")))
    ours = module.partition(".")[0] == "loopworth"
    return frozenset() if ours or not path.is_file() else frozenset({path.resolve()})
