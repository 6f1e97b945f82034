"""How exactly a text has to be worded: case, space, composed characters and punctuation."""

from __future__ import annotations

import unicodedata
from typing import Literal

from loopworth.runs.usage import Value

Care = Literal["exact", "ignore"]
KEPT = "%‰"
"""Marks that Unicode calls punctuation and that change what a text says."""


class Wording(Value, frozen=True, forbid_unknown_fields=True):
    """What may differ between two texts that count as equal; nothing may unless it is said.

    `case: ignore` folds case. `space: ignore` takes off space at the ends and makes every other run of it one blank.
    `unicode: nfc` composes characters (é however it is stored), `nfkc` also takes wide and joined forms for plain ones.
    `punctuation: end` takes off marks at the end, `ignore` everywhere, but not within or before a number.
    """

    case: Care = "exact"
    space: Care = "exact"
    unicode: Literal["exact", "nfc", "nfkc"] = "exact"
    punctuation: Literal["exact", "end", "ignore"] = "exact"

    def folded(self, text: str) -> str:
        """The text as it is compared."""
        text = self.composed(text)
        text = self.composed(text.casefold()) if self.case == "ignore" else text
        text = unmarked(text) if self.punctuation == "ignore" else text
        text = unended(text) if self.punctuation == "end" else text
        return " ".join(text.split()) if self.space == "ignore" else text

    def composed(self, text: str) -> str:
        match self.unicode:
            case "nfc":
                return unicodedata.normalize("NFC", text)
            case "nfkc":
                return unicodedata.normalize("NFKC", text)
        return text


def is_mark(character: str) -> bool:
    return character not in KEPT and unicodedata.category(character).startswith("P")


def unmarked(text: str) -> str:
    """Without punctuation, save marks between digits (3.10) and one that makes a number of what follows (-5, .5)."""
    kept = []
    for at, character in enumerate(text):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        numeric = after.isdigit() and (before.isdigit() or (character in "-.\u2212" and not before.isalnum()))
        if numeric or not is_mark(character):
            kept.append(character)
    return "".join(kept)


def unended(text: str) -> str:
    """Without the marks and the space at the end."""
    end = len(text)
    while end and (text[end - 1].isspace() or is_mark(text[end - 1])):
        end -= 1
    return text[:end]
