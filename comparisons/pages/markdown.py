"""A comparison as Markdown, for a pull request: the verdict, a small table, and the details folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopworth.comparisons.pages.tables import Found, Table, arms, origin, tables, verdict
from loopworth.comparisons.table import shown

WORD = "[a-zA-Z0-9]"
MARKUP = re.compile(
    rf"[\\`*\[\]<>&#|~$@]|(?<!{WORD})_|_(?!{WORD})|:(?=//)|(?<=www)\.|^[-+=](?=[-+=\s]|$)|^\d+(?=[.)]\s)", re.IGNORECASE
)
"""What may be read as markup, as a name to be notified, or as a link."""
MOST = 8_000
"""Characters of one sentence."""


def markdown(found: Found) -> str:
    """GitHub-flavoured Markdown; every text of a file, a model or a task stands in it as text."""
    return "\n".join(lines(found)) + "\n"


def lines(found: Found) -> Iterator[str]:
    token, words = verdict(found)
    main = arms(found)
    yield from (f"**Verdict: {text(token)}** — {text(words)}", "", text(main.words[0]), "")
    yield from grid(main)
    yield from folded("What the figures are", [f"- {text(one)}" for one in main.words[1:]])
    for table in tables(found):
        if table.name != main.name:
            yield from folded(table.title, [*grid(table), *said(table.words)])
    if found["warnings"]:
        yield from folded("What to be wary of", said(found["warnings"]))
    yield from folded("Where it is from", [line for table in origin(found) for line in (*grid(table), "")])


def text(words: object) -> str:
    """Any text on one line, with nothing in it that Markdown would obey."""
    return MARKUP.sub(spelled, shown(words, MOST))


def spelled(found: re.Match[str]) -> str:
    """A sign by its number; a name after @ or a number after # is then no mention."""
    sign, rest = found[0][0], found[0][1:]
    return f"&#{ord(sign)};{'<!-- -->' * (sign in '@#')}{rest}"


def grid(table: Table) -> Iterator[str]:
    if table.rows:
        yield row(table.head)
        yield row("---" if place < table.left else "---:" for place in range(len(table.head)))
        yield from (row(map(text, cells)) for cells in table.rows)


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def said(words: Iterable[str]) -> list[str]:
    """Sentences as a list, apart from the table before them."""
    found = [f"- {text(one)}" for one in words]
    return ["", *found] if found else []


def folded(title: str, content: Iterable[str]) -> Iterator[str]:
    """Details under their title; nothing where there are none."""
    if content := list(content):
        yield from ("", f"<details><summary>{text(title)}</summary>", "", *content, "", "</details>")
