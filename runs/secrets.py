"""What must not be seen: the values of keys, in whatever spelling they come.

    learn(os.environ["OPENAI_API_KEY"])       known from now on, to the whole process
    hide({"said": "my key is sk-..."})        {"said": "my key is ***"}; a value without a secret is returned as it is

A secret is found as it is, escaped as in JSON, HTML, a URL or a Python literal (each sign by itself, so also in parts
and several times), in hexadecimal, and in base 64 wherever it begins in it.
"""

from __future__ import annotations

import base64
import logging
import re
import traceback
from collections.abc import Iterable, Iterator
from html.entities import html5
from itertools import pairwise
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

T = TypeVar("T")
MASK = "***"
KEY = 8
"""Characters of the shortest key: a shorter one would be found in ordinary text by chance."""
NAMED = 4
"""The same for what a file calls a secret by name; under `KEY`, it is only found as a word of its own."""
MARKS = ("\\u", "\\x", "\\U", "&#", "%")
"""What a spelling of every sign by itself has in it; no other spelling changes letters and digits."""
RAW_MARKS = tuple(mark.encode() for mark in MARKS)
ENTITIES: dict[str, list[str]] = {}
for entity, sign in html5.items():
    if entity.endswith(";"):
        ENTITIES.setdefault(sign, []).append(entity)
LINE = 60
"""Characters of the shortest lines that hexadecimal and base 64 are expected to be wrapped to."""
FEW = 20
"""Up to so many needles, those of a key or two, are found sooner than runs of letters and digits."""
WRAP = r"(?:\s|\\{1,40}[rn]|%(?:25){0,5}0[aAdD]){0,8}"
"""The line ends that may stand in hexadecimal and in base 64."""
SHORT = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
encode = msgspec.json.Encoder(enc_hook=str).encode


