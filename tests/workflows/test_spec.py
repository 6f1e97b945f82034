"""Forms: every key of the language loads and is checked; one mistake is one fault at its place."""

from pathlib import Path

import pytest

from loopworth.comparisons.spec import Comparison, Decide
from loopworth.workflows import spec
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import parse
from loopworth.workflows.load import load

HERE = Path(__file__).parent / "yaml"


def built(form, text):
    """A form from a text, and what is reported of it: `line:column what; instead`."""
    builder = Builder(parse(text, "f"))
    made = builder.form(form, builder.document.value)
    return made, [f"{fault.line}:{fault.column} {fault.what}; {fault.instead}" for fault in builder.faults]


STEP = "ask: x\n"
LOOP = "workflow: w\nshape: open_loop\nprompt: x\n"


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        (spec.Step, "asks: x", "1:1 unknown key 'asks' in a step; did you mean 'ask'?"),
        (spec.Step, STEP + "instructions: x", "2:1 unknown key 'instructions' in a step; it stands in a workflow"),
        (spec.Step, STEP + "instrutions: x", "2:1 unknown key 'instrutions' in a step; did you mean 'instructions'?"),
        (spec.Step, STEP + "name: a", "2:1 unknown key 'name' in a step; did you mean 'id'?"),
        (spec.Step, STEP + "depends_on: a", "2:1 unknown key 'depends_on' in a step; a step waits for the steps that"),
        (spec.Step, STEP + "max_turns: 1", "2:1 unknown key 'max_turns' in a step; keys: ask, at_least, by, call,"),
        (spec.Tool, "python: a:b\nenv: X", "2:1 unknown key 'env' in a tool; a secret is bound to an argument: write"),
        (spec.Step, STEP + "id: Draft 1", "2:5 'Draft 1' is not a name for an input, a step"),
        (spec.Step, STEP + "on_error: skp", "2:11 `on_error` cannot be 'skp'; did you mean 'skip'?"),
        (spec.Step, STEP + "set: y", "2:1 two verbs in one step: 'ask' and 'set'"),
        (spec.Step, STEP + "with: {a: 1}", "2:1 `with` belongs to `call` and `run`, and this step is `ask`"),
        (spec.Step, "id: a", "1:1 no verb in a step; one of ask, choose, call, set, check, run"),
        (spec.Step, "choose: x", "1:1 `choose` needs `from`"),
        (spec.Step, "choose: x\nfrom: [a, B]", "2:11 'B' is not a name for a label"),
        (
            spec.Step,
            STEP + "id: a | b",
            "2:5 'a | b' is not a name for an input, a step, a tool or an arm: [a-z][a-z0-9_]*; write 'a_b'",
        ),
        (spec.Step, STEP + "timeout: 5 | 6", "2:10 '5 | 6' is not a duration; write 500ms, 5s, 2m or 24h"),
        (spec.Step, "call:", "1:1 `call` has no value; write a text, or leave the key out"),
        (spec.Step, "call: [a]", "1:7 `call` must be a text, and this is a list"),
        (spec.Step, "ask: Ticket #5", "1:6 the text ends at #; put it in quotes"),
        (spec.Step, "ask: {file: 5, x: 1}", "1:16 unknown key 'x' in a `{file: …}`"),
        (spec.Step, "ask: x\nretry: {attempts: 0}", "2:19 `attempts` must be at least 1, and this is 0"),
        (spec.Step, "ask: x\nretry: 3", "2:8 `retry` must be {attempts: …, wait: …}, and this is 3; write {"),
        (spec.Budget, "turns: true", "1:8 `turns` must be a whole number, or none, and this is true"),
        (spec.Budget, "turns: '5'", "1:8 `turns` must be a whole number, or none, and this is the text '5'"),
        (spec.Budget, "tokens: 5.0", "1:9 `tokens` must be a whole number, and this is 5.0"),
        (spec.Budget, "time: '60'", "1:7 '60' is not a duration; write 60s"),
        (spec.Budget, "time: 60", "1:7 '60' is not a duration; write 60s"),
        (spec.Budget, "time: soon", "1:7 'soon' is not a duration; write 500ms, 5s, 2m or 24h"),
        (spec.Budget, "time: 0s", "1:7 a duration must be more than 0"),
        (spec.Budget, "usd: -1", "1:6 `usd` must be at least 0, and this is -1"),
        (spec.Budget, "usd: lots", "1:6 `usd` must be a number, and this is the text 'lots'"),
        (spec.ModelForm, "name: a/b\napi_key: sk-1", "2:10 `api_key` must be {env: …}, and this is the text 'sk-1'"),
        (spec.OpenLoop, LOOP + "parallel: yes", "4:11 `parallel` must be true or false, and this is the text 'yes'"),
        (spec.OpenLoop, LOOP + "finish: sumbit", "4:9 `finish` cannot be 'sumbit'; did you mean 'submit'?"),
        (spec.OpenLoop, LOOP + "else: x", "4:1 `else` without `check`"),
        (spec.OpenLoop, LOOP + "steps: []", "4:1 unknown key 'steps' in an open_loop; it stands in a pipeline"),
        (spec.OpenLoop, LOOP + "gate: {a: requird}", "4:11 `a` cannot be 'requird'; did you mean 'required'?"),
        (spec.OpenLoop, "workflow: w\nshape: open_loop", "1:1 'prompt' is missing in an open_loop"),
    ],
)
def test_one_mistake_is_one_fault_at_its_place(form, text, said):
    """Each is told in words of the language, with the nearest right one."""
    _, faults = built(form, text)
    assert len(faults) == 1, faults
    assert faults[0].startswith(said)


