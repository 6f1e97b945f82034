"""Whether a workflow hangs together: every fault is found before anything runs, at its place."""

import pytest

from loopworth.workflows.load import load
from loopworth.workflows.spec import SHAPES
from tests.workflows.written import TOOLS, faults, loop, steps

SKIPPED = ("- {id: a, if: late, set: 1}",)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["- {id: a, set: '{{ p }}'}"],
            "7:20 step 'a' reads 'p', which is no input and no step above; did you mean 'q'?",
        ),
        (
            ["- {id: a, set: '{{ b }}'}", "- {id: b, set: 1}"],
            "7:20 step 'a' reads 'b', which stands below it; move 'b' up",
        ),
        (["- {id: a, set: '{{ a }}'}"], "7:20 step 'a' reads 'a', which stands below it"),
        (
            ["- {set: '{{ item }}'}"],
            "7:13 step 1 reads 'item', which is no input and no step above; `item` is known under",
        ),
        (["- {set: 1, for_each: '{{ item }}'}"], "7:26 step 1 reads 'item'"),
        (
            ["- {check: answer}"],
            "7:11 step 1 reads 'answer', which is no input and no step above; `answer` is known in",
        ),
        (["- {if: q == null, set: 1}"], "7:13 step 1 reads 'null', which is no input and no step above; write `none`"),
        (["- ask: |", "    Say", "    {{ p }}"], "9:8 step 1 reads 'p'"),
        (["- {ask: [{role: user, content: '{{ p }}'}]}"], "7:36 step 1 reads 'p'"),
        (["- {set: '{{ q | uper }}'}"], "7:9 there is no filter 'uper'; did you mean 'upper'?"),
        (["- {set: '{{ q'}"], "7:9 `{{ q` is not a template"),
        (["- {if: 'q = 1', set: 1}"], "7:8 `q = 1`: one `=` compares nothing; write `==`"),
        (["- {if: 'q && late', set: 1}"], "7:8 `q && late` is not a template: "),
        (["- {if: 'len(q) > 2', set: 1}"], "7:8 there is no function 'len'; write `x | length`"),
        (["- {id: q, set: 1}"], "7:8 an input has the name 'q' already"),
        (["- {id: a, set: 1}", "- {id: a, set: 1}"], "8:8 a step above has the id 'a' already"),
        (["- {id: item, set: 1}"], "7:8 'item' cannot be the id of a step"),
        (["- {id: self, set: 1}"], "7:8 'self' cannot be the id of a step"),
        (["- {set: '{{ self }}'}"], "7:13 step 1 reads 'self', which is no input and no step above"),
        (["- {for_each: 5, set: 1}"], "7:14 `for_each` takes a list; write a list, or one `{{ … }}`"),
        (["- {for_each: 'a {{ q }}', set: 1}"], "7:14 `for_each` takes a list"),
        (["- {for_each: '{{ q }}', set: 1}"], "7:14 `for_each` takes a list"),
        ([*SKIPPED, "- {set: '{{ a + 1 }}'}"], "8:13 step 2 reads 'a', which may be skipped; write `a | default(…)`"),
        (
            ["- {id: a, for_each: [1], if: late, set: 1}", "- {set: '{{ a | sum }}'}"],
            "8:13 step 2 reads all of 'a', some items",
        ),
        (
            ["- {id: a, ask: x, output: {b: int}}", "- {set: '{{ a.c }}'}"],
            "8:13 step 2 reads 'c' of 'a', which has no such field",
        ),
        (
            ["- {id: a, set: {b: {c: 1}}}", "- {set: '{{ a.b.d }}'}"],
            "8:13 step 2 reads 'd' of 'a.b', which has no such field",
        ),
        (["- {ask: x, output: {b: string}}"], "7:24 'string' is not a type here; write `str`"),
        (["- {ask: x, model: olama/m}"], "7:19 unknown provider 'olama'; did you mean 'ollama'?"),
        (["- {call: lokup, with: {code: a}}"], "7:10 there is no tool 'lokup'; did you mean 'lookup'?"),
        (["- {call: lookup, with: {coed: a}}"], "7:25 the tool 'lookup' has no 'coed'; did you mean 'code'?"),
        (["- {call: lookup, with: {field: budget}}"], "7:18 the tool 'lookup' needs 'code'"),
        (["- {call: lookup}"], "7:10 the tool 'lookup' needs 'code'"),
        (["- {call: pay, with: {amount: much}}"], "7:30 amount"),
        (["- {call: lookup, with: {code: a, field: duration}}"], "7:41 field must be one of"),
        (["- {call: lookup, with: {code: '{{ p }}'}}"], "7:35 step 1 reads 'p'"),
        (["- {run: iner.yaml, with: {brief: a}}"], "7:9 there is no file"),
        (["- {run: tools.yaml, with: {brief: a}}"], "7:9 "),
        (["- {run: w.yaml, with: {q: a}}"], "7:9 'w.yaml' runs this workflow again, without end"),
        (
            ["- {run: inner.yaml, with: {breif: a}}"],
            "7:28 the workflow 'inner.yaml' has no 'breif'; did you mean 'brief'?",
        ),
        (["- {run: inner.yaml}"], "7:9 the workflow 'inner.yaml' needs 'brief'"),
        (["- {run: inner.yaml, with: {brief: a, size: b}}"], "7:44 size"),
        (["- {id: a, run: inner.yaml, with: {brief: a}}", "- {set: '{{ a.txt }}'}"], "8:13 step 2 reads 'txt' of 'a'"),
        (["- {choose: x, from: []}"], "7:15 `from` is empty"),
        (["- {choose: x, from: [a, a]}"], "7:25 the label 'a' is written twice"),
        (["- {ask: {file: no.md}}"], "7:16 there is no file"),
    ],
)
def test_a_step_that_does_not_hang_together_is_a_fault_at_its_place(tmp_path, lines, said):
    """Names, skipped values, tools, arguments, workflows, files."""
    found = faults(tmp_path, steps(*lines))
    assert [said in line for line in found] == [True], found


