"""The attacks on a gate, made on both databases."""

from __future__ import annotations

import pathlib

from loopworth.runs.shelf import Shelf
from loopworth.workflows.attacks.attack import ATTACKS, attacked

WORKFLOW = """
workflow: pays
shape: pipeline
input: {amount: int}
tools: {pay: {python: "till:pay", effect: irreversible}}
gate: {pay: {if: args.amount > 40, choices: [approve, edit, reject], timeout: 1h}}
steps: [{call: pay, with: {amount: "{{ amount }}"}}]
answer: done
"""
TILL = '''
def pay(amount: int) -> str:
    """Pay."""
    raise AssertionError("really called")
'''
TABLES = ("run", "effect", "approval", "ballot", "transcript")


def test_a_gate_holds_in_a_file_and_in_postgres(place: str, tmp_path: pathlib.Path) -> None:
    """Every attack applies and holds, in another process too; what is in the store already stays, and nothing more."""
    (tmp_path / "till.py").write_text(TILL, "utf-8")
    (tmp_path / "pays.yaml").write_text(WORKFLOW, "utf-8")
    first = list(attacked(tmp_path / "pays.yaml", place, names=["reject"]))
    before = [Shelf(place).select(f"select count(*) from {table}") for table in TABLES]
    found = [*first, *attacked(tmp_path / "pays.yaml", place)]
    assert [one for one in found if not one.held] == []
    assert [one.attack for one in found] == ["reject", *ATTACKS]
    assert [Shelf(place).select(f"select count(*) from {table}") for table in TABLES] == before
