"""loopworth: does this feature earn an agent? Define, compare, decide.

    load(path)               a workflow or comparison file as a typed spec
    check(*paths)            every fault of every file
    compile(path)            a workflow, ready to run
    draw(path)               a workflow as a Mermaid flowchart
    run(workflow, input)     its outcome; `run_sync` for a program without an event loop
    compare(path)            several arms on the same tasks, and a verdict

Each loads what it needs on first use: importing loopworth costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopworth.front import check, compare, compile, draw, load, opened, run, run_sync

__version__ = "0.1.0"
__all__ = ["__version__", "check", "compare", "compile", "draw", "load", "opened", "run", "run_sync"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("loopworth.front"), name)
    raise AttributeError(f"module 'loopworth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