@pytest.mark.parametrize(
    "lines",
    [
        ["- {id: a, set: '{{ q }}'}", "- {id: b, for_each: ['{{ a }}'], if: index > 0, set: '{{ item }}'}"],
        [*SKIPPED, "- {set: '{{ a or 0 }}'}", "- {if: a, set: '{{ a + 1 }}'}", "- {if: late, set: '{{ a + 1 }}'}"],
        ["- {id: a, for_each: [1], if: late, set: 1}", "- {set: \"{{ a | select('defined') | sum }}\"}"],
        ["- {id: a, set: {b: 1}}", "- {set: '{{ a.b }}'}", "- {set: \"{{ a['b'] }}\"}", "- {set: '{{ q.upper() }}'}"],
        ["- {call: lookup, with: {code: 3.10}}", "- {call: pay, with: {amount: 5}}"],
        ["- {run: inner.yaml, with: {brief: 007, size: '{{ 1 }}'}}"],
        ["- {choose: x, from: {a: one, b: {description: two}, c: null-ish}}", "- {check: q, else: 'no {{ q }}'}"],
    ],
)
def test_what_hangs_together_is_no_fault(tmp_path, lines):
    """Guards, conditions that hold below, and numbers that are texts."""
    assert faults(tmp_path, steps(*lines)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (loop("open_loop"), "2:1 a loop needs a limit of its turns; write `budget: {turns: 10}`"),
        (loop("open_loop", "budget: {tokens: 5}"), "7:1 a loop needs a limit of its turns"),
        (loop("open_loop", "budget: {turns: none}"), "7:17 `turns: none` needs `time` or `tokens`"),
        (loop("open_loop", "budget: {turns: 1}", "use: [lookup]"), "8:1 an open_loop has the whole catalogue"),
        (
            loop("gated_loop", "budget: {turns: 1}", "use: [pay]"),
            "1:1 'gate' is missing in a gated_loop; write `gate: {pay: required}`",
        ),
        (loop("constrained_loop", "budget: {turns: 1}"), "1:1 'use' is missing in a constrained_loop"),
        (loop("constrained_loop", "budget: {turns: 1}", "use: []"), "8:1 `use` is empty"),
        (
            loop("constrained_loop", "budget: {turns: 1}", "use: [lookup, pya]"),
            "8:15 there is no tool 'pya'; did you mean",
        ),
        (loop("constrained_loop", "budget: {turns: 1}", "use: [pay, pay]"), "8:12 the tool 'pay' is named twice"),
        (
            loop("gated_loop", "budget: {turns: 1}"),
            "1:1 'gate' is missing in a gated_loop; write `gate: {send: required}`: the",
        ),
        (
            loop("gated_loop", "budget: {turns: 1}", "gate: {}"),
            "8:1 the gate of a gated_loop is empty; write `gate: {send:",
        ),
        (loop("open_loop", "budget: 6"), "7:9 `budget` must be "),
        (
            loop("gated_loop", "budget: {turns: 1}", "gate: {pya: required}"),
            "8:8 a gate over 'pya', which is no tool here",
        ),
        (loop("gated_loop", "budget: {turns: 1}", "gate: {pay: {if: arg.amount}}"), "8:18 the gate reads 'arg'"),
        (
            loop("gated_loop", "budget: {turns: 1}", "gate: {pay: {if: args.amuont}}"),
            "8:18 the gate reads 'amuont' of 'args'",
        ),
        (loop("open_loop", "budget: {turns: 1}", "check: calls and answr"), "8:18 `check` reads 'answr'"),
        (loop("open_loop", "budget: {turns: 1}", "instructions: '{{ p }}'"), "8:19 `instructions` reads 'p'"),
        (loop("open_loop", "budget: {turns: 1, usd: 1}"), "7:20 a limit in usd, and the price of ollama/m is unknown"),
        (
            loop("open_loop", "budget: {turns: 1}").replace("ollama/m", "local/smollm2-135m"),
            "4:8 local/smollm2-135m has no native",
        ),
        (loop("open_loop", "budget: {turns: 1}").replace("model: ollama/m\n", ""), "5:1 `prompt` needs a model"),
        (loop("open_loop", "budget: {turns: 1}").replace("{q: str}", "{q: strr}"), "3:12 'strr' is not a type"),
        (
            loop("open_loop", "budget: {turns: 1}").replace("{q: str}", "{q: str, args: str}"),
            "3:17 'args' cannot be the name",
        ),
        (loop("open_loop", "loopworth: 2", "budget: {turns: 1}"), "7:12 version 2 of the language is not known"),
    ],
)
def test_a_loop_that_does_not_hang_together_is_a_fault(tmp_path, text, said):
    """Limits, tools, gates, models, versions."""
    found = faults(tmp_path, text)
    assert [said in line for line in found] == [True], found


