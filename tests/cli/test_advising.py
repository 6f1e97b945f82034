"""`loopworth advise` and `init`: questions, files, and what must not happen to files that are there."""

from __future__ import annotations

import json
import pathlib

from tests.cli.kit import Terminal, command

ANSWERS = "steps: unknown\ndepends: yes\npaths: few\nwrong_step: cheap\nundo: no\nname: returns\n"


def test_answers_in_a_file_become_files(tmp_path: pathlib.Path) -> None:
    """The rung, its reasons, files that pass check, and the command that decides."""
    (tmp_path / "answers.yaml").write_text(ANSWERS, "utf-8")
    done = command("advise", "--answers", tmp_path / "answers.yaml", "--to", tmp_path / "new")
    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.split())
    assert "start with gated_loop because the steps are not known" in shown
    assert f"decide loopworth compare {tmp_path / 'new' / 'comparison.yaml'}" in shown
    assert command("check", tmp_path / "new").exit_code == 0


def test_the_feature_has_the_name_of_its_folder(tmp_path: pathlib.Path) -> None:
    """As far as that makes one, and where no other is given; the command can be copied as it is."""
    folder = tmp_path / "Late orders"
    done = command("init", folder, "--model", "ollama/qwen3")
    assert f"loopworth compare '{folder / 'comparison.yaml'}'" in " ".join(done.stdout.split())
    assert "comparison: late_orders\n" in (folder / "comparison.yaml").read_text("utf-8")
    assert "model: ollama/qwen3\n" in (folder / "agent.yaml").read_text("utf-8")
    (tmp_path / "answers.yaml").write_text(ANSWERS.replace("name: returns\n", ""), "utf-8")
    assert command("advise", "--answers", tmp_path / "answers.yaml", "--to", tmp_path / "9").exit_code == 0
    assert "comparison: feature\n" in (tmp_path / "9" / "comparison.yaml").read_text("utf-8")


def test_a_name_or_a_model_that_can_be_none_is_said_before_anything_is_asked(tmp_path: pathlib.Path) -> None:
    """And beside a file of answers they are refused: it has a place for both."""
    terminal = Terminal("-m", "loopworth", "advise", "--to", str(tmp_path / "new"), "--model", "nonsense")
    assert terminal.close() == 2
    assert "--model nonsense: " in terminal.seen
    assert "write provider/model, such as ollama/nonsense" in terminal.seen
    misnamed = command("advise", "--name", "Foo Bar").stderr
    assert misnamed.startswith("--name 'Foo Bar': 'Foo Bar' is not a name")
    assert misnamed.endswith("write 'foo_bar'\n")
    assert "write the steps down" not in terminal.seen
    (tmp_path / "answers.yaml").write_text(ANSWERS, "utf-8")
    done = command("advise", "--answers", tmp_path / "answers.yaml", "--name", "other")
    assert (done.exit_code, "say `name` and `model` in this file" in done.stderr) == (2, True)


def test_starting_files_say_first_that_they_are_an_example(tmp_path: pathlib.Path) -> None:
    """A project about something else is told what to replace."""
    command("init", tmp_path / "billing")
    first = (tmp_path / "billing" / "comparison.yaml").read_text("utf-8")
    assert first.startswith("# An example, about orders that are late: put your own cases into tasks.jsonl")
    assert "for an example: orders" in (tmp_path / "billing" / "desk.py").read_text("utf-8").splitlines()[0]


def test_answers_in_a_file_are_written_nowhere_unless_a_folder_is_named(tmp_path: pathlib.Path) -> None:
    """What would be written is told, and with what option."""
    (tmp_path / "answers.yaml").write_text(ANSWERS, "utf-8")
    done = command("advise", "--answers", tmp_path / "answers.yaml")
    assert done.exit_code == 0
    assert "would be returns: desk.py" in " ".join(done.stdout.split())
    assert "nothing was written: add --to returns" in done.stderr
    assert json.loads(command("advise", "--answers", tmp_path / "answers.yaml", "--json").stdout)["written"] is False
    assert not pathlib.Path("returns").exists()


def test_what_is_proposed_is_also_json(tmp_path: pathlib.Path) -> None:
    (tmp_path / "answers.yaml").write_text(ANSWERS, "utf-8")
    done = command("advise", "--answers", tmp_path / "answers.yaml", "--to", tmp_path / "new", "--json")
    found = json.loads(done.stdout)
    assert (found["rung"], len(found["reasons"])) == ("gated_loop", 2)
    assert all(pathlib.Path(name).exists() for name in found["files"])


def test_nothing_is_overwritten(tmp_path: pathlib.Path) -> None:
    """One file in the way, and none is written; the folder's other files do not matter."""
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    (tmp_path / "tools.yaml").write_text("mine", "utf-8")
    done = command("init", tmp_path)
    assert (done.exit_code, "tools.yaml would be overwritten" in done.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "tools.yaml"]


def test_a_file_in_place_of_the_folder_is_the_outside_worlds(tmp_path: pathlib.Path) -> None:
    (tmp_path / "there").write_text("", "utf-8")
    assert command("init", tmp_path / "there").exit_code == 3


def test_init_is_advise_with_the_open_question(tmp_path: pathlib.Path) -> None:
    """A pipeline that holds the place, a bounded loop that must earn it; the pipeline runs without a model."""
    assert command("init", tmp_path / "new").exit_code == 0
    arms = (tmp_path / "new" / "comparison.yaml").read_text("utf-8")
    assert "pipeline: {workflow: pipeline.yaml}\n  agent: {workflow: agent.yaml}" in arms
    done = command("run", tmp_path / "new" / "pipeline.yaml", "-i", "case=Why is order A-102 late?", "--json")
    assert json.loads(done.stdout)["answer"] == "sold out"


def test_faulty_answers_are_shown_at_their_place(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(ANSWERS.replace("few", "several"), "utf-8")
    done = command("advise", "--answers", file, "--to", tmp_path / "new")
    assert done.exit_code == 2
    assert f"{file}:3:8  `paths` cannot be 'several'\n    it is one of: few, many, one" in done.stderr
    file.write_text("known\n", "utf-8")
    assert f"{file}:1:1  answers are a mapping" in command("advise", "--answers", file).stderr
    assert not (tmp_path / "new").exists()


def test_without_a_terminal_a_file_is_asked_for() -> None:
    """What to write into it is said."""
    done = command("advise")
    assert (done.exit_code, "wrong_step: cheap | expensive" in done.stderr) == (2, True)


def test_a_person_is_asked(tmp_path: pathlib.Path) -> None:
    """Words, or the beginning of one; anything else is asked again."""
    terminal = Terminal("-m", "loopworth", "advise", "--to", str(tmp_path / "new"))
    for asked, typed in (
        ("write the steps down", "unknown"),
        ("depend on", "y"),
        ("ways", "all"),
        ("few / many?", "f"),
    ):
        terminal.until(asked)
        terminal.type(f"{typed}\n")
    for asked, typed in (("wrong step cost", "cheap"), ("be undone", "yes")):
        terminal.until(asked)
        terminal.type(f"{typed}\n")
    assert terminal.close() == 0
    assert "'all' is none of them: type one of the words" in terminal.seen
    assert "constrained_loop" in terminal.seen
    assert (tmp_path / "new" / "agent.yaml").exists()
