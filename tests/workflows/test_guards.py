"""What a template reads, and which of its reads allow a skipped value."""

import pytest

from loopworth.workflows.templates import expression, template


@pytest.mark.parametrize(
    ("source", "reads", "guarded"),
    [
        ("{{ a }}", "a", ""),
        ("no names", "", ""),
        ("{{ a or b }}", "a b", "a"),
        ("{{ a | default(b) }}", "a b", "a"),
        ("{{ a.x if a else b }}", "a b", "a"),
        ("{{ a.x or 1 }}", "a", ""),
        ("{{ a.x | default(1) }}", "a", ""),
        ("{{ a if b is undefined else b }}", "a b", "b"),
        ("{% if a is defined and b %}{{ a }}{{ b }}{{ c }}{% elif c %}{{ c }}{{ a }}{% endif %}", "a b c", "b"),
        ("{{ xs | select('defined') | map(attribute='v') | list }}", "xs", "xs"),
        ("{{ a | error }}", "a", "a"),
        ("{% for q in qs %}{{ q }}{{ loop.index }}{% endfor %}", "qs", ""),
        ("{{ range(n) | list }}", "n", ""),
        ("{% set t = a %}{{ t }}", "a", ""),
        ({"x": "{{ a }}", "y": ["{{ a or b }}", "{{ c or 1 }}"]}, "a b c", "c"),
    ],
)
def test_a_template_knows_what_it_reads(source, reads, guarded):
    """`reads` are the free names, `guarded` those read only where a skipped value is allowed."""
    made = template(source)
    assert (made.reads, made.guarded) == (set(reads.split()), set(guarded.split()))


def test_a_list_with_skipped_items_has_guards_of_its_own():
    """Its length, an item and a loop over it can be read; the list as a value cannot."""
    for source, safe in [
        ("{{ xs | length }}", True),
        ("{{ xs[0] or 1 }}", True),
        ("{{ xs }}", False),
        ("{{ xs | sum }}", False),
    ]:
        assert ("xs" in template(source).guarded_items) is safe, source
    assert expression("xs").guarded == {"xs"}
