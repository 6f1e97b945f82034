"""The page of every key: what the forms that load the files say, and no other."""

import runpy
from pathlib import Path

import pytest

from loopworth.comparisons import program
from loopworth.comparisons.language import schema
from loopworth.comparisons.spec import Arm, Decide
from loopworth.comparisons.tasks import RESERVED
from loopworth.comparisons.verdict import MIN_GAIN
from loopworth.models import local
from loopworth.models.endpoint import Patience
from loopworth.runs import effects
from loopworth.tools.gate import DEFAULT
from loopworth.tools.python import python_tool
from loopworth.tools.tool import MOST_CHARACTERS, TIMEOUT
from loopworth.workflows import pipeline, spec
from loopworth.workflows.form import Form, Unset, all_forms, names_of, unborn, usable

PAGE = Path(__file__).parents[1] / "docs/reference.md"
WRITER = runpy.run_path(str(PAGE.with_suffix(".py")))
PARTS, default, page, rows = (WRITER[name] for name in ("PARTS", "default", "page", "rows"))
LISTED = {part.form for sections in PARTS.values() for part in sections}
FILES = ("loopworth.workflows.spec", "loopworth.comparisons.spec")
FORMS = sorted(
    {form for form in all_forms(Form) if form.__module__ in FILES} - unborn(), key=lambda form: form.__name__
)


def test_the_page_is_up_to_date():
    """`make reference` writes it anew."""
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_key_has_one_line_that_the_page_and_the_schema_show(form):
    """It stands beside the key, once; what is of a later version is in neither list of what may be written."""
    assert form in LISTED or any(issubclass(listed, form) for listed in LISTED)
    for key in usable(form):
        line = form.model_fields[names_of(form)[key]].description
        assert line, key
        assert "\n" not in line, key
        assert f"| {line} |" in page(), key


def test_the_schema_shows_an_editor_the_same_lines():
    """As descriptions: of the forms and of their keys."""
    parts = schema()["$defs"]
    for form in FORMS:
        for key, part in parts.get(form.__name__, {}).get("properties", {}).items():
            assert part["description"] == form.model_fields[names_of(form)[key]].description, (form, key)
        assert form.__name__ not in parts or parts[form.__name__]["description"]


def test_each_form_says_itself_what_it_is():
    """And does not leave it to the form that it derives from."""
    assert [form for form in FORMS if "__doc__" not in vars(form) or not form.__doc__] == []


@pytest.mark.parametrize(
    ("form", "key", "holds"),
    [
        (spec.ModelForm, "max_tokens", f"{effects.MOST_OUTPUT:,}; an embedded model stops at {local.MOST_OUTPUT}"),
        (spec.ModelForm, "timeout", f"{Patience().seconds:g}s"),
        (spec.ModelForm, "retries", f"{Patience().retries}"),
        (spec.Gate, "choices", f"[{', '.join(DEFAULT)}]"),
        (spec.Tool, "timeout", f"{TIMEOUT:g}s"),
        (spec.Tool, "max_failures", f"{python_tool.__kwdefaults__['max_failures']}"),
        (spec.Returns, "max_chars", f"{MOST_CHARACTERS:,}"),
        (spec.Step, "max_concurrency", f"{pipeline.AT_ONCE}"),
        (Arm, "timeout", f"{program.TIMEOUT:g}s"),
        (Decide, "min_gain", f"from the prices below, else {MIN_GAIN:.2f}"),
    ],
)
def test_a_default_in_words_is_the_one_that_the_code_has(form, key, holds):
    """Where a key that is left out leaves the value to what runs."""
    info = form.model_fields[names_of(form)[key]]
    assert any(isinstance(mark, Unset) for mark in info.metadata)
    assert default(info) == holds


def test_the_columns_of_a_task_file_are_listed():
    """They are no form; what reads them says what they are."""
    assert all(f"| `{name}` |" in page().partition("## Task files")[2] for name in RESERVED)


def test_types_are_told_in_the_words_of_the_language():
    """Bounds, lists, mappings, words, and a link where there is more to say."""
    told = {part.title: {row[0]: row[1:3] for row in rows(part)} for sections in PARTS.values() for part in sections}
    assert told["Budget"]["`turns`"][0] == "whole number, at least 1 or `none`"
    assert told["Workflow"]["`gate`"] == ("mapping of tool: `required` or [gate](#gate)", "—")
    assert told["Workflow"]["`tools`"][0].endswith("list of (text or mapping of name: [tool](#tool))")
    assert told["Retry"]["`attempts`"] == ("whole number, at least 1", "*required*")
    assert told["Loop"]["`parallel`"] == ("`true` or `false`", "`true`")
    assert "`mcp`" not in told["Tool"]