@pytest.mark.parametrize(
    ("form", "text", "instead"),
    [
        (spec.Step, "ask: x\nrepeat: 3", "write {times: 3}"),
        (spec.Step, "ask: x\nrepeat: true", ""),
        (spec.OpenLoop, LOOP + "compact: 9000", "write {above: 9000}"),
        (spec.OpenLoop, "workflow: w\nshape: open_loop\nprompt: x\nbudget: 5", "write {turns: 5}"),
        (spec.Tool, "python: a:b\neffect: read\napproval: true", "write required"),
        (spec.Tool, "python: a:b\neffect: read\napproval: [a]", ""),
        (Comparison, "comparison: c\ntasks: t.jsonl\narms: {a: a.yaml}", "write {workflow: a.yaml}"),
    ],
)
def test_a_value_alone_is_told_the_key_that_it_is_meant_for(form, text, instead):
    """Where a mapping stands, its first key takes what stands alone; the one word for `true` is that word."""
    builder = Builder(parse(text, "f"))
    builder.form(form, builder.document.value)
    assert [fault.instead for fault in builder.faults] == [instead]


@pytest.mark.parametrize(
    ("form", "text", "instead"),
    [
        (spec.OpenLoop, LOOP + "use: find", "write [find]"),
        (spec.OpenLoop, LOOP + "input: str", "write {<name>: str}"),
        (spec.OpenLoop, LOOP + "input: [text]", "write `name: …` for each, without the `- `"),
        (spec.OpenLoop, LOOP + "gate: required", "write {<name>: required}"),
        (spec.OpenLoop, LOOP + "guard: {on: answer, if: x}", "begin each with `- `"),
        (spec.OpenLoop, LOOP + "parallel: yes", "write true"),
        (spec.Pipeline, "workflow: w\nshape: pipeline\nanswer: x\nsteps: {a: {set: 1}}", "begin each with `- `"),
        (spec.Pipeline, "workflow: w\nshape: pipeline\nanswer: x\nsteps: ask", "begin each with `- `"),
        (spec.Step, "call: x\nwith: [a]", "write `name: value` in it"),
        (spec.Budget, "turns: '5'", "write 5"),
        (spec.Budget, "turns: 50%", ""),
        (spec.Budget, "usd: $5", "write 5"),
        (spec.Budget, "usd: '1,000.5'", "write 1000.5"),
        (Decide, "min_gain: 10%", "write 0.10"),
        (Decide, "min_gain: .1", "write 0.1"),
        (Decide, "min_gain: 0,10", ""),
    ],
)
def test_a_value_of_another_kind_is_told_how_it_is_written(form, text, instead):
    """As a number, in a list, or under a name; what it would be guesswork to write is left to its author."""
    builder = Builder(parse(text, "f"))
    builder.form(form, builder.document.value)
    assert [fault.instead for fault in builder.faults] == [instead]


