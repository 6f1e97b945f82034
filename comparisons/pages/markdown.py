"""A comparison as Markdown, for a pull request: the verdict, the arms, the differences that it rests on, and what to be
wary of; all else is folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopworth.comparisons.figures import shown
from loopworth.comparisons.pages.disagreements import Disagreement, disagreements, final, said
from loopworth.comparisons.pages.tables import DIFFERENCES, Found, Table, arms, differences, origin, tables, verdict

WORD = "[a-zA-Z0-9]"
MARKUP = re.compile(
    rf"[\\`*\[\]<>&#|~$@]|(?<!{WORD})_|_(?!{WORD})|:(?=//)|(?<=www)\.|^[-+=](?=[-+=\s]|$)|^\d+(?=[.)]\s)"
    r"|(?<=\bgh)-(?=\d)",
    re.IGNORECASE,
)
"""What may be read as markup, as a name to be notified, or as a link."""
MOST_PAIRS, CUT = 20, 80
"""Disagreements that are shown, and characters of an answer in them."""
MOST = 8_000
"""Characters of one sentence."""


def markdown(found: Found) -> str:
    """GitHub-flavoured Markdown; every text of a file, a model or a task stands in it as text."""
    return "\n".join(lines(found)) + "\n"


def lines(found: Found) -> Iterator[str]:
    token, words = verdict(found)
    main, pairs = arms(found), differences(found)
    yield from (f"**Verdict: {text(token)}** — {text(words)}", "", text(main.words[0]), "")
    yield from grid(main)
    if pairs is not None:
        yield from ("", text(pairs.title), "", *grid(pairs))
    if found["warnings"]:
        yield from ("", "What to be wary of:", *listed(found["warnings"]))
    yield from folded("What the figures are", listed(main.words[1:]))
    yield from folded("The verdict in words", listed(() if pairs is None else pairs.words))
    for table in tables(found):
        if table.name not in (main.name, DIFFERENCES):
            yield from folded(table.title, [*grid(table), *listed(table.words)])
    yield from folded("Disagreements", parted(found))
    yield from folded("Where it is from", [line for table in origin(found) for line in (*grid(table), "")])


def parted(found: Found) -> Iterator[str]:
    """The first runs on the same task of which one was right and one was not, with what each answered."""
    every = list(disagreements(found, final(found)))
    head = ("task", "arm", "answer", "against", "answer", "right")
    rows = tuple(tuple(pair(one)) for one in every[:MOST_PAIRS])
    yield from grid(Table("disagreements", "", head, rows, 6))
    if len(every) > MOST_PAIRS:
        yield from ("", f"- and {len(every) - MOST_PAIRS:,} more")


def pair(one: Disagreement) -> Iterator[str]:
    yield one.task + one.nth
    for run in one.runs:
        yield from (run["arm"], answered(run))
    yield next(run["arm"] for run in one.runs if run["right"])


def answered(run: Found) -> str:
    """What a run answered, cut; or why it did not."""
    return shown(said(run["answer"]), CUT) if run["exit"] == "success" else run["exit"]


def text(words: object) -> str:
    """Any text on one line, with nothing in it that Markdown would obey."""
    return MARKUP.sub(spelled, shown(words, MOST))


def spelled(found: re.Match[str]) -> str:
    """A sign by its number; a name after @, or a number after # or GH-, is then no mention."""
    sign, rest = found[0][0], found[0][1:]
    mention = sign in "@#" or (sign == "-" and found.start() > 0)
    return f"&#{ord(sign)};{'<!-- -->' * mention}{rest}"


def grid(table: Table) -> Iterator[str]:
    if table.rows:
        yield row(map(text, table.head))
        yield row("---" if place < table.left else "---:" for place in range(len(table.head)))
        yield from (row(map(text, cells)) for cells in table.rows)


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def listed(words: Iterable[str]) -> list[str]:
    """Sentences as a list, apart from the table before them."""
    found = [f"- {text(one)}" for one in words]
    return ["", *found] if found else []


def folded(title: str, content: Iterable[str]) -> Iterator[str]:
    """Details under their title; nothing where there are none."""
    if content := list(content):
        within = content if content[0] == "" else ["", *content]
        yield from ("", f"<details><summary>{text(title)}</summary>", *within, "", "</details>")
