"""What an answer says was done, or will be, in words that can be held against the calls. English; strict, not clever.

A sentence *claims* a tool when it says in the first person, or with `has been`, the past of the tool's verb (`refund`:
"I refunded", "I was able to refund", "it has been refunded", "Refunded the order"; `send_email`: "I have sent the
email", where one of its other words must stand too), that what the verb names was done ("I have issued a refund",
"Refund processed"), or names the tool as called, as having returned something, or as the source. A sentence with a
negation, a condition or a question mark claims nothing; nor does one that quotes what was read, or says with a tool's
verb of looking ("I found") what another tool did. An answer *announces* when its last sentence begins with "I will",
"let me" and the like, and a verb of looking or of one of the tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
NOT_SO = re.compile(
    r"\b(?:not|never|no|cannot|unable|without|unless|if|would|could|should|before|until|once|want|please)\b|n't|\?$"
)
PARTICLE = re.compile(r"(look|set|check|log|sign|back|roll|shut|clean)(up|out|in|down|back)")
IRREGULAR = {
    "bring": "brought", "buy": "bought", "build": "built", "choose": "chosen?|chose", "do": "did|done",
    "draw": "drew|drawn", "find": "found", "get": "got|gotten", "give": "gave|given", "go": "went|gone", "hold": "held",
    "keep": "kept", "leave": "left", "make": "made", "pay": "paid", "put": "put", "read": "read", "run": "ran|run",
    "sell": "sold", "send": "sent", "set": "set", "take": "took|taken", "tell": "told", "write": "wrote|written",
}  # fmt: skip
"""The past of verbs that do not end in -ed, as a pattern."""
LOOKING = "call|check|confirm|fetch|find|get|look|open|proceed|query|retrieve|run|search|start|try|use|verify"
SMALL = r"(?:\s+(?:also|already|just|now|then|successfully|first|next|have|(?:gone|went)\s+ahead\s+and))*"
USED = r"(?:called|used|ran|invoked|executed|queried|consulted)"
LOOKED = rf"(?:{USED}|checked|looked\s+(?:it|that|this|them)?\s*(?:up|at|into|in)|searched|retrieved|fetched|verified)"
TOLD = r"(?:returned|says|said|reports|reported|showed|confirmed)"
HANDLED = r"(?:processed|issued|initiated|submitted|executed|placed)"
"""What is said to be done with what a verb names: "a refund has been issued"."""
BEEN = (
    r"(?:(?:has|have)(?:\s+(?:now|just|already))?\s+been|(?:is|are)\s+now|(?:was|were)\s+successfully)"
    r"(?:\s+(?:successfully|already|now|just))?"
)
SEEING = re.compile("browse|check|consult|fetch|find|get|list|look|query|read|retrieve|search|see|verify")
"""Verbs of tools that say nothing of which tool it was."""
MARKS = re.compile(r"^[^\w`'\"(]+|\*")
"""What a line is set off with: a bullet, a tick, bold."""


def sentences(text: str) -> list[str]:
    parts = (MARKS.sub("", part.strip()) for part in SENTENCE.split(text))
    return [part.lower().replace("\u2019", "'") for part in parts if part]


def words(tool: str) -> list[str]:
    """A tool's name as words: `sendEmail`, `send_email` and `send-email` are "send email"; `lookup` is "look up"."""
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tool).lower()
    found = [part for part in re.split(r"[^a-z0-9]+", parts) if part]
    split = PARTICLE.fullmatch(found[0]) if found else None
    return [*(split.groups() if split else found[:1]), *found[1:]]


def past(verb: str) -> str:
    """A pattern of a verb's past."""
    if verb in IRREGULAR:
        return f"(?:{IRREGULAR[verb]})"
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1:]}?ed"


def claimed(
    text: str, tools: Iterable[str], known: str = "", *, looked: bool = False
) -> Iterator[tuple[str, str, str]]:
    """(tool, the word that says it, the sentence) for each claim. `known` is what the run was given to read: what has
    been done according to that is no claim. `looked`: whether any tool ran."""
    known, stems = known.lower(), {tool: stems_of(tool) for tool in tools}
    for sentence in sentences(text):
        if NOT_SO.search(sentence):
            continue
        for tool in (tool for tool, some in stems.items() if any(stem in sentence for stem in some)):
            if (word := says(sentence, tool, known, looked)) is not None:
                yield tool, word, sentence


