"""What a template reads, and where a skipped value is allowed to stand: judged on its syntax tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jinja2 import meta, nodes

NONE: frozenset[str] = frozenset()
VALUES = frozenset(["default", "d", "error"])
"""Filters that take a skipped value."""
ITEMS = VALUES | {"length", "count", "first", "last"}
"""Filters that take a list with skipped items."""
FUNCTIONS = {
    "len": "x | length",
    "str": "x | string",
    "sorted": "xs | sort",
    "set": "xs | unique",
    "any": "xs | select | list",
} | {
    name: f"x | {name}"
    for name in ("abs", "float", "int", "json", "list", "lower", "max", "min", "round", "sum", "upper")
}
"""What people write as a function, and the filter it is."""


def reads(tree: nodes.Template) -> frozenset[str]:
    """The free names of a template, without the functions it calls. Jinja's own `self` is no name here."""
    own = {name.name for name in tree.find_all(nodes.Name) if name.name == "self"}
    called = {call.node.name for call in tree.find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
    return frozenset(meta.find_undeclared_variables(tree) | own) - (called & {"range"})


def not_here(tree: nodes.Template) -> tuple[str, str, int] | None:
    """What Jinja has and this language does not: (what, what to write instead, line)."""
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)):
        name = type(node).__name__.lower()
        return f"`{name}` is not in this language", "a prompt can be `{file: prompts/x.md}`", node.lineno
    made = {macro.name for macro in tree.find_all(nodes.Macro)} | {"range", "caller", "loop"}
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name not in made:
            name = call.node.name
            instead = f"write `{FUNCTIONS[name]}`" if name in FUNCTIONS else "use a filter: `x | name`"
            return f"there is no function {name!r}", instead, call.lineno
    return None


def unguarded(node: nodes.Node, kind: frozenset[str] = VALUES, condition: bool = False) -> frozenset[str]:
    """Names (bound ones too) that are read where a skipped value would be a fault.

    `kind` VALUES asks this of a skipped step, ITEMS of a list with skipped items.
    """
    return Walk(kind).read(node, NONE, condition)


class Walk:
    """`sure` are the names that a test around a node has shown to be defined; `truth` says that only the node's truth
    is asked for, which a skipped value has."""

    def __init__(self, kind: frozenset[str]) -> None:
        self.kind = kind

    def read(self, node: nodes.Node, sure: frozenset[str], truth: bool = False) -> frozenset[str]:
        match node:
            case nodes.Name():
                return NONE if truth or node.name in sure or node.ctx != "load" else frozenset([node.name])
            case nodes.Filter(node=nodes.Name()) if node.name in self.kind or selects_defined(node):
                return self.all([*node.args, *(k.value for k in node.kwargs)], sure)
            case nodes.Test(node=nodes.Name(), name="defined" | "undefined"):
                return NONE
            case nodes.Getitem(node=nodes.Name()) if self.kind is ITEMS:
                return self.read(node.arg, sure)
            case nodes.For(iter=nodes.Name()) if self.kind is ITEMS:
                return self.all([node.test, *node.body, *node.else_], sure)
            case nodes.Not():
                return self.read(node.node, sure, True)
            case nodes.Or():
                return self.read(node.left, sure, True) | self.read(node.right, sure | shown(node.left, False), truth)
            case nodes.And():
                return self.read(node.left, sure, truth) | self.read(node.right, sure | shown(node.left, True), truth)
            case nodes.CondExpr():
                return self.branches(node.test, [node.expr1], [node.expr2] if node.expr2 else [], sure, truth)
            case nodes.If():
                return self.branches(node.test, node.body, [*node.elif_, *node.else_], sure, False)
        return self.all(node.iter_child_nodes(), sure)

    def all(self, parts: Iterable[nodes.Node | None], sure: frozenset[str], truth: bool = False) -> frozenset[str]:
        return NONE.union(*(self.read(part, sure, truth) for part in parts if part is not None))

    def branches(
        self, test: nodes.Node, yes: Sequence[nodes.Node], no: Sequence[nodes.Node], sure: frozenset[str], truth: bool
    ) -> frozenset[str]:
        told = self.read(test, sure, True)
        return told | self.all(yes, sure | shown(test, True), truth) | self.all(no, sure | shown(test, False), truth)


def selects_defined(node: nodes.Filter) -> bool:
    """`select('defined')` and `reject('undefined')`."""
    words = [argument.value for argument in node.args if isinstance(argument, nodes.Const)]
    return (node.name, words) in [("select", ["defined"]), ("reject", ["undefined"])]


def shown(test: nodes.Node, outcome: bool) -> frozenset[str]:
    """The names that are surely defined when a test came out so."""
    match test:
        case nodes.Name():
            return frozenset([test.name]) if outcome else NONE
        case nodes.Test(node=nodes.Name(name=name), name=sort) if sort == ("defined" if outcome else "undefined"):
            return frozenset([name])
        case nodes.Not():
            return shown(test.node, not outcome)
        case nodes.And() | nodes.Or():
            left, right = shown(test.left, outcome), shown(test.right, outcome)
            return left | right if isinstance(test, nodes.And) is outcome else left & right
    return NONE
