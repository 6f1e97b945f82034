"""Templates: types kept, data untouched, faults in plain words, skipped values."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.workflows.template_data import Gaps, Skipped, TemplateFault
from loopworth.workflows.templates import expression, template

NAMES = {
    "code": "0123",
    "n": 7,
    "xs": [1, 2],
    "figures": [{"value": 3}, {"value": 4}],
    "order": {"items": [1], "customer": {"name": "Ada"}},
    "word": "True",
    "result": "R",
    "skipped": Skipped("it broke"),
    "gaps": Gaps([1, Skipped("it broke"), 3]),
}


def value(source):
    return template(source)(NAMES)


def fault(source, **names):
    with pytest.raises(TemplateFault) as caught:
        template(source)(NAMES | names)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ code }}", "0123"),
        ("{{ word }}", "True"),
        ("{{ n }}", 7),
        ("  {{ n }}\n", 7),
        ("{{- n -}}", 7),
        ("{{ -n }}", -7),
        ("{{ '}}' }}", "}}"),
        ("{{ xs }}", [1, 2]),
        ("{{ figures | map(attribute='value') }}", [3, 4]),
        ("{{ figures | map(attribute='value') | sum }}", 7),
        ("{{ [n, {'a': code}] }}", [7, {"a": "0123"}]),
        ("{{ result }}", "R"),
        ("{{ none }}", None),
        ("{{ range(3) }}", [0, 1, 2]),
        ("{{ '<b>' | e }}", "&lt;b&gt;"),
    ],
)
def test_a_lone_expression_keeps_its_type(source, expected):
    """A text that is exactly one `{{ … }}` gives the value itself, as plain data."""
    assert value(source) == expected
    assert type(value(source)) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ n }}{{ n }}", "77"),
        ("code {{ code }}", "code 0123"),
        ("{{ xs }} {{ none }} {{ true }} {{ order }}", '[1, 2] null true {"items": [1], "customer": {"name": "Ada"}}'),
        ("{{ 'n is ' ~ true ~ xs }}", "n is true[1, 2]"),
        ("{{ [true, xs, 'a'] | join('; ') }}", "true; [1, 2]; a"),
        ("{% for x in xs %}\n  {{ loop.index }}={{ x }}\n{% endfor %}\n", "  1=1\n  2=2\n"),
        ("{# a comment is text #} {{ n }}", "{# a comment is text #} 7"),
        ("a { b } $x %s", "a { b } $x %s"),
    ],
)
def test_anything_else_renders_to_text(source, expected):
    """In a text, a text is itself and any other value is its JSON; comments do not exist."""
    assert value(source) == expected


def test_leaves_of_mappings_and_lists_are_templates():
    """Templates stand in the leaves of any YAML value; what holds none is constant."""
    assert value({"q": "{{ n }}", "rest": ["x{{ n }}", 3, None]}) == {"q": 7, "rest": ["x7", 3, None]}
    assert template({"a": [1, "text"]}).constant
    assert not template({"a": ["{{ n }}"]}).constant


@given(st.text())
def test_data_is_never_compiled(text):
    """Whatever a task, a tool or a model says goes in as it is, and a template in it stays text."""
    for data in (text, text + "{{ n }} {% if x %} {0.__class__} {#"):
        assert template("{{ said }}")({"said": data}) == data
        assert template("<{{ said }}>")({"said": data}) == f"<{data}>"


def test_a_dot_on_a_mapping_is_the_key_and_never_a_method():
    """`order.items` is a field; a key that is missing is a fault that names those that are there."""
    assert value("{{ order.items }}") == [1]
    assert value("{{ order.customer.name.upper() }}") == "ADA"
    assert (
        fault("{{ order.get('items') }}")
        == "`{{ order.get('items') }}`: there is no 'get' here; it has items, customer"
    )


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ().__class__.__base__.__subclasses__() }}",
        "see {{ n.__class__ }}",
        "{{ code.upper }}",
        "see {{ code.upper }}",
        "{{ code.format }}",
        "{{ xs.append(3) }}",
        "{{ figures | map(attribute='__class__') | list }}",
        "{{ self }}",
        "see {{ self._TemplateReference__context }}",
        "{% macro m() %}{% endmacro %}{{ m }}",
        "{% for x in xs %}{{ loop }}{% endfor %}",
        "{{ lipsum(1) }}",
        "{{ cycler }}",
        "{{ n | attr('real') }}",
    ],
)
def test_nothing_of_python_is_reached_or_shown(source):
    """What is no data is a fault, and its text shows no object of Python's."""
    said = fault(source)
    assert not re.search(r"<(class|built-in|bound|function|Macro|module)|object at 0x|jinja2", said)
    assert NAMES["xs"] == [1, 2]


