"""The JSON Schema of the language: written from the forms that load the files."""

import json
from pathlib import Path

import pytest

from loopworth.comparisons.language import schema
from loopworth.comparisons.spec import Judge
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
        {"comparison": "c", "tasks": "t", "score": {"number": {"tolerence": 1}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"number": {"percent": "strikt"}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"python": {"timeout": "1s"}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": "python", "arms": {}},
        {"comparison": "c", "tasks": "t", "score": "judge", "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"judge": {"rubric": "x"}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"judge": {"model": "openai/x", "rubrik": "x"}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"judge": {"model": {"nam": "openai/x"}}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"not-judge": {"model": "openai/x"}}, "arms": {}},
        {"comparison": "c", "tasks": "t", "score": {"equals": {}, "number": {}}, "arms": {}},
    ],
)
def test_the_schema_refuses_what_the_loader_does(value, validator):
    """Misspelt keys, words and numbers are seen in the editor already."""
    assert list(validator.iter_errors(value))


@pytest.mark.parametrize(
    "score",
    [
        "equals",
        {"number": {"tolerance": 0.01, "percent": "number"}},
        {"not-set": {"separators": " and "}},
        {"date": {"formats": ["%d.%m.%y"], "order": "day_first"}},
        {"python": "checks:is_root"},
        {"python": {"function": "checks:is_root", "timeout": "500ms"}},
        {"judge": {"model": "openai/x", "rubric": "Same.", "labels": "labelled.jsonl"}},
        {"judge": {"model": {"name": "openai/x", "price": {"input": 1, "output": 2}, "retries": 0}}},
    ],
    ids=str,
)
def test_the_schema_knows_the_options_of_every_score(score, validator):
    """They are written from what reads them, a judge's too."""
    assert list(validator.iter_errors({"comparison": "c", "tasks": "t", "score": score, "arms": {}})) == []


def test_the_schema_has_every_key_of_the_forms():
    """Keys as they are written in YAML: `if`, `from`, `else`."""
    parts = schema()["$defs"]
    for form in (*SHAPES.values(), Step, Tool, Judge):
        assert parts[form.__name__]["properties"].keys() == names_of(form).keys()
        assert parts[form.__name__]["additionalProperties"] is False
    assert json.dumps(schema()) == json.dumps(schema())
