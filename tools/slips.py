"""The slips that models make when they write JSON, and what to write instead."""

from __future__ import annotations

import json
import re

from loopworth.tools.names import shown

MEMBER = re.compile(r'"[^"]*"\s*:')
"""The start of an object's member."""


def control(sign: str) -> str:
    """How a control character stands in a text: a line break and a tab have names, the others their number."""
    if sign in "\n\r\t":
        return r"a line break or tab inside a text must be escaped: write \n or \t"
    return rf"a control character inside a text must be escaped: write \u{ord(sign):04x}"


def slip(error: json.JSONDecodeError) -> str:
    """The likely mistake behind a parser's error, with what to write instead."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if error.msg.startswith("Unterminated string"):
        return "the text that starts here does not end: it was cut off, or its closing quote is missing"
    if error.msg.startswith("Invalid control character"):
        return control(error.doc[error.pos])
    if error.msg.startswith(r"Invalid \escape"):
        return r"a backslash inside a text must be escaped: write \\"
    if not after:
        return "the object does not end: it was cut off"
    if error.msg.startswith("Extra data"):
        return f"one object is needed, but {shown(after, 40)} follows it"
    if after[0] in "}]" and before.endswith(","):
        return f"no comma is allowed before {after[0]}"
    if error.msg.startswith("Illegal trailing comma"):
        return "no comma is allowed before the end"
    return strayed(before, after)


def strayed(before: str, after: str) -> str:
    """The mistake where a value, a name or a comma was expected and `after` was found."""
    found = shown(after, 40)
    if after.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if after.startswith("`"):
        return "write the object alone, without a code fence"
    if before.endswith(('"', "}", "]")) and MEMBER.match(after):
        return f"a comma is missing before {found}"
    if before.endswith('"') and after[0] != ",":
        return rf"found {found} after a text: inner quotes must be escaped, write \" inside a text"
    if after.startswith("'"):
        return "JSON takes double quotes, not single ones"
    if after.startswith(("True", "False", "None")):
        return "JSON writes true, false and null"
    if before.endswith(("{", ",")):
        return f"names and texts stand in double quotes, found {found}"
    return f"found {found} where JSON expects something else"
