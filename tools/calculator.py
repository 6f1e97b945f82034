"""The built-in `calculator`: exact arithmetic on integers and decimals. Nothing is ever evaluated as Python."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from loopworth.tools.arguments import MOST_BITS, ArgumentFault
from loopworth.tools.made import Made
from loopworth.tools.names import listed, shown

MOST_CHARACTERS = 1_000
MOST_DIGITS = 4_000
"""Zeros that an exponent in a number (1e9) may stand for."""
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|//|\*\*|[-+*/%(),])"
)
HINTS = {
    "^": "write ** for a power",
    "=": "write only what is to be computed",
    "\N{MULTIPLICATION SIGN}": "write * to multiply",
    "·": "write * to multiply",
    "÷": "write / to divide",
    "\N{MINUS SIGN}": "write - to subtract",
    "[": "write round brackets",
    "{": "write round brackets",
    "!": "write the product out",
}

BINARY: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
UNARY: Mapping[type[ast.unaryop], Callable[[Fraction], Fraction]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def total(*values: Fraction) -> Fraction:
    return sum(values, Fraction())


def rounded(value: Fraction, digits: Fraction = Fraction()) -> Fraction:
    if digits.denominator != 1 or abs(digits) > MOST_DIGITS:
        raise ArgumentFault("round(value, digits) needs a whole number of digits")
    return Fraction(round(value, int(digits)))


FUNCTIONS: Mapping[str, tuple[Callable[..., Fraction], int, int]] = {
    "abs": (abs, 1, 1),
    "max": (max, 2, MOST_CHARACTERS),
    "min": (min, 2, MOST_CHARACTERS),
    "round": (rounded, 1, 2),
    "sum": (total, 1, MOST_CHARACTERS),
}
"""The functions there are, and how many values each takes."""


def calculator() -> Made:
    return Made(calculate, inline=True)


def calculate(expression: str) -> int | float | str:
    """Compute exactly with + - * / // % ** and brackets, and with abs, max, min, round (half to even) and sum.

    Args:
        expression: such as (1250 - 3 * 0.1) / 4; without units, thousands separators or variables
    """
    if len(expression) > MOST_CHARACTERS:
        raise ArgumentFault(
            f"the expression has {len(expression):,} characters, and at most {MOST_CHARACTERS:,} are read"
        )
    spelled(expression)
    text = " ".join(expression.split())
    try:
        return written(value(ast.parse(text, mode="eval").body, text))
    except SyntaxError as error:
        raise ArgumentFault(f"{shown(text)} is no expression: {place(text, error)}") from None
    except (RecursionError, MemoryError):
        raise ArgumentFault("the expression is nested too deeply: compute it in parts") from None


def spelled(text: str) -> None:
    """Only numbers, signs and the names of functions: so the parser never meets a word or a text of Python."""
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = TOKEN.match(text, at)
        if found is None:
            rest = text[at:].lstrip()
            hint = HINTS.get(rest[0], "write numbers, + - * / // % ** and brackets")
            raise ArgumentFault(f"{shown(rest[0])} has no meaning here: {hint}")
        if (name := found["name"]) is not None and name not in FUNCTIONS:
            raise ArgumentFault(
                f"{shown(name)} is not known: there are no variables, and the functions are {listed(FUNCTIONS)}"
            )
        at = found.end()


def place(text: str, error: SyntaxError) -> str:
    rest = text[error.offset - 1 :] if error.offset else ""
    return f"it goes wrong at {shown(rest, 20)}" if rest else "it does not end"


def value(node: ast.expr, text: str) -> Fraction:
    """The value of a node; `text` is what the whole was parsed from, whose decimals are read as they stand there."""
    match node:
        case ast.Constant():
            return number(ast.get_source_segment(text, node) or "")
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](value(operand, text))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return power(value(left, text), value(right, text))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return combined(BINARY[type(op)], value(left, text), value(right, text))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return called(name, [value(each, text) for each in args])
    raise ArgumentFault(meaningless(node, ast.get_source_segment(text, node) or ""))


def meaningless(node: ast.expr, text: str) -> str:
    if isinstance(node, ast.Tuple):
        return f"{shown(text)} are several numbers: write one without thousands separators"
    hint = "write * to multiply" if isinstance(node, ast.Call) else "write numbers, + - * / // % ** and brackets"
    return f"{shown(text)} has no meaning here: {hint}"


def number(text: str) -> Fraction:
    if re.match("0_?[0-9]", text):
        raise ArgumentFault(f"{shown(text)} begins with a zero: write numbers without thousands separators")
    exact = Decimal(text)
    if abs(exact.adjusted()) > MOST_DIGITS:
        raise ArgumentFault(f"{shown(text)} has too many digits")
    return Fraction(exact)


def combined(operation: Callable[[Fraction, Fraction], Any], left: Fraction, right: Fraction) -> Fraction:
    try:
        return bounded(Fraction(operation(left, right)))
    except ZeroDivisionError:
        raise ArgumentFault("a division by zero") from None


def power(left: Fraction, right: Fraction) -> Fraction:
    """Refused before it is computed where it would be too large."""
    if right.denominator != 1:
        raise ArgumentFault("an exponent must be a whole number: roots have no exact value")
    if left == 0 and right < 0:
        raise ArgumentFault("a division by zero")
    if left == 0:
        return Fraction(right == 0)
    bits = max(left.numerator.bit_length(), left.denominator.bit_length())
    if bits > 1 and abs(right) * (bits - 1) > MOST_BITS:
        raise ArgumentFault("the result of ** has too many digits")
    exponent = int(right) if bits > 1 else int(right) % 2
    return bounded(Fraction(left**exponent))


def called(name: str, values: list[Fraction]) -> Fraction:
    function, least, most = FUNCTIONS[name]
    if not least <= len(values) <= most:
        wanted = f"{least} or {most} values" if most == 2 else "one value" if most == 1 else f"at least {least}"
        raise ArgumentFault(f"{name} takes {wanted}, got {len(values)}")
    return bounded(function(*values))


def bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ArgumentFault("a result has too many digits: compute it in parts")
    return value


def written(value: Fraction) -> int | float | str:
    """An integer; a float where it stands for exactly this decimal, or where no decimal does (1/3: the nearest one);
    any other decimal as its text."""
    if value.denominator == 1:
        return value.numerator
    exact = decimal(value)
    try:
        near = float(value)
    except OverflowError:
        near = 0.0
    if (exact is None and near) or Fraction(Decimal(repr(near))) == value:
        return near
    return exact if exact is not None else f"{value.numerator}/{value.denominator}"


def decimal(value: Fraction) -> str | None:
    """The exact decimal, if there is one that is not too long: only twos and fives in the denominator."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        places = max(places, times)
    shifted = abs(value.numerator) * 10**places // value.denominator
    if rest != 1 or shifted.bit_length() > MOST_BITS:
        return None
    digits = str(shifted).rjust(places + 1, "0")
    return f"{'-' * (value < 0)}{digits[:-places]}.{digits[-places:]}"
