"""Jinja2, compiled once: a value that is exactly one `{{ … }}` keeps its type; anything else is text.

What leaves an expression is plain data. Only text written in an author's file comes here as source; what tasks, tools
and models say comes in as names. What it may do there, `template_environment` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, TypeAlias

from jinja2 import TemplateSyntaxError, nodes
from jinja2.environment import TemplateExpression
from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.visitor import NodeTransformer

from loopworth.runs.spelling import nearest
from loopworth.workflows import guards
from loopworth.workflows.syntax import JSON_BRACES
from loopworth.workflows.template_data import Gaps, Skipped, TemplateFault, plain
from loopworth.workflows.template_environment import env

Names: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = Callable[[Names], Any]
NOTHING: frozenset[str] = frozenset()


class Template:
    """A compiled value. Called with the names in scope it gives plain data, or raises TemplateFault.

    `reads` are its free names; those in `guarded` are read only where a skipped value is allowed, and those in
    `guarded_items` only where a list with skipped items is.
    """

    __slots__ = ("constant", "evaluate", "guarded", "guarded_items", "reads", "source")

    def __init__(self, evaluate: Evaluate, source: Any, reads: Reads | None = None) -> None:
        self.evaluate, self.source, self.constant = evaluate, source, reads is None
        self.reads, self.guarded, self.guarded_items = reads or Reads()

    def __call__(self, names: Names) -> Any:
        return self.evaluate(names)

    def holds(self, names: Names) -> bool:
        """Whether a condition is true; a skipped value is false."""
        try:
            value = self.evaluate(names)
        except SkippedRead as read:
            return read.truth
        return bool(value)


class Reads(NamedTuple):
    """The free names of a template; of these, those that may be skipped, and those that may have skipped items."""

    names: frozenset[str] = NOTHING
    guarded: frozenset[str] = NOTHING
    guarded_items: frozenset[str] = NOTHING

    @classmethod
    def of(cls, tree: nodes.Template, root: nodes.Node, condition: bool = False) -> Reads:
        names = guards.reads(tree)
        bare, gaps = (guards.unguarded(root, kind, condition) for kind in (guards.VALUES, guards.ITEMS))
        return cls(names, names - bare, names - gaps)

    @classmethod
    def together(cls, parts: Iterable[Template]) -> Reads:
        """A name is guarded in the whole if it is in every part that reads it."""
        parts = list(parts)
        names = NOTHING.union(*(p.reads for p in parts))
        bare = NOTHING.union(*(p.reads - p.guarded for p in parts))
        gaps = NOTHING.union(*(p.reads - p.guarded_items for p in parts))
        return cls(names, names - bare, names - gaps)


class SkippedRead(TemplateFault):
    """The whole value of an expression is a skipped step's, or a list with skipped items; `truth` is its truth."""

    truth = False


class Texts(NodeTransformer):
    """Lets `a ~ b` join values as a text would show them."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        made = self.generic_visit(node)
        made.nodes = [n if is_text(n) else filtered(n, "string") for n in made.nodes]  # type: ignore[attr-defined]
        return made


def is_text(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, str)


def filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class Expression:
    """A lone expression, evaluated to its value."""

    __slots__ = ("compiled", "source")

    def __init__(self, node: nodes.Expr, source: str) -> None:
        assign = nodes.Assign(nodes.Name("result", "store", lineno=1), node, lineno=1)
        made = nodes.Template([assign], lineno=1)
        made.set_environment(env)
        self.compiled = TemplateExpression(env.from_string(made), undefined_to_none=False)
        self.source = source

    def __call__(self, names: Names) -> Any:
        try:
            value = self.compiled(names)
            if type(value) is Skipped:
                raise skipped(value, self.source)
            return plain(value)
        except Exception as error:
            failed(error, self.source)


def template(value: Any) -> Template:
    """Any YAML value with templates in its leaves. Raises TemplateFault whose `path` leads to the leaf."""
    if isinstance(value, str):
        return of_text(value)
    if isinstance(value, Mapping):
        return of_parts(value, {key: part(item, key) for key, item in value.items()})
    if isinstance(value, list):
        return of_parts(value, dict(enumerate(part(item, n) for n, item in enumerate(value))))
    return constant(plain(value))


def part(value: Any, key: Any) -> Template:
    try:
        return template(value)
    except TemplateFault as fault:
        fault.path = (key, *fault.path)
        raise


def constant(value: Any) -> Template:
    return Template(lambda _: value, value)


def of_parts(value: Any, parts: dict[Any, Template]) -> Template:
    """A mapping or a list whose leaves are evaluated one by one; one without templates is a constant."""
    if all(p.constant for p in parts.values()):
        done = {key: p({}) for key, p in parts.items()}
        return constant(done if isinstance(value, Mapping) else list(done.values()))
    leaves = {key: p.evaluate for key, p in parts.items()}

    def mapping(names: Names) -> Any:
        return {key: evaluate(names) for key, evaluate in leaves.items()}

    def sequence(names: Names) -> Any:
        return [evaluate(names) for evaluate in leaves.values()]

    return Template(mapping if isinstance(value, Mapping) else sequence, value, Reads.together(parts.values()))


def of_text(source: str) -> Template:
    if "{{" not in source and "{%" not in source:
        return constant("".join(source))
    return compiled(source)


@lru_cache(maxsize=4096)
def compiled(source: str) -> Template:
    with plain_faults(source):
        node = lone(source)
        return of_expression(node, source) if node is not None else of_prose(source)


def of_prose(source: str) -> Template:
    """A text with templates in it, or one that only looks so (`{% raw %}`)."""
    tree = parsed(source)
    if all(isinstance(n, nodes.TemplateData) for output in tree.body for n in getattr(output, "nodes", [output])):
        return constant(env.from_string(tree).render())
    reads = Reads.of(tree, tree)
    made = env.from_string(Texts().visit(tree))

    def rendered(names: Names) -> Any:
        try:
            return made.render(names)
        except Exception as error:
            failed(error, source)

    return Template(rendered, source, reads)


def expression(source: str) -> Template:
    """A bare expression, as `if`, `check`, `until` and `where` hold one. Raises TemplateFault."""
    with plain_faults(source):
        if source.lstrip().startswith("{{"):
            raise TemplateFault(f"`{short(source)}` is an expression already", "write it without the braces")
        node = lone("{{ " + source + " }}")
        if node is None:
            raise TemplateFault(f"`{short(source)}` is not one expression", "write it without braces: `a and not b`")
        return of_expression(node, source, condition=True)


def of_expression(node: nodes.Expr, source: str, condition: bool = False) -> Template:
    tree = nodes.Template([nodes.Output([node], lineno=1)], lineno=1)
    tree.set_environment(env)
    reads = Reads.of(tree, node, condition)
    evaluate = looked_up(node.name) if isinstance(node, nodes.Name) else Expression(Texts().visit(node), source)
    return Template(evaluate, source, reads)


def looked_up(name: str) -> Evaluate:
    """A name alone: one look into the names."""

    def look(names: Names) -> Any:
        try:
            value = names[name]
        except KeyError:
            raise TemplateFault(f"there is no name {name!r} here") from None
        if type(value) is Skipped or type(value) is Gaps:
            raise skipped(value, f"{{{{ {name} }}}}")
        return value

    return look


def lone(source: str) -> nodes.Expr | None:
    """The expression of a text that is exactly one `{{ … }}`, judged by the parser and not by a pattern."""
    stripped = source.strip()
    if not (stripped.startswith("{{") and stripped.endswith("}}")):
        return None
    match parsed(stripped).body:
        case [nodes.Output(nodes=[node])] if not isinstance(node, nodes.TemplateData):
            return node
    return None


def parsed(source: str) -> nodes.Template:
    tree = env.parse(source)
    if found := guards.not_here(tree):
        what, instead, line = found
        raise TemplateFault(what, instead, line=line)
    return tree


@contextmanager
def plain_faults(source: str) -> Iterator[None]:
    """Turns what Jinja's parser and compiler raise into a TemplateFault."""
    try:
        yield
    except TemplateSyntaxError as error:
        raise unreadable(error, source) from None
    except RecursionError:
        raise TemplateFault("the template is nested too deeply") from None