class Secrets:
    """Some secrets, compiled to be looked for. `values` maps each to whether it must stand as a word of its own."""

    def __init__(self, values: dict[str, bool]) -> None:
        self.values = values
        self.needles = tuple({needle for value, alone in values.items() for needle in needles(value, alone)})
        self.raw = tuple(needle.encode() for needle in self.needles)
        shortest = min(map(len, self.raw), default=0)
        self.runs = re.compile(rb"[A-Za-z0-9]{%d,}" % shortest) if len(self.raw) > FEW else None
        self.escaped = re.compile("|".join("".join(map(escapes, run(value)[:2])) for value in values))
        self.pattern = re.compile("|".join(pattern(value, values[value]) for value in sorted(values, key=len)[::-1]))
        self.numeric = any(value.isdecimal() for value in values)

    def text(self, text: str) -> str:
        """`text` with a mask for every secret in it."""
        for needle in self.needles:
            if needle in text:
                return self.pattern.sub(MASK, text)
        for mark in MARKS:
            if mark in text:
                return self.pattern.sub(MASK, text) if self.escaped.search(text) else text
        return text

    def suspects(self, content: bytes) -> bool:
        """Whether JSON may hold a secret. All needles are letters and digits: many are only looked for in runs of these
        that are long enough for one."""
        text = content if self.runs is None else b" ".join(self.runs.findall(content))
        for needle in self.raw if text else ():
            if needle in text:
                return True
        for mark in RAW_MARKS:
            if mark in content:
                return self.escaped.search(content.decode("utf-8", "replace")) is not None
        return False

    def masked(self, value: Any) -> Any:
        """Plain data and values with all texts in them masked, the names of fields too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.masked(key): self.masked(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.masked, value)) if type(value) in (list, tuple) else value
        if isinstance(value, msgspec.Raw):
            shown = self.masked(msgspec.json.decode(value)) if self.suspects(bytes(value)) else None
            return value if shown is None else msgspec.Raw(encode(shown))
        if isinstance(value, msgspec.Struct):
            fields = {name: self.masked(getattr(value, name)) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        if self.numeric and isinstance(value, int | float) and self.text(str(value)) != str(value):
            return MASK
        return value


# -- what is known ----------------------------------------------------------------------------------------------------


class Known:
    """The secrets of the process. Once known, a value stays secret: what one run was given, another may print."""

    def __init__(self) -> None:
        self.secrets: Secrets | None = None

    def learn(self, values: Iterable[str | None], least: int) -> None:
        before = self.secrets.values if self.secrets is not None else {}
        found = {word: len(word) < KEY for value in values if value and len(word := value.strip()) >= least}
        if found.keys() - before.keys():
            self.secrets = Secrets(before | found)
            Veil.install()

    def forget(self) -> None:
        """Know nothing; for tests, which make up keys."""
        self.secrets = None


KNOWN = Known()


def learn(*values: str | None, least: int = KEY) -> None:
    """Keep these secret from now on, but for those of fewer than `least` characters."""
    KNOWN.learn(values, least)


def hide(value: T) -> T:
    """`value` without the known secrets: a mask stands for each. The same object where there is none in it."""
    secrets = KNOWN.secrets
    if secrets is None or value is None:
        return value
    if isinstance(value, str):
        return secrets.text(value)  # type: ignore[return-value]  # a text for a text
    try:
        content = encode(value)
    except (msgspec.MsgspecError, UnicodeError, TypeError, ValueError, RecursionError):
        return secrets.masked(value)  # type: ignore[no-any-return]
    return secrets.masked(value) if secrets.suspects(content) else value


def in_address(url: str) -> Iterator[str]:
    """The password and the values of the query of an address: some endpoints take their key there."""
    try:
        parts = urlsplit(url)
        yield from filter(None, (parts.password, *(value for _, value in parse_qsl(parts.query))))
    except ValueError:
        return


# -- spellings --------------------------------------------------------------------------------------------------------


def needles(value: str, alone: bool) -> Iterator[str]:
    """A text that is in each spelling of a secret but those that spell every sign by itself."""
    yield run(value)
    if not alone:
        hex = value.encode().hex()
        for text in (hex, hex.upper(), *map(run, based(value))):
            yield from parts(text, len(text) // LINE + 2)  # one more than lines can end in it: one of them is whole


def parts(text: str, count: int) -> Iterator[str]:
    """`text` in `count` parts, alike in length."""
    ends = [len(text) * k // count for k in range(count + 1)]
    yield from (text[start:end] for start, end in pairwise(ends))


def run(text: str) -> str:
    """The longest run of letters and digits, which most spellings leave as they are."""
    return max(re.findall(r"[A-Za-z0-9]+", text), key=len, default="")


def pattern(value: str, alone: bool) -> str:
    """Matches every spelling of a secret."""
    plain = "".join(map(spellings, re.sub(r"\\+", r"\\", value)))  # a run of them is matched as one
    if alone:
        return rf"(?<![A-Za-z0-9]){plain}(?![A-Za-z0-9])"
    hex = WRAP.join(map(digit, value.encode().hex()))
    return "|".join([plain, hex, *(WRAP.join(map(sign64, core)) for core in based(value))])


def spellings(sign: str) -> str:
    """Matches a sign as it is, or as an escape of JSON, Python, HTML or a URL, itself escaped several times.

    Repetitions are bounded, so that no text takes long to look through."""
    plain = rf"\\{{0,40}}{re.escape(sign)}" if sign in "\"'/" else r"\\{1,40}" if sign == "\\" else re.escape(sign)
    found = [plain, escapes(sign), *(f"&(?:amp;){{0,5}}{re.escape(entity)}" for entity in ENTITIES.get(sign, ()))]
    found += [r"\+"] if sign == " " else [rf"\\{{1,40}}{SHORT[sign]}"] if sign in SHORT else []
    return f"(?:{'|'.join(found)})"


def escapes(sign: str) -> str:
    """Matches the escapes that any sign may have."""
    data, utf16 = sign.encode(), sign.encode("utf-16-be")
    units = "".join(rf"\\{{1,40}}u{digits(utf16[k : k + 2].hex())}" for k in range(0, len(utf16), 2))
    octets = "".join(rf"(?:%(?:25){{0,5}}|\\{{1,40}}x){digits(f'{octet:02x}')}" for octet in data)
    number = rf"&(?:amp;){{0,5}}#(?:0{{0,6}}{ord(sign)}|[xX]0{{0,6}}{digits(f'{ord(sign):x}')});"
    wide = rf"\\{{1,40}}U{digits(f'{ord(sign):08x}')}"
    small = [rf"\\{{1,40}}x{digits(f'{ord(sign):02x}')}"] if ord(sign) < 256 else []
    return f"(?:{'|'.join([units, octets, number, wide, *small])})"


def digits(hex: str) -> str:
    return "".join(map(digit, hex))


def digit(hex: str) -> str:
    """Matches a hexadecimal digit, whatever its case."""
    return f"[{hex}{hex.upper()}]" if hex.isalpha() else hex


def based(value: str) -> Iterator[str]:
    """What base 64 makes of a secret at each of the three places where it can begin, without the signs that what
    stands around it changes."""
    data = value.encode()
    for before in range(3):
        text = base64.b64encode(bytes(before) + data).decode()
        yield text[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


def sign64(sign: str) -> str:
    """Matches a sign of base 64, in the alphabet for URLs too, and escaped as in JSON or a URL."""
    plus, slash = r"(?:[+-]|%(?:25){0,5}2[bB]|\\{1,40}u002[bB])", r"(?:\\{0,40}/|_|%(?:25){0,5}2[fF])"
    return {"+": plus, "/": slash}.get(sign, sign)


# -- logs -------------------------------------------------------------------------------------------------------------


class Veil:
    """Makes the log records of a process, those of libraries too, without the known secrets in them."""

    def __init__(self, make: Any) -> None:
        self.make = make

    @classmethod
    def install(cls) -> None:
        make = logging.getLogRecordFactory()
        if not isinstance(make, cls):
            logging.setLogRecordFactory(cls(make))

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = self.make(*args, **kwargs)
        try:
            said = record.getMessage()
        except Exception:  # logging itself reports a message that its arguments do not fit
            return record
        if (shown := hide(said)) != said:
            record.msg, record.args = shown, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (shown := hide(told)) != told:
                record.exc_text, record.exc_info = shown, None
        record.stack_info = hide(record.stack_info)
        return record
