"""Arms that are programs of one's own: a Python function, or a command that reads and writes JSON.

    app.py      def answer(question): return "42"
    ./agent     {"question": "…"} on its standard input; 42, or an object such as below, on its standard output

Either returns an answer, or {"answer", "usage", "calls", "exit_reason"}: `usage` {"prompt_tokens", "completion_tokens",
"usd", "model_calls"}, its tokens in any spelling of an endpoint's, `calls` a list of {"tool", "args", "result",
"status"}. What a program does not say is unknown.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, get_args, get_type_hints

from msgspec import structs

from loopworth.comparisons.returned import doubtful
from loopworth.models.reading import MANY, used
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import AnyEvent, ModelCalled, ToolCalled
from loopworth.runs.exit import Exit
from loopworth.runs.message import ToolCall, json_of
from loopworth.runs.observation import Observation, Status
from loopworth.runs.outcome import Failed, Outcome, Stop
from loopworth.tools.tool import Accepted, Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled
from loopworth.workflows.faults import suggestion
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.types import Type

TIMEOUT = 300.0
"""Seconds that a run may take where the arm does not say."""
MOST_OUTPUT = 16 << 20
"""Bytes of standard output that are read; more is a failure."""
CHUNK = 1 << 16
NAME = "answer"
ENDS = tuple(reason for reason in get_args(Exit) if reason not in ("waiting", "cancelled", "harness_error"))
"""The exit reasons that a program may tell: the others are those of whoever runs it."""


TOKENS = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")
USAGE = (*TOKENS, *(f"{name}_details" for name in TOKENS), "usd", "model_calls")
"""The keys of `usage` that are read."""
WANTED = "prompt_tokens, completion_tokens (or input_tokens, output_tokens), usd, model_calls"


class Place(Protocol):
    """Where it is noted what a program tells of a run."""

    items: list[Any]

    def emit(self, event: AnyEvent) -> None: ...


class Program:
    """Calls the program once, as any tool is called, so that a run is timed, cut, kept and replayed like any other."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        place = fx.at("call")
        place.nested = True  # it is the whole of the run, not a tool call in it
        seen = await place.call(ToolCall("call", NAME, input))
        if seen.status == "ok":
            return told(seen.full, fx, self.kind)
        asked(None, fx, self.kind)  # what it used before it failed, it did not say
        if seen.status == "timed_out":
            raise Stop("time_limit", "", seen.content)
        raise Failed(seen.content)


def told(value: Any, fx: Place, kind: str) -> Outcome:
    """What the program said: its answer, what it used, what it called, and why it ended."""
    said = value if isinstance(value, dict) and "answer" in value else {"answer": value}
    asked(said.get("usage"), fx, kind, doubtful(value, kind))
    calls = said.get("calls") or []
    if not isinstance(calls, list):
        raise Failed(f"its `calls` are {calls!r}: say a list of {{tool, args, result, status}}")
    for n, call in enumerate(calls):
        called(call if isinstance(call, dict) else {"tool": str(call)}, n, fx)
    if (reason := said.get("exit_reason", "success")) not in ENDS:
        near = suggestion(str(reason), ENDS, "one of")
        raise Failed(f"it ended for {reason!r}, which is no exit reason of a program: {near}")
    return Outcome(said["answer"], reason)


def asked(usage: Any, fx: Place, kind: str, doubt: str = "") -> None:
    """The model calls it tells of, with what was not read, and a `doubt` about its answer; one of unknown size where it
    tells nothing."""
    said = usage if isinstance(usage, dict) else {}
    usd = said.get("usd")
    number = isinstance(usd, int | float) and not isinstance(usd, bool)
    money = float(usd) if isinstance(usd, int | float) and number and 0 <= usd < MANY else None
    calls, size, why = count(said.get("model_calls")), structs.replace(used(said), usd=money), unread(usage)
    if calls == 0 and not size.counted and not money and not why:
        return
    fx.emit(ModelCalled("model", kind, size, warnings=tuple(filter(None, (doubt, why)))))
    for n in range(2, min(calls or 1, 10_000) + 1):
        fx.emit(ModelCalled(f"model~{n}", kind))


def unread(usage: Any) -> str:
    """What of a `usage` is not read, and what would be; "" where all of it is."""
    if usage is None:
        return ""
    if not isinstance(usage, dict):
        return f"its `usage` is {usage!r:.40}, and no mapping of {WANTED}"
    names = [f"{name!r:.40}" for name in usage if name not in USAGE]
    return f"its `usage` has {', '.join(names[:3])}, which nobody reads: say {WANTED}" if names else ""


