"""Modules that stand beside a YAML file, imported under private names: no path of Python's changes, and nobody else
sees them.

An import of one such module by another is written anew before it is compiled, to name the private module. So two
folders may each have a `helpers.py`, beside an installed one, and all else of an import (its locks, its cycles,
`sys.modules`) is Python's own.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from loopworth.workflows import python_unit
from loopworth.workflows.python_unit import Import, Source, Unit


class Placed(NamedTuple):
    """A unit as it can be imported, with the name that each of its imports has here."""

    unit: Unit
    names: Mapping[Import, str]


class Loader(SourceFileLoader):
    """Runs what was read when its unit was placed, whatever stands in the file by now.

    It keeps no bytecode beside the file, which would be taken for that of another text of one second and length.
    """

    def __init__(self, fullname: str, source: Source, package: tuple[str, ...], names: Mapping[Import, str]) -> None:
        super().__init__(fullname, str(source.path))
        self.source, self.package, self.imports = source, package, names

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the signature is importlib's
        text = python_unit.code(self.source, self.package, self.imports)
        code: CodeType = compile(text, str(self.source.path), "exec", dont_inherit=True)
        return code


class Finder:
    """Finds the modules of placed units, by their private names, and nothing else. `shared` are the private names that
    units had when they were first left to Python, which loads each once."""

    def __init__(self) -> None:
        self.placed: dict[str, Placed] = {}
        self.shared: dict[Path, str] = {}

    def shares(self, unit: Unit, private: str) -> bool:
        """Whether Python finds a unit by itself, and holds it as it is now, or will."""
        if unit.name not in sys.modules:
            self.shared[unit.path] = private
        return python_unit.pythons_own(unit.name, unit.path) and self.shared.setdefault(unit.path, private) == private

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the signature is importlib's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        private, dot, rest = fullname.partition(".")
        if private not in self.placed:
            return None
        unit, names = self.placed[private]
        dotted = f"{unit.name}{dot}{rest}"
        if (source := unit.sources.get(dotted)) is None:
            return None
        loader = Loader(fullname, source, python_unit.package_of(dotted, source), names)
        below = [str(source.path.parent)] if source.package else None
        return importlib.util.spec_from_file_location(
            fullname, source.path, loader=loader, submodule_search_locations=below
        )


FINDER = Finder()


def load(name: str, base: Path) -> ModuleType:
    """The module `name` that stands in the folder `base`: the same as long as it and all that it imports there hold the
    same, another one once they do not. Raises what its import raises.

    A package that Python finds by itself is Python's, until it changes: it is one with that of the rest of the program.
    """
    _, dot, rest = name.partition(".")
    units = python_unit.reached(name, base)
    private = python_unit.private_names(units)
    path, own = next(iter(units.items()))
    if path.is_dir() and FINDER.shares(own, private[path]):
        return importlib.import_module(name)
    for one, unit in units.items():
        FINDER.placed.setdefault(private[one], Placed(unit, names_in(unit, units, private)))
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)
    return importlib.import_module(f"{private[path]}{dot}{rest}")


def names_in(unit: Unit, units: Mapping[Path, Unit], private: Mapping[Path, str]) -> dict[Import, str]:
    """The full name of what each import of a unit leads to: private, but for what is shared with Python."""
    found = dict[Import, str]()
    for one, to in unit.leads.items():
        _, dot, rest = one.name.partition(".")
        shared = to != unit.path and FINDER.shares(units[to], private[to])
        found[one] = one.name if shared else f"{private[to]}{dot}{rest}"
    return found
