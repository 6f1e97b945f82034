"""How long an answer asks to wait before the next request.

https://www.rfc-editor.org/rfc/rfc9110#name-retry-after, https://platform.openai.com/docs/guides/rate-limits,
https://platform.claude.com/docs/en/api/rate-limits, https://console.groq.com/docs/rate-limits,
https://cloud.google.com/apis/design/errors#error_details
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
UNIT = r"(\d+(?:\.\d+)?) ?(ms|milli[a-z]*|s(?:ec[a-z]*)?|m(?:in[a-z]*)?|h(?:ours?)?)(?![a-z])"
UNITS = re.compile(UNIT, re.I)
WORDS = re.compile(rf"\b(?:try again|retry|wait)(?: again)? (?:in|after|for) ((?:{UNIT} ?)+)", re.I)
EPOCH, MILLISECONDS = 1e9, 1e11
"""From here on a number of seconds is a time, and from here on one in milliseconds."""
YEAR = 366 * 86400.0
"""Past that no wait is meant."""
RESETS = ("x-ratelimit-reset", "ratelimit-reset")
OF = re.compile(r"x-ratelimit-reset-(?P<openai>.+)|anthropic-ratelimit-(?P<anthropic>.+)-reset")


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """The seconds that Retry-After asks for; 0 where it does not, or cannot be read. `now` is the wall clock."""
    try:
        milliseconds = float(headers.get("retry-after-ms", ""))
    except ValueError:
        return wait(headers.get("retry-after", ""), now)
    return milliseconds / 1000 if 0 < milliseconds < 1000 * YEAR else 0.0


def limit_reset(headers: Mapping[str, str], now: float) -> float:
    """The seconds until a rate limit that has nothing left is full again; 0 where no header says so."""
    plain = [wait(headers[name], now) for name in RESETS if name in headers]
    return max([*plain, *resets(headers, now)], default=0.0)


def resets(headers: Mapping[str, str], now: float) -> Iterator[float]:
    """The same for limits by name, such as those on requests and on tokens: each has its own rest."""
    for name, text in headers.items():
        if match := OF.fullmatch(name.lower()):
            openai, anthropic = match["openai"], match["anthropic"]
            left = f"x-ratelimit-remaining-{openai}" if openai else f"anthropic-ratelimit-{anthropic}-remaining"
            if headers.get(left, "").strip() == "0":
                yield wait(text, now)


def retry_delay(error: Mapping[str, Any], now: float) -> float:
    """The seconds that Google's errors ask for among their details; 0 where there are none."""
    details = error.get("details")
    said = (
        [detail.get("retryDelay") for detail in details if isinstance(detail, dict)]
        if isinstance(details, list)
        else []
    )
    return max((wait(text, now) for text in said if isinstance(text, str)), default=0.0)


def told(message: str) -> float:
    """The seconds that an error asks for in words, such as `try again in 7m12.5s`; 0 where it does not."""
    match = WORDS.search(message)
    spans = UNITS.findall(match[1].lower()) if match else []
    seconds = sum((float(amount) * SECONDS[unit_of(name)] for amount, name in spans), 0.0)
    return seconds if seconds < YEAR else 0.0


def unit_of(name: str) -> str:
    return "ms" if name.startswith(("ms", "milli")) else name[0]


def wait(text: str, now: float) -> float:
    """The seconds that a text means: a number, spans (`1m2.5s`), a date, or a time as the seconds since 1970."""
    text = text.strip()
    seconds = spans(text) if text[-1:].isalpha() and text[:1].isdigit() and "T" not in text else number(text)
    if seconds is None:
        seconds = date(text) - now
    elif seconds >= EPOCH:
        seconds = (seconds / 1000 if seconds >= MILLISECONDS else seconds) - now
    return seconds if 0 < seconds < YEAR else 0.0


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def spans(text: str) -> float | None:
    found = PART.findall(text)
    whole = "".join(amount + unit for amount, unit in found) == text.replace(" ", "")
    return sum(float(amount) * SECONDS[unit] for amount, unit in found) if found and whole else None


def date(text: str) -> float:
    """An HTTP or ISO date as seconds since 1970; 0 for any other text."""
    from email.utils import parsedate_to_datetime  # imported on use: few answers hold a date, and it is slow to load

    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError):
            continue
    return 0.0