def count(value: Any) -> int | None:
    """A count, and None for what can be none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MANY else None


def called(said: Mapping[str, Any], n: int, fx: Place) -> None:
    """One of the tool calls that it tells of."""
    status: Status = said["status"] if said.get("status") in get_args(Status) else "ok"
    tool, result = str(said.get("tool", "")), said.get("result")
    fx.emit(ToolCalled(f"told[{n}]", tool, status))
    content = result if isinstance(result, str) else json.dumps(result, default=str) if "result" in said else ""
    fx.items.append(Observation(f"told[{n}]", tool, status, content, result, said.get("args")))


def compiled(
    name: str, kind: str, function: Callable[..., Any], inputs: Iterable[str], timeout: float | None
) -> Compiled:
    """A program as something that runs like a workflow. `inputs` are the task columns that it is given."""
    any_json = parse_type({column: {"json_schema": {}} for column in inputs})
    tool = Tool(NAME, "", {"type": "object"}, function, accepted, timeout=timeout or TIMEOUT, max_failures=None)
    return Compiled(name, kind, Program(kind), Limits(), Toolbox([tool]), {}, any_json)


def accepted(arguments: dict[str, Any]) -> Accepted:
    return Accepted(arguments, {"task": arguments})


def program_inputs(types: Iterable[Type], columns: Iterable[str]) -> list[str]:
    """What a program is given of a task: what the workflows take, or every column where there is no workflow."""
    taken = {name: None for type in types for name in type.schema.get("properties", {})}
    return list(taken) or sorted(columns)


# -- a Python function ------------------------------------------------------------------------------------------------


def fitted(function: Callable[..., Any], columns: Sequence[str]) -> tuple[list[str], Callable[..., Any]]:
    """The columns that a function is given, and the function as it is called with them: by name, or, where its only
    parameter is no column, all of them as one dict. Raises ValueError where it needs what no task has."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ValueError("is not a function") from None
    open = any(one.kind is one.VAR_KEYWORD for one in parameters)
    named = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    if len(parameters) == 1 and named and named[0].name not in columns:
        return list(columns), called_with(function, whole=True)
    if lacking := [one.name for one in named if one.default is one.empty and one.name not in columns]:
        raise ValueError(f"needs {lacking[0]!r}, which is no input of the tasks")
    taken = list(columns) if open else [one.name for one in named if one.name in columns]
    return taken, called_with(function, whole=False)


HINTS: Mapping[Any, str] = {int: "int", float: "float", bool: "bool", str: "str"}


def hinted(function: Callable[..., Any], taken: Sequence[str]) -> Type:
    """What the hints of a function say that the columns are that it takes, where these are plain: cells of a CSV file
    are texts. An empty one will do for what has a default."""
    try:
        hints = get_type_hints(function)
    except Exception:  # a name that is not there: no fault of a function that can be called
        hints = {}
    plain = {name: next((HINTS[one] for one in HINTS if one is hints.get(name)), "") for name in taken}
    parameters = inspect.signature(function).parameters
    free = {name for name, one in parameters.items() if one.default is not one.empty}
    return parse_type({name: word + " | None" * (name in free) for name, word in plain.items() if word})


def called_with(function: Callable[..., Any], whole: bool) -> Callable[..., Any]:
    if not any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
        return lambda task: function(task) if whole else function(**task)

    async def awaited(task: dict[str, Any]) -> Any:
        return await (function(task) if whole else function(**task))

    return awaited


# -- a command --------------------------------------------------------------------------------------------------------


def command(words: list[str], folder: Path) -> Callable[..., Any]:
    """Runs a command in the comparison's folder. It is killed with all that it started when its time is over."""

    async def run(task: dict[str, Any]) -> Any:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = await said(process, json.dumps(task, default=str).encode())
        finally:
            await killed(process)
        if len(out) > MOST_OUTPUT:
            raise RuntimeError(f"{words[0]} wrote more than {MOST_OUTPUT >> 20} MiB")
        if process.returncode:
            raise RuntimeError(f"{words[0]} ended with status {process.returncode}: {tail(err)}")
        return read(out)

    return run


async def said(process: asyncio.subprocess.Process, task: bytes) -> tuple[bytes, bytes]:
    """What a process wrote to its standard output until it ended, or wrote too much, and its last complaint."""
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None
    async with asyncio.TaskGroup() as group:
        group.create_task(given(stdin, task))
        complaint = group.create_task(last(stderr))
        out = await upto(stdout, MOST_OUTPUT + 1)
        if len(out) > MOST_OUTPUT:
            await killed(process)
        await process.wait()
    return out, complaint.result()


async def given(pipe: asyncio.StreamWriter, task: bytes) -> None:
    """Write the task; a program need not read it."""
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(task)
        await pipe.drain()
    pipe.close()


async def upto(pipe: asyncio.StreamReader, most: int) -> bytes:
    """All that comes, or so many bytes of it."""
    parts, left = list[bytes](), most
    while left and (part := await pipe.read(min(left, CHUNK))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


async def last(pipe: asyncio.StreamReader) -> bytes:
    """The end of all that comes; nothing before it is held."""
    end = b""
    while part := await pipe.read(CHUNK):
        end = (end + part)[-CHUNK:]
    return end


async def killed(process: asyncio.subprocess.Process) -> None:
    """End the process and its group, what it left behind included."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # To wait for a process is to wait for its pipes: nobody reads them any more, and a child that left the group may
    # hold them open. There is no public way to close them.
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()


def read(out: bytes) -> Any:
    """JSON, or the text that it wrote."""
    text = out.decode("utf-8", "replace").strip()
    try:
        return json_of(text, parse_constant=str)
    except ValueError:
        return text or None


def tail(err: bytes) -> str:
    """The last line of its complaint."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:400] if lines else "it said nothing"
