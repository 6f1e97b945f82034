"""The ways in which programs write a key that they quote."""

from __future__ import annotations

import base64
import html
import json
import textwrap
import urllib.parse
from collections.abc import Callable

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON, in full Unicode": lambda key: json.dumps(key, ensure_ascii=False),
    "JSON in JSON": lambda key: json.dumps(json.dumps(key)),
    "JSON with escaped slashes": lambda key: json.dumps(key).replace("/", "\\/"),
    "every sign as \\u": lambda key: escaped(key),
    "a Python literal": repr,
    "bytes of Python": lambda key: repr(key.encode()),
    "URL": lambda key: urllib.parse.quote(key, safe=""),
    "URL, small hex": lambda key: lowered(urllib.parse.quote(key, safe="")),
    "URL, twice": lambda key: urllib.parse.quote(urllib.parse.quote(key, safe=""), safe=""),
    "form": urllib.parse.quote_plus,
    "every octet as %": lambda key: "".join(f"%{octet:02x}" for octet in key.encode()),
    "HTML": html.escape,
    "HTML in JSON": lambda key: json.dumps(html.escape(key)),
    "HTML, by number": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "base 64, in lines": lambda key: base64.encodebytes(b"x" * 48 + key.encode() + b"yz").decode(),
    "hex, in lines": lambda key: "\n".join(textwrap.wrap((b"x" * 25 + key.encode()).hex(), 60)),
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    **{
        f"base 64 after {before}, {name}": lambda key, before=before, make=make: make(
            b"x" * before + key.encode() + b"yz"
        ).decode()
        for before in range(3)
        for name, make in {"std": base64.b64encode, "url": base64.urlsafe_b64encode}.items()
    },
}


def escaped(text: str) -> str:
    """As JSON may write any sign."""
    data = text.encode("utf-16-be").hex()
    return "".join(f"\\u{data[k : k + 4]}" for k in range(0, len(data), 4))


def lowered(text: str) -> str:
    """The escapes of a URL in small letters."""
    return "".join(f"%{part[:2].lower()}{part[2:]}" if k else part for k, part in enumerate(text.split("%")))


def left(key: str, shown: str) -> list[str]:
    """The spellings of a key that can still be read in a text."""
    found = []
    for name, spell in SPELLINGS.items():
        text = spell(key).strip("\"'b=")
        quarter = len(text) // 4
        if "lines" not in name and text[quarter : len(text) - quarter] in shown:  # in lines, most is not the key
            found.append(name)
    return found
