"""What went wrong at an endpoint: by code and type first, by status next, by wording last."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from loopworth.models.pauses import limit_reset, retry_after, retry_delay, told
from loopworth.runs.usage import Value


class Unavailable(Exception):
    """The world outside failed: weights, a local server, a missing package. The text is for the user."""


Kind = Literal["content_filter", "context_overflow", "busy", "broken", "down", "refused"]
"""`busy` asks for patience, `broken` may work the next time, `down` gave no answer at all, `refused` never will."""


class Trouble(Value, frozen=True):
    """One failed request. `message` is the provider's, `code` its code or type; `after` the seconds it asks to wait."""

    kind: Kind
    message: str = ""
    code: str = ""
    status: int | None = None
    after: float = 0.0
    param: str = ""

    @property
    def again(self) -> bool:
        return self.kind in ("busy", "broken", "down")

    @property
    def words(self) -> str:
        """Status, code, what it is about, and message in one line."""
        unnumbered = "no answer" if self.kind == "down" else "an error in the answer"
        status = unnumbered if self.status is None else f"status {self.status}"
        about = [self.code if self.code != str(self.status) else "", "" if self.param in self.message else self.param]
        code = f" ({', '.join(filter(None, about))})" if any(about) else ""
        return f"{status}{code}{': ' if self.message else ''}{self.message}"


FILTER_CODES = re.compile(
    r"1301|content_?filter(ed)?|\w*policy_?violation|data_inspection_failed|moderation_blocked"  # 1301 is Zhipu's
)
OVERFLOW_CODES = re.compile(
    r"context_(length|window|size)|prompt_too_long|exceed_context|input_too_long|string_above_max"
)
FINAL_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "invalid_api_key",
    "model_not_found",
    "insufficient_balance",
    "unknown_parameter",
    "unsupported_parameter",
    "unsupported_value",
    "missing_required_parameter",
}
REFUSALS = {
    "authentication_error",
    "billing_error",
    "invalid_request_error",
    "not_found_error",
    "permission_error",
    "unprocessable_entity_error",
}
"""What says, where there is no status to say it, that another attempt would end the same."""
FILTER_WORDS = re.compile(
    r"content (management |usage )?(policy|filter)|safety (system|filter|policy)|\bmoderation\b|input was flagged"
    r"|(flagged|violat\w*)\b.{0,60}\bpolic",
    re.I,
)
OVERFLOW_WORDS = re.compile(
    r"context[ _-]?(length|window|size)|maximum (context|prompt|input)\b"
    r"|(exceed|larger|longer|greater|too).{0,40}\bcontext|context\b.{0,40}\b(exceed|overflow|full)"
    r"|(prompt|inputs?|request|messages?)\b.{0,30}\btoo (long|large|many tokens)"
    r"|too many (input |prompt )?tokens\b(?! per)|(input|prompt) tokens?\b.{0,40}\b(above|exceed|over|limit|greater)"
    r"|must have less than \d+ tokens|\btokens\b.{0,40}must be <=? ?\d"
    r"|exceed\w* (the )?model('s)? token limit|(prompt|input) exceeds? (the )?max\w* length|range of input length"
    r"|request payload size exceeds|reduce the length of the (messages|prompt|input)",
    re.I,
)
NO_SYSTEM = re.compile(
    r"system (role|message|prompt|instruction)s?\b.{0,40}\bnot\b|\bnot\b.{0,40}\bsystem (role|message)"
    r"|\brole\b.{0,20}\bnot\b.{0,20}\bsystem\b|unexpected role\W{0,3}system"
    r"|only user.{0,20}assistant.{0,20}roles?\b|(should|must) be \W?user\W? or \W?assistant",
    re.I,
)
SYSTEM_FIRST = re.compile(
    r"system (role|message|prompt)s?\b.{0,40}\b(beginning|first|start|once)\b"
    r"|(initial|one|single) (optional )?system message|multiple system messages",
    re.I,
)
ALTERNATING = re.compile(r"roles? must alternate|must alternate between|alternat\w+ (user|roles?)", re.I)
UNKNOWN_PARAMETER = re.compile(r"unsupported param", re.I)
BY_TEMPLATE = (NO_SYSTEM, SYSTEM_FIRST, ALTERNATING, UNKNOWN_PARAMETER)
"""What a template, or a server that checks late, says under a status of its own failure: it will never take this."""
NO_SUCH_ID = re.compile(
    r"(tool.?(call|use).{0,20}\bid\b|tool_?(call|use)_?id\b).{0,160}(length|pattern|characters|a-z)", re.I | re.S
)
"""What is said of a call's id that has another form than the endpoint gives them: it is never too long a prompt."""
BROKEN_OFF = {"error", "abort", "aborted", "cancelled", "canceled", "timeout", "insufficient_system_resource"}
"""Finish reasons of a reply that the server gave up: half an answer, never to be taken for a whole one."""
WORDED = (None, 400, 403, 413, 422, 500)
"""The statuses at which wording is read: elsewhere the status says it all."""
PATIENT = (429, 529)
PASSING = (408, 409, 425, *PATIENT)


def answers(body: Any) -> bool:
    """Whether there is a choice to read."""
    choices = body.get("choices") if isinstance(body, dict) else None
    return isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)