ROUTER = """workflow: w
shape: router
input: {q: str}
model: ollama/m
tools: tools.yaml
choose: "{{ q }}"
from:
  a: {if: "'x' in q", run: inner.yaml, with: {brief: x}}
  b: {description: "b", set: "{{ q }}"}
"""


def test_a_router_is_checked_as_its_routes_are(tmp_path):
    """Conditions, verbs, sub-workflows whose inputs are passed on by name."""
    assert faults(tmp_path, ROUTER) == []
    found = faults(tmp_path, ROUTER.replace("in q", "in p").replace(", with: {brief: x}", "").replace("set:", "ste:"))
    assert [line.split(" ")[0] for line in found] == ["8:19", "8:28", "9:25"]
    assert faults(tmp_path, ROUTER.replace("{q: str}", "{q: str, brief: str}").replace(", with: {brief: x}", "")) == []


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("f: {effect: read}", "2:3 the tool 'f' has no implementation"),
        ('f: {python: "functions:pay"}', "2:3 the tool 'f' has no `effect`"),
        ('f: {python: "functions:pya", effect: write}', "2:15 'functions' has no 'pya'; did you mean 'pay'?"),
        ('f: {python: "function:pay", effect: write}', "2:15 no file function.py beside the YAML"),
        ('f: {python: "functions:pay", effect: write, with: {amuont: 1}}', "2:54 `with` binds 'amuont'"),
        ('f: {python: "functions:pay", effect: write, with: {amount: x}}', "2:62 `with`: amount"),
        ('f: {python: "functions:pay", effect: write, allow: {amuont: [1]}}', "2:55 `allow` names 'amuont'"),
        ("f: {python: \"functions:pay\", effect: write, allow: {amount: {pattern: '['}}}", "2:73 not a pattern"),
        ('F1: {python: "functions:pay", effect: write}', "2:3 'F1' is not a name for"),
    ],
)
def test_a_catalogue_entry_that_cannot_be_a_tool_is_a_fault(tmp_path, entry, said):
    """Its function, what it binds, what it allows."""
    found = faults(tmp_path, f"tools:\n  {entry}\n", name="t.yaml")
    assert len(found) == 1, found
    assert found[0].startswith(said)


