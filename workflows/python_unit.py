"""The Python that stands beside the YAML files of a folder: modules and packages, and what they import of each other.

A *unit* is a module in a file of the folder, or a package (a folder below it) with all that is in it. All is read from
the disk once, so that what is told of a unit and what is run of it are the same.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import NamedTuple

from loopworth.tools.module_name import private


class Source(NamedTuple):
    """A Python file and what stands in it; a folder without `__init__.py` has an empty one."""

    path: Path
    text: bytes

    @property
    def package(self) -> bool:
        return self.path.name == "__init__.py"


class Import(NamedTuple):
    """What one import names, seen from the folder of the YAML: `relative` is one with dots, which leads there."""

    relative: bool
    name: str


@dataclass(frozen=True)
class Unit:
    """A module or a package: its sources by their dotted names, and the paths of the units that its imports lead to."""

    name: str
    path: Path
    sources: Mapping[str, Source]
    leads: Mapping[Import, Path]


def reached(name: str, base: Path) -> dict[Path, Unit]:
    """The unit of the module `name`, which stands in `base`, and all that it and they import there, by path."""
    found: dict[Path, Unit] = {}
    waiting = [(name.partition(".")[0], standing(name, base))]
    while waiting:
        top, path = waiting.pop()
        if path is not None and path not in found:
            found[path] = read(top, path, base)
            waiting += [(one.name.partition(".")[0], to) for one, to in found[path].leads.items()]
    return found


def standing(name: str, base: Path) -> Path | None:
    """Where the unit of a module stands: a file or a folder of `base`; None where there is neither."""
    top, dot, _ = name.partition(".")
    file, folder = base / f"{top}.py", base / top
    ways = [file] if file.is_file() else []
    if (folder / "__init__.py").is_file() or (folder.is_dir() and holds_python(folder)):
        ways.insert(0 if dot else 1, folder)
    return ways[0].resolve() if ways else None


def holds_python(folder: Path, above: tuple[Path, ...] = ()) -> bool:
    """Whether there is a module below a folder; `above` are those that lead there, as a link may do in a circle."""
    if (here := folder.resolve()) in above:
        return False
    below = (path for path in folder.iterdir() if path.suffix == ".py" or importable(path))
    return any(path.suffix == ".py" or holds_python(path, (*above, here)) for path in below)


def importable(path: Path) -> bool:
    """Whether a path is a folder whose modules have names."""
    return path.name.isidentifier() and path.name != "__pycache__" and path.is_dir()


def read(name: str, path: Path, base: Path) -> Unit:
    sources = {name: Source(path, path.read_bytes())} if path.is_file() else dict(modules(name, path))
    named = dict.fromkeys(
        one
        for dotted, source in sources.items()
        for statement in statements(source.text)
        for one in imports(statement, package_of(dotted, source))
    )
    leads = {one: to for one in named if (to := lead(one, name, path, base)) is not None}
    return Unit(name, path, sources, leads)


def modules(name: str, folder: Path, above: tuple[Path, ...] = ()) -> Iterator[tuple[str, Source]]:
    """The modules below a folder by their dotted names, the folder itself among them if there are any."""
    if folder.resolve() in above:
        return
    found = dict[str, Source]()
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" and path.stem.isidentifier() and path.is_file():
            found[name if path.stem == "__init__" else f"{name}.{path.stem}"] = Source(path, path.read_bytes())
        elif importable(path):
            found.update(modules(f"{name}.{path.name}", path, (*above, folder.resolve())))
    if found:
        yield from {name: Source(folder / "__init__.py", b""), **found}.items()


# -- imports -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16_384)
def statements(text: bytes) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of a module, wherever in it they stand; none where it is no Python, which its import tells."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def package_of(dotted: str, source: Source) -> tuple[str, ...]:
    parts = tuple(dotted.split("."))
    return parts if source.package else parts[:-1]


def imports(statement: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> Iterator[Import]:
    """What a statement in a module of this package names; nothing of one with dots that stays in its package."""
    if isinstance(statement, ast.Import):
        yield from (Import(False, alias.name) for alias in statement.names)
    elif not statement.level:
        yield Import(False, statement.module or "")
    elif statement.level == len(package) + 1:
        names = [statement.module] if statement.module else [alias.name for alias in statement.names]
        yield from (Import(True, name) for name in names if name != "*")


def lead(one: Import, name: str, own: Path, base: Path) -> Path | None:
    """The unit that an import in the unit `name` leads to. As in Python a module or a package that stands there comes
    before what is installed and a plain folder after it, but nothing before the standard library."""
    top = one.name.partition(".")[0]
    if not one.relative and top in sys.stdlib_module_names:
        return None
    if top == name:
        return own
    path = standing(one.name, base)
    plain = path is not None and path.is_dir() and not (path / "__init__.py").is_file()
    elsewhere = plain and not one.relative and found_by_python(top) is not None and not pythons_own(top, path)
    return None if elsewhere else path


def found_by_python(top: str) -> ModuleSpec | None:
    """What Python finds by itself under a name without dots."""
    try:
        return importlib.util.find_spec(top)
    except (ImportError, AttributeError, ValueError):  # of a module that was made by hand
        return None


def pythons_own(top: str, path: Path | None) -> bool:
    """Whether Python finds this very unit by itself: beside a script, by PYTHONPATH, or installed from there."""
    spec = found_by_python(top)
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return path in [Path(place).resolve() for place in places if place]


# -- names -------------------------------------------------------------------------------------------------------------


def private_names(units: Mapping[Path, Unit]) -> dict[Path, str]:
    """The name of each unit among Python's modules: another one for another content of it, or of what it imports."""
    return {path: private(unit.name, digest(path, units)) for path, unit in units.items()}


