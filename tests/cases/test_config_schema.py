"""The handed cases of kind config-schema: a misspelt key or a wrong kind of value is told before anything runs."""

import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth import check
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import parse
from loopworth.workflows.spec import Pipeline

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("config-schema.yaml").read_text("utf-8"))["cases"]
LOOP = "workflow: w\nshape: open_loop\nmodel: ollama/m\nprompt: hi\n"


def reported(folder, text):
    """Line, column and words of each fault of a file."""
    path = folder / "w.yaml"
    path.write_text(text, "utf-8")
    return [(fault.line, fault.column, f"{fault.what}; {fault.instead}") for fault in check(path)]


def budget(given, **words):
    """The snippet's `limits` in this language's words, at the end of a loop: the block is line 5."""
    text = given.replace("limits:", "budget:")
    for theirs, ours in words.items():
        text = text.replace(theirs, ours)
    return LOOP + text


def the_key_its_line_and_the_nearest_are_named(given, folder):
    """In a step, where it does not stand, and in the workflow, where it does."""
    line = next(number for number, text in enumerate(given.splitlines(), 1) if "instrutions" in text)
    builder = Builder(parse(given, "f"))
    builder.form(Pipeline, builder.document.value)
    in_step = [
        (fault.line, f"{fault.what}; {fault.instead}") for fault in builder.faults if "instrutions" in fault.what
    ]
    assert [(at, "'instructions'" in words) for at, words in in_step] == [(line, True)]
    found = reported(folder, "instrutions: be brief\n" + LOOP + "budget: {turns: 1}\n")
    assert found == [(1, 1, "unknown key 'instrutions' in an open_loop; did you mean 'instructions'?")]


def a_misspelt_limit_starts_nothing(given, folder):
    """The key is a fault, whether the nearest word is known or not; and a loop without turns is one of its own."""
    found = reported(folder, budget(given, max_stpes="truns"))
    assert (6, 3, "unknown key 'truns' in `budget`; did you mean 'turns'?") in found
    found = reported(folder, budget(given))
    assert any(line == 6 and "unknown key 'max_stpes'" in words for line, _, words in found)
    assert any("a loop needs a limit of its turns" in words for _, _, words in found)


def true_and_a_text_are_no_numbers(given, folder):
    """true is refused for a number; a quoted number is refused as well, and the words say what to write."""
    found = reported(folder, budget(given, max_steps="turns", max_seconds="time"))
    assert found == [
        (6, 10, "`turns` must be a whole number, or none, and this is true; "),
        (7, 9, "'60' is not a duration; write 60s"),
    ]


HOLDS = {
    "CS-01": the_key_its_line_and_the_nearest_are_named,
    "CS-03": a_misspelt_limit_starts_nothing,
    "CS-05": true_and_a_text_are_no_numbers,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case, tmp_path):
    """The one line of `expect` holds of what is given."""
    assert len(case["expect"]) == 1
    HOLDS[case["id"]](case["given"]["workflow_yaml"], tmp_path)
