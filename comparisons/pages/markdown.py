"""A comparison as Markdown, for a pull request: the verdict, the arms, the differences that it rests on, and what to be
wary of; all else is folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from loopworth.comparisons.figures import shown
from loopworth.comparisons.pages.disagreements import Disagreement, disagreements, final, in_order, said
from loopworth.comparisons.pages.tables import (
    DIFFERENCES,
    Found,
    Table,
    arms,
    differences,
    meaning,
    origin,
    tables,
    verdict,
)
from loopworth.runs.usage import Value

WORD = "[a-zA-Z0-9]"
MARKUP = re.compile(
    rf"[\\`*\[\]<>&#|~$@]|(?<!{WORD})_|_(?!{WORD})|:(?=//)|(?<=www)\.|(?<=\bgh)-(?=\d)",
    re.IGNORECASE,
)
"""What may be read as markup, as a name to be notified, or as a link."""
BEGINNING = re.compile(r"^[-+=](?=[-+=\s]|$)|^\d+(?=[.)]\s)")
"""What may be read as a list or a heading where a line begins with it, which no cell does."""
MOST_PAIRS, CUT = 20, 80
"""Disagreements that are shown, and characters of an answer in them."""
MOST = 8_000
"""Characters of one sentence."""
LONGEST = 65_536
"""Characters that a comment on GitHub may have."""
ROOM_TO_SAY = 80
"""Characters for saying how much is left out, but for the command."""


class Part(Value, frozen=True):
    """What stands below the differences: `rows` of a table and `words`, each a line, between lines that frame them."""

    before: tuple[str, ...]
    rows: tuple[str, ...]
    words: tuple[str, ...]
    after: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return (*self.before, *self.rows, *(("", *self.words) if self.words else ()), *self.after)


def markdown(found: Found) -> str:
    """GitHub-flavoured Markdown, in which every text of a file, a model or a task stands as text. Where it were longer
    than a comment may be, the longest parts below the differences are shortened, and say so."""
    top, below = list(opening(found)), list(parts(found))
    each = level([size(part.lines) for part in below], LONGEST - size(top))
    kept = f"<code>loopworth report {text(found['id'])} --html report.html</code>"
    command = kept if found["id"] else "<code>--html</code> and <code>--json</code> write all"
    return "\n".join([*top, *(line for part in below for line in shortened(part, each, command).lines)]) + "\n"


def opening(found: Found) -> Iterator[str]:
    """The verdict, the arms and the differences, of which nothing is left out."""
    token, words = verdict(found)
    main, pairs = arms(found), differences(found)
    yield from (f"**Verdict: {text(token)}** — {text(words)}", "")
    yield from (line for one in (meaning(found), main.words[0]) if one for line in (text(one), ""))
    yield from grid(main)
    if pairs is not None:
        yield from ("", text(pairs.title), "", *grid(pairs))


def parts(found: Found) -> Iterator[Part]:
    """All else, of which what is long can be shortened."""
    main, pairs = arms(found), differences(found)
    if found["warnings"]:
        yield Part(("", "What to be wary of:"), (), listed(found["warnings"]))
    of_arms = Table(main.name, "What the figures are", words=main.words[1:])
    in_words = Table(DIFFERENCES, "The verdict in words", words=() if pairs is None else pairs.words)
    others = (table for table in tables(found) if table.name not in (main.name, DIFFERENCES))
    every = (of_arms, in_words, *others, parted(found), *origin(found))
    yield from (folded(table) for table in every if table.rows or table.words)


def shortened(part: Part, most: int, command: str) -> Part:
    """The part in so many characters: its first rows, and before those its sentences, with what shows the others."""
    room = most - size((*part.before, *part.after)) - ROOM_TO_SAY - len(command)
    if size(part.lines) <= most:
        return part
    words = first(part.words, room)
    rows = first(part.rows, room - size(words))
    missing = len(part.rows) + len(part.words) - len(rows) - len(words)
    said = f"- {missing:,} more, for which a comment has no room: {command}"
    return Part(part.before, rows, (*words, said), part.after)


def level(sizes: Iterable[int], room: int) -> int:
    """The most that each may have for all to have room: who needs less leaves the rest to the others."""
    ordered = sorted(sizes)
    for place, one in enumerate(ordered):
        if one * (many := len(ordered) - place) > room:
            return room // many
        room -= one
    return max(ordered, default=0)


def first(lines: Sequence[str], room: int) -> tuple[str, ...]:
    """The first lines that have room."""
    ends = accumulate(len(line) + 1 for line in lines)
    return tuple(line for line, end in zip(lines, ends, strict=True) if end <= room)


def size(lines: Iterable[str]) -> int:
    """The characters of lines, each with its end."""
    return sum(len(line) + 1 for line in lines)


def parted(found: Found) -> Table:
    """The first runs on the same task of which one was right and one was not, with what each answered."""
    every = list(disagreements(found, final(found)))
    head = ("task", "arm", "answer", "against", "answer", "right")
    rows = tuple(tuple(pair(one)) for one in in_order(every[:MOST_PAIRS]))
    more = (f"and {len(every) - MOST_PAIRS:,} more",) if len(every) > MOST_PAIRS else ()
    return Table("disagreements", "Disagreements", head, rows, 6, more)


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
    return BEGINNING.sub(spelled, cell(words))


def cell(words: object) -> str:
    """The same within a line."""
    return MARKUP.sub(spelled, shown(words, MOST))


def spelled(found: re.Match[str]) -> str:
    """A sign by its number; a name after @, or a number after # or GH-, is then no mention."""
    sign, rest = found[0][0], found[0][1:]
    mention = sign in "@#" or (sign == "-" and found.start() > 0)
    return f"&#{ord(sign)};{'<!-- -->' * mention}{rest}"


def folded(table: Table) -> Part:
    """Details under their title."""
    lines = tuple(grid(table))
    head = ("", *lines[:2]) if lines else ()
    summary = ("", f"<details><summary>{text(table.title)}</summary>")
    return Part((*summary, *head), lines[2:], listed(table.words), ("", "</details>"))


def grid(table: Table) -> Iterator[str]:
    if table.rows:
        yield row(map(cell, table.head))
        yield row("---" if place < table.left else "---:" for place in range(len(table.head)))
        yield from (row(map(cell, cells)) for cells in table.rows)


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def listed(words: Iterable[str]) -> tuple[str, ...]:
    """Sentences as a list."""
    return tuple(f"- {text(one)}" for one in words)
