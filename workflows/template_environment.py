"""The sandbox of all templates.

It is immutable, undefined names are faults, there are no comments, no loader and no globals but `range`. On a mapping
`.x` is the key or a fault, never a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, Undefined
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from loopworth.workflows.template_data import FILTERS, LONGEST, TemplateFault, kind, small_range, text


class Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(["*", "**", "%"])

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.missing(obj, attribute)
        if isinstance(obj, Undefined):
            return obj._fail_with_undefined_error()
        if readable(obj, attribute):
            return super().getattr(obj, attribute)
        return self.undefined(hint=f"{kind(obj)} has no {attribute!r} that can be read here")

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Undefined):
            return obj._fail_with_undefined_error()
        if isinstance(obj, Mapping) or isinstance(argument, str):
            return self.getattr(obj, argument)
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(hint=f"{kind(obj)} has no item {argument!r}" if isinstance(argument, int) else None)

    def missing(self, obj: Mapping[str, Any], key: Any) -> Undefined:
        has = ", ".join(str(name) for name in list(obj)[:12]) or "nothing"
        return self.undefined(hint=f"there is no {key!r} here; it has {has}")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            raise TemplateFault("`%` does not fill in a text here", "join texts with `~`")
        if too_large(operator, left, right):
            raise OverflowError
        return super().call_binop(context, operator, left, right)


STR_METHODS = frozenset(
    """capitalize casefold count endswith find isalnum isalpha isdigit islower isspace isupper lower lstrip partition
    removeprefix removesuffix replace rfind rpartition rsplit rstrip split splitlines startswith strip swapcase title
    upper""".split()  # noqa: SIM905 - read as one sentence
)


def readable(obj: Any, attribute: str) -> bool:
    """Attributes that a template may read of what is not a mapping: methods of text, and Jinja's own `loop`."""
    if isinstance(obj, str):
        return attribute in STR_METHODS
    if isinstance(obj, list):
        return attribute in ("count", "index")
    return isinstance(obj, LoopContext) or attribute in getattr(type(obj), "_fields", ())


def too_large(operator: str, left: Any, right: Any) -> bool:
    """Whether an operation would make a value that fills the memory."""
    if operator == "**":
        return all(isinstance(n, int) for n in (left, right)) and left.bit_length() * right > LONGEST
    if operator == "*":
        text, n = (left, right) if isinstance(left, str | list) else (right, left)
        return isinstance(text, str | list) and isinstance(n, int) and len(text) * n > LONGEST
    return False


def built() -> Environment:
    """The one environment of all templates."""
    made = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=text,
        cache_size=0,
        comment_start_string="\ue000#",  # private-use characters: a file cannot start a comment by chance
        comment_end_string="#\ue001",
    )
    made.globals = {"range": small_range}
    made.filters |= FILTERS
    for name in ("random", "pprint", "attr", "xmlattr", "urlize", "safe", "forceescape"):
        del made.filters[name]  # not repeatable, or made for HTML and for Python's own objects
    return made


env = built()