def test_a_key_that_has_to_be_there_is_not_to_be_left_out():
    """Leaving it out would be the next fault."""
    _, faults = built(spec.OpenLoop, "workflow:\nshape: open_loop\nprompt:\nbudget: {turns: 4}\n")
    assert [fault.partition("; ")[2] for fault in faults] == ["write a text", "write a text, or {file: …}, or a list"]


def test_a_misspelt_key_counts_as_the_one_that_was_meant():
    """What stands under it is still read and checked."""
    made, faults = built(spec.Budget, "truns: 5\ntime: x\n")
    assert made.turns == 5
    assert [fault.split(" ")[0] for fault in faults] == ["1:1", "2:7"]
    assert made.at("turns").fault("x").line == 1


def test_what_is_faulty_is_left_at_its_default():
    """A spec can be checked further whatever was wrong with the file."""
    made, faults = built(spec.Pipeline, "workflow: w\nshape: pipeline\nbudget: 5\ninput: [a]\n")
    assert (made.steps, made.answer, made.budget, made.input) == ([], None, None, {})
    assert not made.sound("budget")
    assert len(faults) == 4


@pytest.mark.parametrize(("written", "seconds"), [("500ms", 0.5), ("5s", 5), ("2m", 120), ("1.5s", 1.5)])
def test_a_duration_is_in_seconds(written, seconds):
    """Four units, and fractions of them."""
    assert built(spec.Budget, f"time: {written}")[0].time == seconds


def test_a_scalar_in_a_text_field_keeps_its_spelling():
    """Labels yes and no, a model called 3.10, and a true that is a text."""
    made, _ = built(spec.Step, "choose: 3.10\nfrom: [yes, no, true, null-value]\n")
    assert (made.choose, made.from_) == ("3.10", ["yes", "no", "true", "null-value"])
    assert built(spec.ModelForm, "name: 007")[0].name == "007"


def test_every_part_knows_its_file_and_its_place():
    """Also what a later entry of `tools` overrides, and a prompt in a file of its own."""
    files = load(HERE / "pipeline.yaml").sound()
    tool = files.tools(files.main)["lookup"]
    assert (tool.timeout, tool.returns.max_chars) == (20, 400)
    assert tool.at("timeout").fault("x").file.endswith("pipeline.yaml")
    assert tool.at("python").fault("x").file.endswith("tools.yaml")
    assert tool.path("python").parent == HERE
    assert "about {{ question }}" in spec.prompt(files.main.instructions)


def test_a_prompt_is_a_text_or_messages_stripped_at_its_ends():
    """All three spellings come to what `template` takes."""
    text, _ = built(spec.Step, "ask: |\n  a\n  b\n\n")
    chat, _ = built(spec.Step, "ask:\n- {role: system, content: ' a '}\n- {role: user, content: [b]}\n")
    assert spec.prompt(text.ask) == "a\nb"
    assert spec.prompt(chat.ask) == [{"role": "system", "content": "a"}, {"role": "user", "content": ["b"]}]


