"""The tool of the kb example: the one article of an invented help centre that fits a query best."""

from __future__ import annotations

import collections
import functools
import math
import pathlib
import re


@functools.cache
def articles() -> tuple[str, ...]:
    """Every article; one is a line."""
    return tuple(pathlib.Path(__file__).with_name("articles.txt").read_text("utf-8").splitlines())


@functools.cache
def rarity() -> dict[str, float]:
    """How much a word tells: the logarithm of the share of articles that hold it, negated."""
    held = collections.Counter(word for article in articles() for word in words(article))
    return {word: math.log(len(articles()) / count) for word, count in held.items()}


def words(text: str) -> frozenset[str]:
    """The words of a text, in small letters."""
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def search(query: str) -> str:
    """Find the article that fits a query best.

    Args:
        query: Words to look for.
    """
    wanted = words(query)
    best = max(articles(), key=lambda article: fit(wanted, words(article)))
    return best if fit(wanted, words(best)) > 0 else "nothing found"


def fit(wanted: frozenset[str], held: frozenset[str]) -> float:
    """How well an article fits: the rare words count, and a short article's more than a long one's."""
    return sum(rarity()[word] for word in sorted(wanted & held)) / math.sqrt(len(held))