def trouble(
    status: int, body: Any, headers: Mapping[str, str], now: float, answers: Callable[[Any], bool] = answers
) -> Trouble | None:
    """The trouble an answer holds, also one of status 200; None where there is none.

    `body` is decoded JSON, or the text of one that is not. `now` is the wall clock, for dates in Retry-After. `answers`
    says whether a body holds a reply that can be read.
    """
    error = error_of(body, answers(body))
    if error is None and status < 400:
        return None if answers(body) else unanswered(status, body)
    error = error or {"message": plain(body)}
    numbers, codes = statuses_of(codes_of(error))
    real = status if status >= 400 else next(iter(numbers), None)
    message = text_of(error)
    kind = kind_of(real, codes, message)
    after = retry_after(headers, now)
    if after and kind == "broken":
        kind = "busy"
    elif kind == "busy":
        after = after or limit_reset(headers, now) or retry_delay(error, now) or told(message)
    if kind in ("busy", "broken") and headers.get("x-should-retry") == "false":
        kind = "refused"
    if kind == "content_filter" and (found := sorted(set(filtered(error)))):
        message = f"{', '.join(found)}: {message}"
    return Trouble(kind, message, next(iter(codes), ""), real, after, str(error.get("param") or ""))


def unanswered(status: int, body: Any) -> Trouble:
    """The trouble of an answer that is neither an error nor a reply: a filter may have left nothing of it."""
    feedback = body.get("promptFeedback") if isinstance(body, dict) else None
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    if found := sorted({*filtered(body), *([str(reason)] if reason else [])}):
        return Trouble("content_filter", f"{', '.join(found)}: the prompt was filtered", status=status)
    return Trouble("broken", no_answer(body), status=status)


def no_answer(body: Any) -> str:
    """What there is in place of a reply: often a web page, where the address is not quite the server's."""
    if not isinstance(body, str):
        return "the answer holds no reply"
    return f"the answer is not JSON: {words}" if (words := plain(body)) else "the answer is empty"


def error_of(body: Any, answered: bool) -> dict[str, Any] | None:
    """The error in a body, whatever its shape: at the top, in the first choice, in a list, or the whole body."""
    body = body[0] if isinstance(body, list) and len(body) == 1 else body
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    inner = first.get("error") if isinstance(first, dict) else None
    error = body.get("error") or inner
    if error:
        return error if isinstance(error, dict) else {"message": str(error)}
    if body.get("object") == "error" or (not answered and (isinstance(body.get("message"), str) or "detail" in body)):
        return body
    ended = str(first.get("finish_reason") or "").lower() if isinstance(first, dict) else ""
    return {"message": f"the provider broke the reply off: {ended}"} if ended in BROKEN_OFF else None


def codes_of(error: Mapping[str, Any]) -> Iterator[str]:
    """Code and type, those of an inner error too, in lower case."""
    inner = error.get("innererror") or error.get("inner_error")
    for holder in (error, inner, error.get("details")):
        if isinstance(holder, dict):
            yield from (str(holder[key]).lower() for key in ("code", "error_code", "type", "status") if holder.get(key))


def statuses_of(codes: Iterable[str]) -> tuple[list[int], list[str]]:
    """The HTTP statuses among codes, and the other ones: a provider's own may be numbers, too."""
    numbers, others = list[int](), list[str]()
    for code in codes:
        if code.isdecimal() and len(code) == 3 and code[0] in "45":
            numbers.append(int(code))
        else:
            others.append(code)
    return numbers, others


def text_of(error: Mapping[str, Any]) -> str:
    words = error.get("message") or error.get("detail") or error.get("msg") or ""
    return " ".join((words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)).split())[:600]


def plain(body: Any) -> str:
    """The text of a body that holds no error of a known shape, without markup."""
    return " ".join(re.sub(r"<[^<>]*>", " ", body if isinstance(body, str) else "").split())[:200]


def kind_of(status: int | None, codes: list[str], message: str) -> Kind:
    """The class of an error. What code or type settles is never undone by wording."""
    if any(FILTER_CODES.fullmatch(code) for code in codes):
        return "content_filter"
    if NO_SUCH_ID.search(message):
        return by_status(status, hurried=False)
    if any(OVERFLOW_CODES.search(code) for code in codes):
        return "context_overflow"
    if any(code in FINAL_CODES for code in codes):
        return "refused"
    if status == 500 and any(words.search(message) for words in BY_TEMPLATE):
        return "refused"
    hurried = any(code.startswith(("rate_limit", "overloaded")) for code in codes)
    if status in WORDED and not hurried:
        if status != 403 and OVERFLOW_WORDS.search(message):
            return "context_overflow"
        if status in (400, 403) and FILTER_WORDS.search(message):
            return "content_filter"
    if status is None and any(code in REFUSALS for code in codes):
        return "refused"
    return by_status(status, hurried)


def by_status(status: int | None, hurried: bool) -> Kind:
    """The class by status. One request that is too large for a rate limit (413) never fits it."""
    if status == 413:
        return "refused" if hurried else "context_overflow"
    if status in PATIENT or hurried:
        return "busy"
    if status is None or status in PASSING or (status >= 500 and status != 501):
        return "broken"
    return "refused"


def filtered(error: Any) -> Iterator[str]:
    """The names of the categories that a content filter marks as filtered, at any depth."""
    if isinstance(error, dict):
        reasons = error.get("reasons")
        yield from (str(reason) for reason in (reasons if isinstance(reasons, list) else []))
        for name, value in error.items():
            if isinstance(value, dict) and value.get("filtered") is True:
                yield str(name)
            yield from filtered(value)
    elif isinstance(error, list):
        for value in error:
            yield from filtered(value)