SLIPS = (
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ('{{"', JSON_BRACES),
    ("===", "write `==`"),
)


def unreadable(error: TemplateSyntaxError, source: str) -> TemplateFault:
    """What Jinja found wrong, in plain words, with a hint for the common slips."""
    message = re.sub(r" at \d+$", "", (error.message or "").rstrip("."))
    for sort, known in (("filter", env.filters), ("test", env.tests)):
        if message.startswith(f"No {sort} named "):
            word = message.split("'")[1]
            close = nearest(word, known)
            return TemplateFault(
                f"there is no {sort} {word!r}", f"did you mean {close!r}?" if close else "", line=error.lineno
            )
    if message.endswith("got '='"):
        return TemplateFault(f"`{short(source)}`: one `=` compares nothing", "write `==`", line=error.lineno)
    tight = "".join(source.split()).replace("!=", "")
    instead = next((words for slip, words in SLIPS if slip in tight), "")
    return TemplateFault(f"`{short(source)}` is not a template: {message}", instead, line=error.lineno)


def failed(error: Exception, source: str) -> NoReturn:
    """Raises the fault for an expression that came to no value; nothing of Python's inner objects is in its text."""
    where = f"`{short(source)}`"
    if isinstance(error, SkippedRead):
        raise error
    if isinstance(error, TemplateFault):
        raise TemplateFault(f"{where}: {error.what}", error.instead) from None
    raise TemplateFault(f"{where}: {reason(error)}") from None


def skipped(value: Skipped | Gaps, source: str) -> SkippedRead:
    gap = value if isinstance(value, Skipped) else next(item for item in value if isinstance(item, Skipped))
    whose = "a step that was skipped" if gap is value else "a list with skipped items"
    instead = "use `or`, `| default(…)` or `is defined`" if gap is value else "use `| select('defined')`"
    fault = SkippedRead(f"`{short(source)}`: reads {whose} ({gap.reason})", instead)
    fault.truth = gap is not value
    return fault


def reason(error: Exception) -> str:
    if isinstance(error, UndefinedError):
        return (error.message or "").replace(" is undefined", " is not known here")
    for sort, words in REASONS:
        if isinstance(error, sort):
            return words
    return "it has no value"


REASONS: tuple[tuple[type[Exception], str], ...] = (
    (SecurityError, "this may not be read or called here"),
    (ZeroDivisionError, "a division by zero"),
    (OverflowError, "the result would be too large"),
    (TypeError, "its values do not fit together (a text and a number, or a value that is none)"),
    (TemplateRuntimeError, "a filter or test does not fit its value"),
    (ValueError, "a value is not of the form that is needed"),
    (RecursionError, "it is nested too deeply"),
)


def short(source: str) -> str:
    """The source on one line, cut to a glance."""
    line = " ".join(source.split())
    return line if len(line) <= 80 else line[:77] + "…"