def test_every_file_is_read_once_and_all_their_faults_are_told(tmp_path):
    """A workflow, its catalogue and what it runs: one list, in order."""
    for name in ("a", "b"):
        text = f"workflow: {name}\nshape: pipeline\nsteps:\n  - run: c.yaml\ntools: t.yaml\nanswer: 1\nx: 1\n"
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    (tmp_path / "c.yaml").write_text("workflow: c\nshape: pipelin\nsteps: [{set: 1}]\nanswer: 1\n", "utf-8")
    (tmp_path / "t.yaml").write_text("tools: {f: {effect: reed}}\n", "utf-8")
    files = load(tmp_path / "a.yaml", tmp_path / "b.yaml")
    places = [(Path(fault.file).name, fault.line) for fault in files.faults]
    assert sorted(set(places)) == [("a.yaml", 7), ("b.yaml", 7), ("c.yaml", 2), ("t.yaml", 1)]
    assert len(places) == len(set(files.faults))
    assert len(files.workflows) == 3


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("{lookup: {effect: read}}", "`effect` of 'lookup' is write"),
        ("{lookup: {allow: {code: [a, b]}}}", "this allows more for 'code'"),
        ("{lookup: {allow: {code: {pattern: a}}}}", "another pattern may allow more for 'code'"),
        ("{lookup: {approval: {if: args.code}}}", "`approval` of 'lookup' may only be tightened"),
        ("{lookup: {effect: irreversible, allow: {code: [a]}, timeout: 1s}}", None),
    ],
)
def test_an_override_may_only_tighten_what_guards_a_tool(tmp_path, tools, said):
    """effect, approval and allow; the rest is free."""
    (tmp_path / "f.py").write_text("def lookup(code: str) -> str:\n    return code\n", "utf-8")
    (tmp_path / "t.yaml").write_text(
        'tools:\n  lookup: {python: "f:lookup", effect: write, approval: required, allow: {code: [a]}}\n', "utf-8"
    )
    text = f"workflow: a\nshape: pipeline\nsteps: [{{set: 1}}]\nanswer: 1\ntools: [t.yaml, {tools}]\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    found = [fault.what for fault in load(tmp_path / "a.yaml").faults if fault.line == 5]
    assert [said in what for what in found] == ([True] if said else [])


@pytest.mark.parametrize(
    ("below", "above", "tighter"),
    [
        ("[1, 2]", "[2]", True),
        ("[1]", "[1.0]", True),
        ("[1]", "[true]", False),
        ("[1]", "['1']", False),
        ("{pattern: '[a-z]+'}", "[pay]", True),
        ("{pattern: 'True|None'}", "[true, null]", False),
        ("{pattern: 'true|null'}", "[true, null]", True),
        ("{pattern: '[0-9]+'}", "[10]", True),
        ("{pattern: '\\d+'}", "['\u0663']", False),
        ("{pattern: '(a+)+b'}", f"[{'a' * 5000}]", False),
    ],
)
def test_an_override_of_values_is_held_to_what_a_call_would_be(tmp_path, below, above, tighter):
    """One is tighter where each value would have passed the list or the pattern below it."""
    (tmp_path / "f.py").write_text("from typing import Any\ndef f(code: Any) -> str:\n    return code\n", "utf-8")
    tools = f"[{{f: {{python: 'f:f', effect: read, allow: {{code: {below}}}}}}}, {{f: {{allow: {{code: {above}}}}}}}]"
    text = f"workflow: a\nshape: pipeline\nsteps: [{{set: 1}}]\nanswer: 1\ntools: {tools}\n"
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    assert [fault.what for fault in load(tmp_path / "a.yaml").faults if "tightened" in fault.what] == (
        [] if tighter else ["`allow` of 'f' may only be tightened, and this allows more for 'code'"]
    )


@pytest.mark.parametrize(("text", "says"), [("99999999h", "at most 876000h"), ("0s", "more than 0")])
def test_a_duration_is_one_that_a_calendar_can_add(text, says):
    """A question that expires has a date."""
    with pytest.raises(ValueError, match=says):
        spec.seconds(text)
    assert spec.seconds("876000h") == 876_000 * 3600
