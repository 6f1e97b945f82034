"""A workflow as a Mermaid flowchart."""

import re
from pathlib import Path

import pytest

import loopworth
from tests.workflows.played import CODE, TOOLS, pipeline

HERE = Path(__file__).parent / "yaml"
NODE = re.compile(r"[a-z_0-9]+(\(\[|\[\[|\(|\[|\{\{|\{)\".*\"(\]\)|\]\]|\)|\]|\}\}|\})(:::(write|gate))?")
ARROW = re.compile(r"[a-z_0-9]+ (-->|-\.->)(\|\"[^\"|]*\"\|)? [a-z_0-9]+")


def drawn(folder, text, **others):
    for name, content in {"tools": TOOLS, "w": text, **others}.items():
        (folder / f"{name}.yaml").write_text(content)
    (folder / "code.py").write_text(CODE)
    return [line.strip() for line in loopworth.draw(folder / "w.yaml").splitlines()]


@pytest.mark.parametrize("name", ["pipeline", "router", "constrained", "open", "gated"])
def test_every_shape_is_a_flowchart_of_nodes_and_arrows(name):
    """Each line is one of Mermaid's own, and each arrow is between nodes that are drawn."""
    first, *lines = loopworth.draw(HERE / f"{name}.yaml").splitlines()
    lines = [line.strip() for line in lines if "classDef" not in line]
    nodes = {re.match("[a-z_0-9]+", line)[0] for line in lines if NODE.fullmatch(line)}
    arrows = [line for line in lines if ARROW.fullmatch(line)]
    assert first == "flowchart TD"
    assert len(lines) == len(nodes) + len(arrows)
    assert {word for line in arrows for word in (line.split()[0], line.split()[-1])} <= nodes


def test_data_edges_and_barriers_are_told_apart(tmp_path):
    """Solid where a name is read; dotted where a step only waits, unless that is implied already."""
    lines = drawn(
        tmp_path,
        pipeline(
            '{id: a, call: lookup, with: {code: "{{ q }}"}}',
            "{id: b, call: lookup, with: {code: Z}}",
            "{check: a > 0}",
            '{id: c, call: pay, with: {amount: "{{ a }}"}}',
            '{id: answer, set: "{{ b }}"}',
            answer='"{{ answer }}"',
            top="input: {q: str}",
        ),
    )
    assert [line for line in lines if "->" in line] == [
        "input --> s_a",
        "input -.-> s_b",
        "s_a --> s_3",
        "s_a --> s_c",
        "s_b --> s_answer",
        "s_b -.-> s_3",
        "s_3 -.-> s_c",
        "s_c -.-> s_answer",
        "s_answer --> answer",
    ]
    assert 's_c["c<br/>call pay"]:::write' in lines


def test_a_step_shows_its_modifiers_from_outside_in(tmp_path):
    """As they nest when it runs."""
    step = (
        "{id: a, for_each: [1], if: index > 0, repeat: {times: 2, until: a}, retry: {attempts: 3}, timeout: 5s, "
        "on_error: skip, call: lookup, with: {code: A}}"
    )
    lines = drawn(tmp_path, pipeline(step, answer="1", top="gate: {lookup: required}\nbudget: {time: 9s}"))
    [label] = re.findall('s_a\\["(.*)"\\]:::gate', "\n".join(lines))
    assert [part.partition(" ")[0].rstrip(":") for part in label.split("<br/>")] == [
        *("a", "for", "if", "on", "repeat", "retry", "timeout", "call", "gate"),
    ]
    assert 'limits{{"time: 9s"}}' in lines


def test_a_loop_shows_its_budget_its_gates_and_its_ends(tmp_path):
    """Tools behind their gates, the limit, the check, guards and what runs otherwise."""
    loop = """
workflow: l
shape: gated_loop
output: int
tools: [tools.yaml, {sub: {run: sub.yaml, effect: write}}]
model: ollama/m
prompt: go
budget: {turns: 4, usd: 0.10, unpriced: allow}
gate: {pay: {if: args.amount > 100}}
on_limit: answer
check: answer > 0
guard: [{on: input, if: false}]
otherwise: {set: 1}
"""
    lines = drawn(tmp_path, loop, sub=pipeline("{call: pay, with: {amount: 1}}", answer="1"))
    for line in (
        'model("ollama/m<br/>turns: 4<br/>usd: 0.10")',
        'g_pay{"gate: pay<br/>if args.amount #62; 100"}:::gate',
        "model --> g_pay",
        "g_pay --> t_pay",
        't_sub[["sub<br/>write<br/>run sub.yaml"]]:::write',
        'model -.->|"at a limit"| limit',
        'answer(["answer<br/>int<br/>check: answer #62; 0"])',
        "input --> guard_input",
        'input -.->|"a bad end"| otherwise',
    ):
        assert line in lines


def test_nothing_in_a_label_is_read_as_markup(tmp_path):
    """Quotes, brackets, line ends and HTML are shown as they are, and long texts are cut."""
    lines = drawn(
        tmp_path,
        pipeline(
            f'{{id: end, if: \'"<b>" in q or "`#|" == q or q == "{"x" * 99}"\', set: 1}}',
            answer="1",
            top="input: {q: str}",
        ),
    )
    [line] = [line for line in lines if line.startswith("s_end[")]
    assert line.startswith('s_end["end<br/>if #34;#60;b#62;#34; in q or #34;#96;#35;#124;#34; ')
    assert line.endswith('…<br/>set"]')
