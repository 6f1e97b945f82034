"""Texts that a regular expression matches: a few different ones, the plainest first.

Reads the part of the syntax that allow-lists and schemas are written in, and checks every text with `re` itself. A
pattern that says more (look-around, references, flags) gives nothing. The parser of `re` has no public name, and the
libraries that write such texts are built on it.
"""

from __future__ import annotations

import re
import string
import warnings
from collections.abc import Callable
from typing import TypeAlias

Make: TypeAlias = Callable[[int], str]
"""Makes the k-th text."""
CHARACTERS = string.ascii_letters + string.digits + string.punctuation + " "
BEYOND = "éßλ中"
SETS = {"d": string.digits, "s": string.whitespace, "w": string.ascii_letters + string.digits + "_"}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
CODES = {"x": 2, "u": 4, "U": 8}
"""Hexadecimal digits after the letter."""
TEXTS = 5
MANY = 1_000
"""A repetition that is longer than this is not written."""
LONGEST = 100_000
"""Characters of the longest text that is written."""


class Unread(Exception):
    """A pattern says more than is understood here."""


def matching(pattern: str, whole: bool = True) -> list[str]:
    """Texts that a regular expression matches, as a whole or anywhere; none where it says more than is understood."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what later versions of `re` may read otherwise
            known = re.compile(pattern)
        holds = known.fullmatch if whole else known.search
        make = Reader(pattern).read()
        texts = [make(k) for k in range(TEXTS)]
    except (re.error, Unread, RecursionError, OverflowError):
        return []
    return [text for text in dict.fromkeys(texts) if holds(text)]


class Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def read(self) -> Make:
        made = self.choice()
        if self.at < len(self.text):
            raise Unread(self.text[self.at :])
        return made

    def next(self, *wanted: str) -> str:
        """What comes next, if it is one of these; then it is passed."""
        found = next((one for one in wanted if self.text.startswith(one, self.at)), "")
        self.at += len(found)
        return found

    def one(self) -> str:
        """The next character, which is passed."""
        if self.at == len(self.text):
            raise Unread("it ends early")
        self.at += 1
        return self.text[self.at - 1]

    def number(self) -> int | None:
        digits = re.compile("[0-9]*").match(self.text, self.at)
        assert digits is not None
        self.at = digits.end()
        return int(digits[0]) if digits[0] else None

    def choice(self) -> Make:
        ways = [self.sequence()]
        while self.next("|"):
            ways.append(self.sequence())
        return lambda k: ways[k % len(ways)](k)

    def sequence(self) -> Make:
        parts = list[Make]()
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeated(self.atom()))
        return lambda k: "".join(part(k) for part in parts)

    def atom(self) -> Make:
        match self.one():
            case "(":
                return self.group()
            case "[":
                return member(self.members())
            case ".":
                return lambda k: CHARACTERS[k % len(CHARACTERS)]
            case "^" | "$":
                return lambda _: ""
            case "\\":
                return self.escaped()
            case sign:
                return lambda _: sign

    def group(self) -> Make:
        if self.next("?P<"):
            while self.one() != ">":
                """The name of a group is not part of a text."""
        elif self.next("?") and not self.next(":", ">"):
            raise Unread("it looks around, or sets flags")
        inner = self.choice()
        if not self.next(")"):
            raise Unread("a group has no end")
        return inner

    def repeated(self, part: Make) -> Make:
        """The atom, as often as what follows it says."""
        if (bounds := self.bounds()) is None:
            return part
        self.next("?", "+")  # how it is looked for is not part of a text
        return times(part, *bounds)

    def bounds(self) -> tuple[int, int] | None:
        match self.next("*", "+", "?", "{"):
            case "*":
                return 0, MANY
            case "+":
                return 1, MANY
            case "?":
                return 0, 1
            case "{":
                least = self.number()
                most = self.number() if (open := self.next(",")) else least
                if not self.next("}") or (least is None and most is None):
                    raise Unread("a brace stands for itself")
                return least or 0, MANY if open and most is None else most or 0
        return None

    def escaped(self) -> Make:
        sign = self.one()
        if sign in "bBAZ":
            return lambda _: ""
        return member(self.set_of(sign))

    def set_of(self, sign: str) -> str:
        """The characters that an escape stands for."""
        if sign.lower() in SETS:
            inside = SETS[sign.lower()]
            return inside if sign.islower() else "".join(one for one in CHARACTERS if one not in inside)
        if sign in CODES:
            self.at += CODES[sign]
            return chr(int(self.text[self.at - CODES[sign] : self.at], 16))
        if sign in CONTROLS:
            return CONTROLS[sign]
        if sign.isalnum():
            raise Unread("it refers to a group")
        return sign

    def members(self) -> str:
        """The characters of a class."""
        negated, found = bool(self.next("^")), ""
        while found == "" or not self.next("]"):
            low = self.some()
            if self.next("-]"):
                found += low + "-"
                self.at -= 1
            elif self.next("-"):
                found += "".join(map(chr, range(ord(low), min(ord(self.some()), ord(low) + MANY) + 1)))
            else:
                found += low
        return "".join(one for one in CHARACTERS + BEYOND if one not in found) if negated else found

    def some(self) -> str:
        sign = self.one()
        if sign != "\\":
            return sign
        return "\b" if self.next("b") else self.set_of(self.one())


def member(signs: str) -> Make:
    """One of several characters, a printable one where there is any."""
    if not signs:
        raise Unread("no character is known that fits")
    some = "".join(sign for sign in signs if sign.isprintable()) or signs
    return lambda k: some[k % len(some)]


def times(part: Make, least: int, most: int) -> Make:
    if least > MANY:
        raise Unread("it is too long")

    def made(k: int) -> str:
        text = ""
        for n in range(min(most, least + k % 3)):
            text += part(k + n)
            if len(text) > LONGEST:  # repetitions of repetitions come to any length
                raise Unread("it is too long")
        return text

    return made
