"""Built-in tools in YAML: what `with` may hold, each fault at its place, and runs of compiled workflows."""

import asyncio
import contextlib
import sqlite3

import pytest

from loopworth.runs.budget import Budget
from loopworth.runs.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.world import Live
from loopworth.workflows.compile import compile
from loopworth.workflows.load import load

CATALOGUE = "tools:\n  t: {{{entry}}}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Refunds take five days.", "utf-8")
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("create table orders (id integer, total real)")
        connection.execute("insert into orders values (1, 12.5)")
        connection.commit()
    return tmp_path


def faults(folder, entry):
    file = folder / "tools.yaml"
    file.write_text(CATALOGUE.format(entry=entry), "utf-8")
    return [str(fault).replace(f"{file}:", "").replace(str(folder), "…") for fault in load(file).faults]


@pytest.mark.parametrize(
    "entry",
    [
        "builtin: sqlite, with: {file: shop.db}, effect: read, description: Orders since 2024.",
        "builtin: sqlite, with: {file: shop.db, write: true, rows: 20}, effect: write, approval: required",
        "builtin: files, with: {root: docs}, effect: read, allow: {path: [a.txt]}",
        "builtin: files, with: {root: docs, write: true}, effect: write",
        "builtin: http, with: {hosts: [api.example.com], headers: {Authorization: {env: NOT_SET}}}, effect: read",
        "builtin: http, with: {hosts: [api.example.com], method: POST}, effect: irreversible",
        "builtin: calculator, effect: read",
        "builtin: today, with: {timezone: Europe/Oslo}, effect: read",
        "builtin: ask_human, effect: read",
    ],
)
def test_an_entry_that_is_right_has_no_faults(folder, entry):
    """Paths are relative to the file, and secrets are not read while checking."""
    assert faults(folder, entry) == []


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("builtin: sqlit, with: {file: shop.db}, effect: read", "2:16  `builtin`"),
        (
            "builtin: sqlite, with: {fil: shop.db}, effect: read",
            "2:31  `with` binds 'fil', which sqlite() does not take",
        ),
        ("builtin: sqlite, with: {file: shop.bd}, effect: read", "2:37  there is no database '…/shop.bd'"),
        (
            "builtin: sqlite, with: {file: shop.db, rows: many}, effect: read",
            "2:52  `with`: rows must be a valid integer",
        ),
        ("builtin: sqlite, with: {file: shop.db, write: true}, effect: read", "2:53  `write` makes this tool write"),
        ("builtin: sqlite, effect: read", "2:16  a built-in sqlite needs `file`"),
        ("builtin: files, with: {write: false}, effect: read", "2:29  a built-in files needs `root`"),
        ("builtin: files, with: {root: dcs}, effect: read", "2:36  there is no folder '…/dcs'"),
        ("builtin: http, with: {hosts: [a b]}, effect: read", "2:36  `hosts` holds 'a b'"),
        ("builtin: http, with: {hosts: a.example}, effect: read", "2:36  `with`: hosts must be a list"),
        ("builtin: today, with: {timezone: Europe/Olso}, effect: read", "2:40  there is no time zone 'Europe/Olso'"),
        ("builtin: today, with: {timeout: 5}, effect: read", "2:30  `with` binds 'timeout'"),
        ("builtin: calculator, with: {digits: 3}, effect: read", "2:35  `with` binds 'digits'"),
        ("builtin: ask_human", "2:3  the tool 't' has no `effect`"),
        ("builtin: files, with: {root: docs}, effect: read, allow: {pth: [a]}", "2:65  `allow` names 'pth'"),
        (
            "builtin: today, python: 'a:b', with: {timezone: UTC}, effect: read",
            "2:7  the tool 't' has two implementations: python and builtin",
        ),
    ],
)
def test_a_slip_is_a_fault_at_its_place(folder, entry, said):
    """Wrong and missing keys of `with`, wrong values, an effect that is too small."""
    found = faults(folder, entry)
    assert [each for each in found if each.startswith(said)], found


def test_each_mistake_of_an_entry_is_one_fault(folder):
    """One that is needed and does not fit is not said to be missing too; a misspelt one counts as the nearest."""
    assert len(faults(folder, "builtin: http, with: {hosts: []}, effect: read")) == 1
    two = faults(folder, "builtin: files, with: {rot: dcs, max_bytes: -1}, effect: read")
    assert [each.partition("  ")[2].partition("\n")[0] for each in two] == [
        "there is no folder '…/dcs'",
        "`with` binds 'rot', which files() does not take",
        "`max_bytes` is -1",
    ]
    assert len(faults(folder, "builtin: today, with: {timeout: 5}, effect: read")) == 1


PIPELINE = """\
workflow: late
shape: pipeline
input: {id: int}
tools:
  shop: {builtin: sqlite, with: {file: shop.db}, effect: read}
  docs: {builtin: files, with: {root: docs}, effect: read}
  sums: {builtin: calculator, effect: read}
  ask: {builtin: ask_human, effect: read}
steps:
  - id: order
    call: shop
    with: {sql: "select total from orders where id = ?", params: ["{{ id }}"]}
  - id: rule
    call: docs
    with: {path: a.txt}
  - id: twice
    call: sums
    with: {expression: "{{ order.rows[0].total }} * 2"}
  - id: why
    call: ask
    with: {question: "Why {{ twice }}?"}
answer: "{{ twice }}: {{ rule }} {{ why }}"
"""


def test_a_pipeline_calls_built_in_tools(folder):
    """Their values are plain data for the steps below; a person's words are a value like any other."""
    (folder / "late.yaml").write_text(PIPELINE, "utf-8")
    compiled = compile(folder / "late.yaml")

    async def ask(question, _id):
        return Decision("answer", note=f"{question.text} Because.")

    def run(person):
        fx = Effects(Live({}, person), None, Budget(compiled.limits), compiled.tools)
        return asyncio.run(execute(compiled.executor, {"id": 1}, fx))

    outcome = run(ask)
    assert (outcome.exit, outcome.answer) == ("success", "25: Refunds take five days. Why 25? Because."), outcome.note
    assert compiled.gates == ("ask",)
    assert (run(None).exit, run(None).gates) == ("waiting", ("why/call/answer",))


def test_the_authors_description_stands_before_the_tools_own(folder):
    """A model reads what is in it, and how it is called."""
    (folder / "late.yaml").write_text(
        PIPELINE.replace("db}, effect: read", "db}, effect: read, description: Orders."), "utf-8"
    )
    described = compile(folder / "late.yaml").tools["shop"].description
    assert described.startswith("Orders.\n\nRead from an SQLite database.")
