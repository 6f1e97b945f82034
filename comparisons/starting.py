"""The files that a project starts with: small, whole, and made to be replaced piece by piece.

They are about orders that are late, and each piece says what of yours belongs in its place.
"""

from __future__ import annotations

DESK = '''\
"""What the tools do, for an example: orders that are late. Put your own code in the place of these functions.

A docstring is all that a model knows of a tool, and the type hints are its arguments.
"""

import re

RECORDS = {
    "A-101": {"state": "card expired"},
    "A-102": {"state": "sold out"},
    "A-103": {"state": "lost by the carrier"},
    "A-104": {"state": "waits for another order", "see": "A-101"},
    "A-105": {"state": "waits for another order", "see": "A-102"},
    "A-106": {"state": "waits for another order", "see": "A-103"},
}


def find(text: str) -> list:
    """The orders that a text names."""
    return re.findall(r"[A-Z]-[0-9]{3}", text)


def record(code: str) -> dict:
    """What is known of an order: its state, and in `see` the order that it waits for."""
    return RECORDS.get(code, {"state": "unknown"})
'''
CLOSE = '''

def close(code: str, cause: str) -> str:
    """Close an order for a cause, and tell the customer."""
    return f"{code} closed: {cause}"  # call your own system here


def pretend(code: str, cause: str) -> str:
    """Stands in for `close` in a comparison: nobody is told."""
    return f"{code} closed: {cause}"
'''
TOOLS = """\
loopworth: 1
tools:
  find: {python: "desk:find", effect: read, inline: true}
  record:
    python: "desk:record"
    effect: read                # read, write or irreversible: a claim that gates and comparisons rely on
    allow: {code: {pattern: '[A-Z]-[0-9]{3}'}}     # whatever the model was told to do, it looks up orders alone
    inline: true                # quick, and only computes: no thread of its own
"""
CLOSING = """\
  close: {{python: "desk:close", effect: {effect}, timeout: 10s}}
"""
FAKES = """\
# What a comparison calls in place of the tools that write.
loopworth: 1
tools:
  close: {{python: "desk:pretend", effect: {effect}}}
"""
PIPELINE = """\
# Fixed steps, and no model: what can be written down is written down.
loopworth: 1
workflow: {name}_pipeline
shape: pipeline
input: {{case: str}}
output: str
tools: tools.yaml
{gate}steps:
  - id: codes
    call: find
    with: {{text: "{{{{ case }}}}"}}
  - id: first
    call: record
    with: {{code: "{{{{ codes[0] }}}}"}}
{steps}answer: "{{{{ {cause} }}}}"
"""
SECOND = """\
  - id: second                  # what comes second depends on what was found first, in a way that is known
    if: first.see is defined
    call: record
    with: {code: "{{ first.see }}"}
"""
STEP = """\
  - id: closed
    call: close
    with: {{code: "{{{{ codes[0] }}}}", cause: "{{{{ {cause} }}}}"}}
"""
ROUTER = """\
# One decision from a closed set, then fixed paths. Routes with `if` need no model.
loopworth: 1
workflow: {name}_router
shape: router
input: {{case: str}}
output: str
model: {model}
choose: "What is this about? {{{{ case }}}}"
from:
  order: {{if: "'order' in case | lower", description: "one order and its state", run: pipeline.yaml}}
  hours: {{if: "'open' in case | lower", description: "when somebody can be reached", set: "9 to 17"}}
  thanks: {{description: "a compliment, nothing is asked", set: "thank you"}}
otherwise: {{set: "to a person"}}
"""
LOOP = """\
# {about}
loopworth: 1
workflow: {name}_{shape}
shape: {shape}
input: {{case: str}}
output: str
model: {model}
tools: {tools}
{keys}tool_choice: required_first     # it looks before it answers
budget: {{turns: 8}}              # set it from the runs that end well: `loopworth diagnose` proposes one
check: "calls | selectattr('status', 'equalto', 'ok') | list"
else: "answered {{{{ answer }}}} without having looked anything up"
instructions: |
  Find out why the order of a case is late, and answer with the cause alone.
  If an order waits for another one, the cause is that of the other: look it up as well.
{more}prompt: "{{{{ case }}}}"
"""
SETTLE = """\
# The model proposes, and these steps execute: what they check does not depend on a prompt.
loopworth: 1
workflow: {name}_settle
shape: pipeline
description: Close an order for the cause that it is late for. Returns what was done.
input: {{code: str, cause: str}}
output: str
tools: tools.yaml
steps:
  - id: held
    call: record
    with: {{code: "{{{{ code }}}}"}}
  - check: held.state != 'unknown'
    else: "there is no order {{{{ code }}}}"
  - id: done
    call: close
    with: {{code: "{{{{ code }}}}", cause: "{{{{ cause }}}}"}}
answer: "{{{{ done }}}}"
"""
COMPARISON = """\
# An example, about orders that are late: put your own cases into tasks.jsonl, your own code into desk.py, and your own
# words into the prompts and `instructions` of the workflows.
# The comparison decides. These tasks are a beginning: `loopworth plan` says how many yours should be.
loopworth: 1
comparison: {name}
tasks: tasks.jsonl
score: icontains
arms:                           # in order of complexity: the first holds the place, the others must earn it
{arms}{writes}group_by: lookups
decide: {{min_gain: 0.10, error: 0.05}}
seed: 7
"""
WRITES = """\
tools: fakes.yaml               # no task of a comparison closes an order
approvals: approve
"""
CAUSES = {"A-101": "card expired", "A-102": "sold out", "A-103": "lost by the carrier"}
WAITING = {"A-104": "card expired", "A-105": "sold out", "A-106": "lost by the carrier"}


def task(id: str, case: str, expected: str, lookups: int) -> str:
    return f'{{"id": "{id}", "case": "{case}", "expected": "{expected}", "lookups": {lookups}}}\n'


def tasks(depends: bool, several: bool) -> str:
    """The tasks: orders that one look-up explains, those that take two, and cases about something else."""
    rows = [task(code, f"Why is order {code} late?", cause, 1) for code, cause in CAUSES.items()]
    if depends:
        rows += [task(code, f"Why is order {code} late?", cause, 2) for code, cause in WAITING.items()]
    if several:
        rows.append(task("hours", "When are you open?", "9 to 17", 0))
    return "".join(rows)