LATER = [
    ("tools: {f: {mcp: {command: x}, use: {s: {effect: read}}}}", "1:13 `mcp`"),
]


@pytest.mark.parametrize(("text", "said"), LATER)
def test_what_comes_later_loads_and_its_use_is_a_fault(tmp_path, text, said):
    """It says that it is not in this version, where it stands, and nothing else is wrong with it."""
    found = faults(tmp_path, text)
    assert len(found) == 1, found
    assert found[0].startswith(said)
    assert "not in this version" in found[0]


def test_a_required_call_leaves_no_way_to_end_in_text(tmp_path):
    """The loop could never be over; `submit` is a call, and the other protocols have a form for the answer."""
    must = ["budget: {turns: 1}", "tool_choice: required"]
    assert faults(tmp_path, loop("open_loop", *must, "finish: text"))[0].startswith("9:9 with `tool_choice: required`")
    assert faults(tmp_path, loop("open_loop", *must))[0].startswith("8:14 with `tool_choice: required`")
    assert faults(tmp_path, loop("open_loop", *must, "finish: submit")) == []
    assert faults(tmp_path, loop("open_loop", *must, "output: int")) == []
    assert faults(tmp_path, loop("open_loop", *must, "protocol: text")) == []
    assert faults(tmp_path, loop("open_loop", "budget: {turns: 1}", "tool_choice: required_first")) == []


def test_words_that_change_nothing_are_no_use_of_what_comes_later(tmp_path):
    """The defaults may be written out."""
    lines = ["budget: {turns: 1}", "on_limit: fail", "protocol: native", "tool_choice: auto", "on_bad_call: tell"]
    text = loop("open_loop", *lines, "gate: {pay: {remember: never, choices: [approve, reject]}}")
    assert faults(tmp_path, text.replace("ollama/m", "{name: ollama/m, dialect: openai}")) == []
    assert faults(tmp_path, steps("- {ask: x, on_error: fail}")) == []


@pytest.mark.parametrize("key", ["retry: {attempts: 2}", "repeat: {times: 2}"])
def test_a_write_is_not_tried_twice_unless_it_is_idempotent(tmp_path, key):
    """The tool must say that the same call may be made again."""
    text = steps(f"- {{call: pay, with: {{amount: 1}}, {key}}}")
    assert [line for line in faults(tmp_path, text) if "over a write" in line]
    tools = TOOLS.replace("effect: write", "effect: write, idempotent: true")
    assert not [line for line in faults(tmp_path, text, tools_yaml=tools) if "over a write" in line]


def test_a_misspelt_tool_counts_as_the_one_that_was_meant(tmp_path):
    """Its arguments are still checked, as those of a misspelt workflow are."""
    lines = ["- {call: lokup, with: {coed: a}}", "- {run: iner.yaml, with: {breif: a}}"]
    assert [line.split(" ")[0] for line in faults(tmp_path, steps(*lines))] == ["7:10", "7:24", "8:9", "8:27"]


def test_what_is_wrong_with_a_misspelt_workflow_is_said_of_the_one_that_was_meant(tmp_path):
    """Nothing is said of a file that is not there but that it is not, and which one was meant."""
    there, needs = faults(tmp_path, steps("- {run: iner.yaml}"))
    assert there.startswith("7:9 the workflow 'inner.yaml' needs 'brief'")
    assert "there is no file" in needs


def test_a_prompt_file_is_checked_where_it_stands(tmp_path):
    """A fault of a prompt is reported in the prompt's own file."""
    (tmp_path / "p.md").write_text("Say\nwhat {{ p }} is", "utf-8")
    faults(tmp_path, steps("- {ask: {file: p.md}}"))
    [fault] = load(tmp_path / "w.yaml").faults
    assert (fault.file, fault.line, fault.column) == (str(tmp_path / "p.md"), 2, 9)


