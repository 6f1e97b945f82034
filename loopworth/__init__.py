"""loopworth: does this feature earn an agent? Define, compare, decide.

    load(path)               a workflow or comparison file as a typed spec
    check(*paths)            every fault of every file
    compile(path)            a workflow, ready to run
    draw(path)               a workflow as a Mermaid flowchart
    run(workflow, input)     its outcome; `run_sync` for a program without an event loop
    begin(store, workflow, input)  enters a durable run; `resume(store, id)` makes it, and goes on with it
    compare(path)            several arms on the same tasks, and a verdict; `render` makes its report

The classes are what a program's own models, tools and executors take and give. Each name loads what it needs on first
use: importing loopworth costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopworth.comparisons.result import Result
    from loopworth.comparisons.table import render
    from loopworth.front import begin, check, compare, compile, draw, load, opened, replay, resume, run, run_sync
    from loopworth.runs.decision import Decision, Question
    from loopworth.runs.effects import Effects
    from loopworth.runs.message import Reply, Request, ToolCall
    from loopworth.runs.outcome import Outcome
    from loopworth.runs.store import Store
    from loopworth.runs.usage import Usage
    from loopworth.workflows.compile import Compiled
    from loopworth.workflows.faults import WorkflowFault

__version__ = "0.1.0"
__all__ = [
    "Compiled",
    "Decision",
    "Effects",
    "Outcome",
    "Question",
    "Reply",
    "Request",
    "Result",
    "Store",
    "ToolCall",
    "Usage",
    "WorkflowFault",
    "__version__",
    "begin",
    "check",
    "compare",
    "compile",
    "draw",
    "load",
    "opened",
    "render",
    "replay",
    "resume",
    "run",
    "run_sync",
]
HOMES = {
    "Compiled": "workflows.compile",
    "Decision": "runs.decision",
    "Effects": "runs.effects",
    "Outcome": "runs.outcome",
    "Question": "runs.decision",
    "Reply": "runs.message",
    "Request": "runs.message",
    "Result": "comparisons.result",
    "Store": "runs.store",
    "ToolCall": "runs.message",
    "Usage": "runs.usage",
    "WorkflowFault": "workflows.faults",
    "render": "comparisons.table",
}
"""Where a name is, if it is not in `front`."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"loopworth.{HOMES.get(name, 'front')}"), name)
    raise AttributeError(f"module 'loopworth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
