"""`loopworth check`, `loopworth draw` and `loopworth schema`."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.kit import HELLO, command, written
from tests.cli.test_comparisons import doubles

MISSPELT = HELLO.replace("shape:", "shap:").replace("{{ question }}", "{{ questio }}")


def test_check_reports_every_fault_of_every_file(tmp_path: pathlib.Path) -> None:
    """All files, all faults, each with its line, column and what to write instead; status 2."""
    written(tmp_path, good=HELLO, one=MISSPELT, two=HELLO.replace("answer:", "anser:"))
    done = command("check", tmp_path / "good.yaml", tmp_path / "one.yaml", tmp_path / "two.yaml")
    assert done.exit_code == 2
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [head.partition("  ")[0] for head in heads] == [
        f"{tmp_path}/one.yaml:2:1",
        f"{tmp_path}/one.yaml:7:14",
        f"{tmp_path}/two.yaml:8:1",
    ]
    assert "did you mean 'shape'?" in done.stdout
    assert "3 faults in 2 files" in done.stderr


def test_check_of_sound_files_says_so(tmp_path: pathlib.Path) -> None:
    """A folder means the YAML files below it; hidden folders, such as an environment's, are left out."""
    written(tmp_path, good=HELLO)
    (tmp_path / ".venv").mkdir()
    written(tmp_path / ".venv", foreign="a: 1")
    done = command("check", tmp_path)
    assert (done.exit_code, done.stdout) == (0, "no faults in 1 file\n")


LOOP = """\
workflow: asks
shape: constrained_loop
input: {question: str}
model: {name: scripted, replies: []}
tools:
  mute: {python: "own:mute", effect: read}
  told: {python: "own:told", effect: read}
  said: {python: "own:mute", effect: read, description: Look it up.}
  deep: {run: deep.yaml, effect: read}
  other: {python: "own:mute", effect: read}
use: [mute, told, said, deep]
prompt: "{{ question }}"
budget: {turns: 3}
"""
DEEP = "workflow: deep\nshape: pipeline\nsteps: [{id: one, set: 1}]\nanswer: 1\n"
OWN = 'def mute(word: str) -> str: ...\n\n\ndef told(word: str) -> str:\n    """Look it up."""\n'


def test_check_notes_a_tool_that_tells_its_model_nothing(tmp_path: pathlib.Path) -> None:
    """It is no fault: the status is 0, and a tool that no loop may call needs to say nothing."""
    written(tmp_path, loop=LOOP, deep=DEEP)
    (tmp_path / "own.py").write_text(OWN, "utf-8")
    done = command("check", tmp_path / "loop.yaml")
    assert (done.exit_code, done.stdout) == (0, "no faults in 1 file and the 1 that it names\n")
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert [note.partition("  ")[0] for note in notes] == [
        f"note: {tmp_path}/loop.yaml:6:18",
        f"note: {tmp_path}/loop.yaml:9:15",
    ]
    assert "the tool 'mute', and nothing of what it does" in notes[0]
    (tmp_path / "loop.yaml").write_text(LOOP.replace("{{ question }}", "{question}"), "utf-8")
    again = command("check", tmp_path / "loop.yaml")
    assert (again.exit_code, "`{question}` is a text here: nothing is filled in" in again.stderr) == (0, True)
    assert "write a docstring, or a `description` here" in done.stderr
    assert "give the workflow a `description`" in done.stderr
    assert command("check", tmp_path / "deep.yaml").stderr == ""


def test_check_says_how_many_files_it_read(tmp_path: pathlib.Path) -> None:
    """Those that were named, and the arms, catalogues, prompts and tasks that these name, each once."""
    file = doubles(tmp_path)
    assert command("check", file).stdout == "no faults in 1 file and the 3 that it names\n"
    every = command("check", file, tmp_path / "guess.yaml").stdout
    assert every == "no faults in 2 files and the 2 that they name\n"