def test_a_catalogues_gate_reads_the_inputs_of_the_workflows_that_can_call_its_tool(tmp_path):
    """A workflow that cannot call the tool need not have the inputs that the gate's condition reads."""
    (tmp_path / "t.py").write_text(
        "def pay(amount: int) -> int:\n    '''Pay.'''\n\n\ndef look() -> int:\n    '''Look.'''\n"
    )
    (tmp_path / "tools.yaml").write_text(
        "tools:\n"
        "  pay: {python: 't:pay', effect: write, approval: {if: args.amount > limit}}\n"
        "  look: {python: 't:look', effect: read}\n"
    )
    head = "workflow: w\nshape: pipeline\ninput: {x: int}\ntools: tools.yaml\n"
    written = head + "steps:\n  - {id: y, CALL}\nanswer: '{{ y }}'\n"
    (tmp_path / "reads.yaml").write_text(written.replace("CALL", "call: look"))
    (tmp_path / "pays.yaml").write_text(written.replace("CALL", "call: pay, with: {amount: 1}"))
    assert load(tmp_path / "reads.yaml").faults == []
    assert ["limit" in fault.what for fault in load(tmp_path / "pays.yaml").faults] == [True]


def test_a_workflow_without_a_shape_is_told_that_and_not_what_a_shape_would_need(tmp_path):
    """No model is asked for on behalf of a shape that nobody wrote."""
    found = faults(tmp_path, "workflow: w\n")
    [missing] = [fault for fault in found if "'shape' is missing" in fault]
    assert all(f"{name} (" in missing for name in SHAPES)
    assert not any("needs a model" in fault for fault in found)


def test_the_fields_of_an_answer_are_those_of_the_output(tmp_path):
    """A misspelt field of `answer`, and one that is missing, are faults before anything runs."""
    head = "workflow: w\nshape: pipeline\ninput: {x: int}\noutput: {total: int, note: str = none}\n"
    (tmp_path / "w.yaml").write_text(head + "steps:\n  - {id: y, set: '{{ x }}'}\nanswer:\n  totla: '{{ y }}'\n")
    [fault] = load(tmp_path / "w.yaml").faults
    assert (fault.line, fault.column, fault.instead) == (8, 3, "did you mean 'total'?")
    (tmp_path / "v.yaml").write_text(head + "steps:\n  - {id: y, set: '{{ x }}'}\nanswer: {note: '{{ y }}'}\n")
    assert ["needs 'total'" in fault.what for fault in load(tmp_path / "v.yaml").faults] == [True]


def test_an_argument_that_is_bound_is_passed_by_nobody_else(tmp_path):
    """A step that passes it is told so, also where the tool takes nothing else."""
    tools = TOOLS.replace('"functions:pay"', '"functions:pay", with: {amount: 3}')
    lines = ["- {call: pay, with: {amount: 1}}", "- {call: pay, with: {sum: 1}}"]
    assert faults(tmp_path, steps(*lines), tools_yaml=tools) == [
        "7:22 'amount' of the tool 'pay' is bound in its catalogue; leave it out here",
        "8:22 the tool 'pay' has no 'sum'; there are no arguments",
    ]


def test_each_constant_is_held_against_the_rule_of_its_own_argument(tmp_path):
    """Whatever the other arguments of the call are, and however their names begin."""
    (tmp_path / "t.py").write_text("def pay(to: str, total: int) -> int:\n    '''Pay.'''\n")
    tools = "tools:\n  pay: {python: 't:pay', effect: write, allow: {to: [ann], total: [5]}}\n"
    calls = ["{to: '{{ q }}', total: 9}", "{to: bob, total: '{{ late }}'}", "{to: ann, total: 5}"]
    assert faults(tmp_path, steps(*(f"- {{call: pay, with: {call}}}" for call in calls)), tools_yaml=tools) == [
        "7:44 total must be one of 5; 9 is not allowed; ",
        '8:26 to must be one of "ann"; "bob" is not allowed; ',
    ]
