"""A toolbox: tools by name, and the way in to the layer."""

import subprocess
import sys

import pytest

from loopworth.runs.decision import Decision
from loopworth.runs.message import ToolCall
from loopworth.runs.observation import Observation
from loopworth.tools.gate import Gate
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox, unknown
from tests.tools.kit import deciding, invoke, place

DONE = []


def read_file(path: str) -> str:
    """Read a file."""
    DONE.append(path)
    return path


def run_command(command: str) -> str:
    """Run a command."""
    DONE.append(command)
    return command


READ = python_tool("read_file", read_file, effect="read", inline=True, max_failures=None)
RUN = python_tool("run_command", run_command, effect="write", inline=True, allow={"command": ["ls"]})
BOX = Toolbox([RUN, READ])


def test_a_toolbox_is_a_mapping():
    """From tools or from a mapping of them."""
    assert list(BOX) == ["run_command", "read_file"]
    assert dict(Toolbox(dict(BOX))) == dict(BOX)
    assert BOX.allowed_failures() == {"run_command": 3, "read_file": None}


def test_the_wires_are_what_a_model_is_told():
    """All, or the named ones in their order."""
    assert [wire["function"]["name"] for wire in BOX.wires()] == ["run_command", "read_file"]
    assert BOX.wires(["read_file"]) == (READ.wire,)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("shell_exec", "there is no tool 'shell_exec'; the tools are run_command, read_file"),
        ("Read_File", "there is no tool 'Read_File'; did you mean read_file? the tools are run_command, read_file"),
        ("a\n\x1b[2J", r"there is no tool 'a\n\x1b[2J'; the tools are run_command, read_file"),
        ("", "there is no tool ''; the tools are run_command, read_file"),
    ],
)
def test_an_unknown_tool_is_answered_with_what_there_is(name, content):
    """It is never run under another name than the model wrote."""
    assert unknown(name, BOX) == content
    assert BOX.faulty(ToolCall("c", name)) == Observation("c", name, "unknown_tool", content)
    assert unknown("x", []) == "there is no tool 'x': there are none here"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (ToolCall("c", "run_command", '{"command": "ls"}'), None),
        (ToolCall("c", "run_command", '{"command": "rm"}'), 'command must be one of "ls"; "rm" is not allowed'),
        (ToolCall("c", "run_command", '{"command": '), "the object does not end"),
        (ToolCall("c", "run_command", {}), "command is missing"),
    ],
)
def test_a_call_that_would_be_refused_is_known_before_it_runs(call, why):
    """For a loop that takes a whole turn back; it touches nothing."""
    DONE.clear()
    said = BOX.faulty(call)
    assert said is why or why in said.content
    assert DONE == []


def test_a_workflows_gate_is_added_and_the_tool_stays_as_it_was():
    """The view is gated, the catalogue is not; a gate of the tool's own stays."""
    ask, asked = deciding(Decision("reject"))
    own, more = Gate(ask=lambda _: "Run it?"), Gate(ask=lambda _: "Sure?")
    gated = BOX.gated({"run_command": own}).gated({"run_command": more})
    assert invoke(gated["run_command"], {"command": "ls"}, fx=place(ask=ask)).status == "rejected"
    assert [question.text for _, question in asked] == ["Run it?\nSure?"]
    assert invoke(BOX["run_command"], {"command": "ls"}, fx=place(ask=ask)).status == "ok"


def test_of_a_toolbox_with_some_tools_the_others_do_not_exist():
    """What a loop may use is all it can call."""
    assert list(BOX.only(["read_file"])) == ["read_file"]
    assert "run_command" not in BOX.only(["read_file"]).faulty(ToolCall("c", "run_command")).content[30:]


def test_the_layer_itself_loads_no_pydantic():
    """Only a schema made from hints needs it, so a start without tools stays quick."""
    code = "import sys, loopworth.tools.toolbox; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