def test_check_as_json(tmp_path: pathlib.Path) -> None:
    """Standard output is one JSON list, for editors and scripts."""
    written(tmp_path, one=MISSPELT)
    done = command("check", "--json", tmp_path / "one.yaml")
    faults = json.loads(done.stdout)
    assert (done.exit_code, [fault["line"] for fault in faults]) == (2, [2, 7])
    assert set(faults[0]) == {"file", "line", "column", "what", "instead"}


@pytest.mark.parametrize("words", [("draw", "good.yaml"), ("schema",)])
def test_a_file_that_cannot_be_written_is_named(tmp_path: pathlib.Path, words: tuple[str, ...]) -> None:
    """Which file, and why, in words; status 3."""
    written(tmp_path, good=HELLO)
    command_words = [tmp_path / word if word.endswith(".yaml") else word for word in words]
    done = command(*command_words, "-o", tmp_path / "no" / "x")
    assert done.exit_code == 3
    assert done.stderr == f"--output {tmp_path}/no/x: cannot be written: No such file or directory\n"


def test_check_of_what_is_not_there(tmp_path: pathlib.Path) -> None:
    """A missing file and a folder without YAML are told, not raised."""
    missing, empty = command("check", tmp_path / "nowhere.yaml"), command("check", tmp_path)
    assert (missing.exit_code, empty.exit_code) == (2, 2)
    assert "cannot be read: No such file" in missing.stdout
    assert "there is no YAML file in this folder" in empty.stderr


def test_a_misspelt_file_names_its_neighbour(tmp_path: pathlib.Path) -> None:
    """What to write instead is said of a file on the command line as of one in a file; and of another kind of file."""
    (tmp_path / "agent.yaml").write_text("comparison: which\n", "utf-8")
    for words in (("check",), ("run",), ("draw",), ("compare",)):
        done = command(*words, tmp_path / "agnt.yaml")
        assert done.exit_code == 2
        assert f"did you mean '{tmp_path}/agent.yaml'?" in done.output
    other = command("check", tmp_path / "gone" / "agent.yaml")
    assert f"there is no folder '{tmp_path}/gone'" in other.output
    (tmp_path / "tools.yaml").write_text("tools: {}\n", "utf-8")
    assert "a workflow starts with `workflow: …`" in command("run", tmp_path / "tools.yaml").output


def test_a_file_name_cannot_reach_the_terminal_raw(tmp_path: pathlib.Path) -> None:
    """Names of files are data too."""
    (tmp_path / "a\x1b[2Jb.yaml").write_text("x", "utf-8")
    done = command("check", tmp_path)
    assert "\x1b" not in done.output
    assert "a\\x1b[2Jb.yaml:1:1" in done.stdout


def test_schema_is_json_on_standard_output_or_in_a_file(tmp_path: pathlib.Path) -> None:
    """`loopworth schema` prints what `-o` writes."""
    printed, kept = command("schema"), command("schema", "-o", tmp_path / "schema.json")
    assert (printed.exit_code, kept.exit_code, kept.stdout) == (0, 0, "")
    assert json.loads(printed.stdout) == json.loads((tmp_path / "schema.json").read_text("utf-8"))


def test_a_schema_that_cannot_be_written_is_no_traceback(tmp_path: pathlib.Path) -> None:
    """A disk that refuses is the outside world: status 3."""
    done = command("schema", "-o", tmp_path / "nowhere" / "schema.json")
    assert done.exit_code == 3
    assert "No such file or directory" in done.stderr


def test_draw_prints_a_flowchart_or_writes_it(tmp_path: pathlib.Path) -> None:
    """Mermaid on standard output, or in a file; a faulty file is not drawn."""
    written(tmp_path, good=HELLO, bad=MISSPELT)
    done = command("draw", tmp_path / "good.yaml")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "flowchart TD")
    assert command("draw", tmp_path / "good.yaml", "-o", tmp_path / "good.mmd").exit_code == 0
    assert (tmp_path / "good.mmd").read_text("utf-8") == done.stdout
    assert command("draw", tmp_path / "bad.yaml").exit_code == 2
