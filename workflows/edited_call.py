"""A call whose arguments a person edited, held to what any call of its tool is."""

from __future__ import annotations

from typing import Any

from loopworth.runs.approvals import Refused
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.workflows.compile import Compiled


def accepted(compiled: Compiled, tool: str, arguments: Any) -> dict[str, Any]:
    """A call's canonical arguments, past the schema and the allow-list of its tool. Raises Refused."""
    if isinstance(arguments, str) and not arguments.strip().startswith("{"):
        raise Refused(f"{tool} does not take these arguments: write all of them, as one JSON object")
    fault: ArgumentFault | None = None
    for one in (*compiled.tools.values(), *compiled.every):
        if one.name == tool:
            try:
                return one.check(parse(arguments)).arguments
            except ArgumentFault as why:
                fault = why
    raise Refused(f"{tool} does not take these arguments: {fault or 'there is no such tool'}")
