"""The JSON Schema of the language: written from the forms that load the files."""

import json
from pathlib import Path

import pytest

from loopworth.comparisons.language import schema
from loopworth.workflows.document import plain, read
from loopworth.workflows.form import names_of
from loopworth.workflows.spec import SHAPES, Step, Tool

HERE = Path(__file__).parent / "yaml"


@pytest.fixture
def validator():
    """A validator that is not ours."""
    return pytest.importorskip("jsonschema").Draft202012Validator(schema())


@pytest.mark.parametrize("path", sorted(HERE.glob("*.yaml")), ids=lambda path: path.name)
def test_every_file_that_loads_fits_the_schema(path, validator):
    """An editor finds no fault in a file that has none."""
    assert list(validator.iter_errors(plain(read(path).value))) == []


@pytest.mark.parametrize(
    "value",
    [
        {"workflow": "w", "shape": "pipeline", "steps": [{"aks": "x"}], "answer": 1},
        {"workflow": "w", "shape": "open_loop", "prompt": "x", "budget": {"turns": True}},
        {"workflow": "w", "shape": "open_loop", "prompt": "x", "protocol": "nativ"},
        {"tools": {"F 1": {"effect": "reed"}}},
        {"comparison": "c", "tasks": "t", "score": {"nmber": {}}, "arms": {}},
    ],
)
def test_the_schema_refuses_what_the_loader_does(value, validator):
    """Misspelt keys, words and numbers are seen in the editor already."""
    assert list(validator.iter_errors(value))


def test_the_schema_has_every_key_of_the_forms():
    """Keys as they are written in YAML: `if`, `from`, `else`."""
    parts = schema()["$defs"]
    for form in (*SHAPES.values(), Step, Tool):
        assert parts[form.__name__]["properties"].keys() == names_of(form).keys()
        assert parts[form.__name__]["additionalProperties"] is False
    assert json.dumps(schema()) == json.dumps(schema())