def digest(path: Path, units: Mapping[Path, Unit]) -> str:
    """Of a unit and of all that it leads to."""
    seen, waiting = set[Path](), [path]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += units[one].leads.values()
    hashed = blake2b(str(path).encode(), digest_size=8)
    for one in sorted(seen):
        for source in units[one].sources.values():
            hashed.update(f"\0{source.path}\0{len(source.text)}\0".encode())
            hashed.update(source.text)
    return hashed.hexdigest()


# -- code --------------------------------------------------------------------------------------------------------------


def code(source: Source, package: tuple[str, ...], names: Mapping[Import, str]) -> bytes | ast.Module:
    """The module in a file, with its imports of these names replaced. Raises what reading the file raises.

    What has none is left as text, since a tree may not be as deep as that. A loop, and no visitor, for the same reason.
    """
    named = (one for statement in statements(source.text) for one in imports(statement, package))
    if not any(one.relative or one in names for one in named):
        return source.text
    tree = ast.parse(source.text, str(source.path))
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and any(isinstance(part, ast.Import | ast.ImportFrom) for part in value):
                value[:] = [new for part in value for new in replaced(part, package, names)]
    return tree


def replaced(statement: ast.stmt, package: tuple[str, ...], names: Mapping[Import, str]) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            for new in renamed(alias, names.get(Import(False, alias.name))):
                yield ast.copy_location(ast.Import([ast.copy_location(new, alias)]), statement)
    elif isinstance(statement, ast.ImportFrom) and (found := list(imports(statement, package))):
        if statement.module:
            absolute = names.get(found[0], private(statement.module) if statement.level else statement.module)
            yield ast.copy_location(ast.ImportFrom(absolute, statement.names, 0), statement)
        else:
            for alias in statement.names:
                name = names.get(Import(True, alias.name), private(alias.name))
                new = ast.alias(name, alias.asname or alias.name)
                yield ast.copy_location(ast.Import([ast.copy_location(new, alias)]), statement)
    else:
        yield statement


def renamed(alias: ast.alias, name: str | None) -> Iterator[ast.alias]:
    """The aliases that bind what `import a.b` binds, with `a.b` found under another name."""
    if name is None or alias.asname:
        yield ast.alias(name or alias.name, alias.asname)
        return
    top, dot, _ = alias.name.partition(".")
    if dot:
        yield ast.alias(name, top)
    yield ast.alias(name.partition(".")[0], top)