@cache
def stems_of(tool: str) -> frozenset[str]:
    """One of these stands in each sentence that claims a tool: its name, its verb, or how the verb's past begins."""
    verb = next(iter(words(tool)), "")
    pasts = IRREGULAR.get(verb, verb).split("|")
    return frozenset((tool.lower(), " ".join(words(tool)), verb, *(one.partition("?")[0][:-1] for one in pasts)))


def says(sentence: str, tool: str, known: str, looked: bool) -> str | None:
    """The word with which a sentence claims that a tool was called."""
    name = re.escape(tool.lower())
    spelled = f"(?:{name}|{re.escape(' '.join(words(tool)))})"
    used = re.search(rf"\b(?:i|we)(?:'ve)?{SMALL}\s+{USED}\s+(?:the\s+)?[`'\"]?{spelled}[`'\"]?(?!\w)", sentence)
    named = rf"(?:[`'\"]{name}[`'\"](?:\s+tool)?|\b{name}\s+tool|\b{name}\(.*\))"
    told = re.search(rf"{named}\s+{TOLD}\b|\baccording\s+to\s+(?:the\s+)?{named}", sentence)
    if used or told:
        return tool.lower()
    verb, *others = words(tool) or [""]
    if not verb.isalpha() or (others and not any(re.search(rf"\b{re.escape(other)}", sentence) for other in others)):
        return None
    if looked and SEEING.fullmatch(verb) and PARTICLES.issuperset(others):
        return None
    return acted(sentence, verb, known) or became(sentence, verb, known)


PARTICLES = frozenset(("up", "out", "in", "at", "into", "down", "back"))


def acted(sentence: str, verb: str, known: str) -> str | None:
    """The word with which a sentence says of the one who answers that it did so; a quotation of what was read is
    none."""
    i = rf"\b(?:i|we)(?:'ve)?{SMALL}\s+"
    forms = (
        rf"{i}(?P<did>{past(verb)})\b",
        rf"{i}(?:was|were)\s+able\s+to\s+(?P<did>{verb})\b",
        rf"{i}(?P<did>{HANDLED})\s+(?:an?\s+|the\s+|your\s+|this\s+)?(?:full\s+|partial\s+)?{verb}\b",
        rf"^(?:done[:!.,]?\s+)?(?:successfully\s+)?(?P<did>{past(verb)})\s+(?:the|your|an?|it|this)\b",
    )
    found = (re.search(form, sentence) for form in forms)
    return next((said["did"] for said in found if said and said[0] not in known), None)


def became(sentence: str, verb: str, known: str) -> str | None:
    """The word with which a sentence says that it was done, by nobody who is named; no news where it was read."""
    forms = (
        rf"\b{BEEN}\s+(?P<did>{past(verb)})\b",
        rf"\b{verb}\s+{BEEN}\s+(?P<did>{HANDLED})\b",
        rf"^{verb}\s+(?P<did>{HANDLED})\b",
    )
    found = (re.search(form, sentence) for form in forms)
    return next((said["did"] for said in found if said and said["did"] not in known), None)


def looked(text: str) -> str | None:
    """The first sentence that says in the first person that something was looked up, with whatever tool."""
    said = rf"\b(?:i|we)(?:'ve)?{SMALL}\s+{LOOKED}\b"
    return next((one for one in sentences(text) if not NOT_SO.search(one) and re.search(said, one)), None)


def announced(text: str, tools: Iterable[str]) -> str | None:
    """The last sentence, where it says what is going to be looked for or called next."""
    last = next(reversed(sentences(text)), "")
    own = "|".join(re.escape(verb) for tool in tools for verb in words(tool)[:1])
    verbs = f"{LOOKING}|{own}" if own else LOOKING
    begins = (
        r"(?:(?:now|next|first|so|okay|ok),?\s+)*(?:let me|let us|i will|i'll|i am going to|i'm going to|i need to)"
    )
    opening = rf"{begins}{SMALL}\s+(?:{verbs})\b"
    return last if re.match(opening, last) and not last.endswith("?") else None