@pytest.mark.parametrize(
    "source",
    ["{{ range(10**9) | list }}", "{{ 'a' * 10**9 }}", "{{ [1] * 10**9 }}", "{{ 9 ** (9 ** 9) }}", "{{ 1e308 * 10 }}"],
)
def test_what_would_fill_the_memory_is_a_fault(source):
    """A runaway expression ends at once, with a reason."""
    assert "too large" in fault(source) or "finite" in fault(source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ missing }}", "there is no name 'missing'"),
        ("a {{ missing }}", "`a {{ missing }}`: 'missing' is not known here"),
        ("{{ xs[5] }}", "has no item 5"),
        ("{{ [order.nope] }}", "there is no 'nope' here"),
        ("{{ ('null' | from_json).sku }}", "null has no 'sku'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ n + code }}", "do not fit together"),
        ("{{ 'no' | from_json }}", "not JSON"),
        ("{{ ('[' * 5000) | from_json }}", "not JSON"),
        ("{{ n | jsn }}", "there is no filter 'jsn'; did you mean 'json'?"),
        ("{{ n is od }}", "there is no test 'od'; did you mean 'odd'?"),
        ("{{ len(xs) }}", "there is no function 'len'; write `x | length`"),
        ("{{ n || xs }}", "write `or`"),
        ('Return {{"name": "x"}}', "JSON braces are single here"),
        ("{% include 'x' %}", "`include` is not in this language"),
        ("{{ xs | random }}", "there is no filter 'random'"),
    ],
)
def test_a_fault_names_the_expression_and_the_remedy(source, said):
    """Faults at compile time and at run time are one line in plain words."""
    assert said in fault(source)
    assert "\n" not in fault(source)


def test_a_fault_at_compile_time_leads_to_its_leaf():
    """The fault's path and line find the place inside the value."""
    with pytest.raises(TemplateFault) as caught:
        template({"a": ["fine", "first\nsecond {{ n | nope }}"]})
    assert (caught.value.path, caught.value.line) == (("a", 1), 2)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ skipped or 'none' }}", "none"),
        ("{{ skipped | default(3) }}", 3),
        ("{{ skipped is defined }}", False),
        ("{{ 1 if skipped else 2 }}", 2),
        ("{{ not skipped }}", True),
        ("{{ skipped | error }}", "it broke"),
        ("{{ n | error }}", ""),
        ("{{ gaps | length }}", 3),
        ("{{ gaps | select('defined') }}", [1, 3]),
        ("{{ gaps | map('error') }}", ["", "it broke", ""]),
    ],
)
def test_a_skipped_value_is_falsy_and_not_defined(source, expected):
    """`or`, `default`, `is defined`, `error` and `select('defined')` take a skipped value."""
    assert value(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "{{ skipped }}",
        "x {{ skipped }}",
        "{{ skipped.x }}",
        "{{ skipped + 1 }}",
        "{{ skipped == 1 }}",
        "{{ [skipped] }}",
        "{{ skipped and 1 }}",
        "{{ gaps }}",
        "x {{ gaps }}",
        "{{ gaps | sum }}",
        "{{ gaps | mean }}",
        "{{ gaps | list }}",
    ],
)
def test_any_other_use_of_a_skipped_value_is_a_fault(source):
    """A skipped value never turns into text, a number or part of a value; the fault gives the reason."""
    assert "it broke" in fault(source)


def test_a_condition_takes_skipped_names():
    """Under `if`, a skipped value is false, a list is true when it has items, and a generator is a list."""
    assert not expression("skipped").holds(NAMES)
    assert not expression("n > 3 and skipped").holds(NAMES)
    assert expression("gaps").holds(NAMES)
    assert expression("'12' in code and not skipped").holds(NAMES)
    assert not expression("xs | select('gt', 5)").holds(NAMES)
    with pytest.raises(TemplateFault):
        expression("skipped > 3").holds(NAMES)


@pytest.mark.parametrize("source", ["{{ n }}", "a }} {{ b", "", "n =", "a }} text", "!n"])
def test_a_condition_is_one_bare_expression(source):
    """Braces, two expressions and what is no expression are faults."""
    with pytest.raises(TemplateFault):
        expression(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ figures | json }}", '[{"value": 3}, {"value": 4}]'),
        ("{{ '[1, 2]' | from_json }}", [1, 2]),
        ("{{ [3, 1, 3] | most_common }}", 3),
        ("{{ [{'a': 1}, {'a': 2}, {'a': 2}] | most_common }}", {"a": 2}),
        ("{{ [] | most_common | default('nothing') }}", "nothing"),
        ("{{ xs | mean }}", 1.5),
        ("{{ xs | zip(['a', 'b']) }}", [[1, "a"], [2, "b"]]),
        ("{{ [[1], [2, 3], 4] | flatten }}", [1, 2, 3, 4]),
        ("{{ figures | find('value', 4) }}", {"value": 4}),
        ("{{ figures | find('value', 9) | default('none') }}", "none"),
    ],
)
def test_filters_beyond_jinjas(source, expected):
    """Each filter of the language does what its name says."""
    assert value(source) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(json_values)
def test_plain_data_passes_unchanged(data):
    """A value comes out of a lone expression as it went in, and into a text as its JSON."""
    assert template("{{ x }}")({"x": data}) == data
    assert template("{{ [x][0] }}")({"x": data}) == data
    if not isinstance(data, str):
        assert json.loads(template("{% if true %}{{ x }}{% endif %}")({"x": data})) == data
