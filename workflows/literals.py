"""Secrets that a file spells out, where it should name a variable: no message about the file shows them.

    hidden({"api_key": "sk-abc…"}).text("this is the text 'sk-abc…'")       "this is the text '***'"

They are known by what their key is called, however it is spelled, by where they stand (headers, environments, the
password of an address), and by their own look. What is only a message's is masked too often rather than too seldom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loopworth.runs.secrets import KEY, Secrets, in_address

WORDS = frozenset(
    (
        *("auth", "authorization", "bearer", "cookie", "credential", "credentials", "passphrase", "passwd"),
        *("password", "pat", "pwd", "secret", "token"),
    )
)
KEYS = ("apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey")
HOLDERS = ("headers", "cookies", "env", "environment")
"""What is below these is shown to nobody."""
TYPED = ("input", "output", "json_schema")
"""Below these stand types, whatever the fields are called."""
LEAST = 6
"""Characters of the shortest text that is masked; one of fewer than `KEY` only as a word of its own."""
VARIABLE = re.compile(r"\$?\{?[A-Z][A-Z0-9_]*\}?")
"""The name of an environment variable, which is no secret."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
LOOKS = re.compile(
    r"\b(?:(?=[\w-]*\d)(?:sk|pk|rk)[-_][\w-]{8,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_\w{16,}"
    r"|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{16,}|eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]+)?)"
)
"""Keys of well-known services, and tokens that are signed JSON."""
SCHEME = re.compile(r"(?:bearer|basic|token)\s+(\S+)", re.IGNORECASE)


def unset(name: str) -> tuple[str, str]:
    """What is wrong where a variable is not set, and what to do: what names it may be no name, but the secret."""
    if NAME.fullmatch(name):
        return f"the environment variable {name} is not set", f"set {name}"
    return "this names no environment variable", "write the name of the one that holds the secret, as {env: API_KEY}"


def hidden(value: Any) -> Secrets | None:
    """The secrets that a file's plain value spells out; None where it has none."""
    found = {text: len(text) < KEY for text in literals(value) if len(text) >= LEAST}
    return Secrets(found) if found else None


def literals(value: Any, key: str = "", held: bool = False) -> Iterator[str]:
    """The texts under a key that are secrets; `held`: whatever it is called."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in TYPED:
                yield from literals(part, str(name), held or str(name).lower() in HOLDERS)
    elif isinstance(value, list):
        for part in value:
            yield from literals(part, key, held)
    elif isinstance(text := getattr(value, "text", value), str):
        yield from LOOKS.findall(text)
        yield from in_address(text) if "://" in text else ()
        if key == "env":
            yield from () if NAME.fullmatch(text) else (text,)
        elif (held or telling(key, text)) and not VARIABLE.fullmatch(text) and "{{" not in text:
            yield from (text, *SCHEME.findall(text))


def telling(key: str, text: str) -> bool:
    """Whether a key says that its value is a secret: `api_key`, `X-Api-Key`, `authToken`, `DB_PASSWORD`; `key` alone
    does where the value is long and of one piece."""
    words = [word.lower() for word in PARTS.findall(key)]
    joined = "".join(words)
    if joined == "key":
        return len(text) >= 2 * KEY and not re.search(r"\s", text)
    return bool(WORDS & {*words}) or any(name in joined for name in KEYS)
