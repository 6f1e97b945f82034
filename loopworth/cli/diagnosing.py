"""`loopworth diagnose`: which part of a workflow to look at, from what its kept runs did."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from loopworth.cli.status import UserFault
from loopworth.cli.store import Place, filed, found_run
from loopworth.cli.terminal import complain, output, shown, write_json
from loopworth.runs.events import Spoke
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording, RecordingFault
from loopworth.runs.shelf import Shelf
from loopworth.workflows.faults import suggestion

if TYPE_CHECKING:
    from loopworth.comparisons.symptoms.conduct import Conduct
    from loopworth.comparisons.symptoms.finding import Finding

MOST_SIGNS = 3
"""Runs that are named below a finding; `--json` has all of them."""
MOST_REQUESTS = 3
"""Trials of an arm that came to the same loops whose requests are read, for the tools that these offer."""


def diagnose(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="A run or comparison: its id, its file, `last`, or a .jsonl file.",
            show_default="the newest",
        ),
    ] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="Only this arm of a comparison.")] = None,
    store: Place = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON, with every run.")] = False,
) -> None:
    """Say which part to look at: instructions, tools, state, decision or termination; with the evidence and one change
    to try for each."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.comparisons.diagnosis import found, silence, subjects, tells
    from loopworth.comparisons.trying import tried

    if id is None:
        newest = found_run(Shelf(store), "last")
        complain(f"the newest: {newest.kind} {newest.id} ({newest.name})")
        id = newest.id
    log = logged(Path(id)) if id.endswith(".jsonl") else None
    source = log or (once(filed(id)) if id.endswith(".jsonl") else kept(Shelf(store), id))
    names, files = Counter[str](), dict[str, Path]()
    runs = subjects(of_arm(filter(tells, source), arm, names, files))
    if arm is not None and arm not in names:
        raise UserFault(f"--arm {arm}: no run is of this arm\n    {suggestion(arm, names, 'arms')}")
    if not names:
        raise UserFault(f"{id}: it holds no run\n    an arm that is a log keeps none: diagnose the file that it names")
    findings = {name: found(name, some) for name, some in runs.items()}
    if not id.endswith(".jsonl"):  # a file that came from elsewhere opens none of this machine
        findings = {name: [tried(one, files[name]) for one in some] for name, some in findings.items()}
    there = names.total() if arm is None else names[arm]
    apart = there - sum(map(len, runs.values()))
    if as_json:
        arms = [document(name, some, findings[name], silence(some)) for name, some in runs.items()]
        write_json({"arms": arms, "left_out": apart})
        return
    show = "`loopworth runs show " + (f"{shlex.quote(id)} " if id.endswith(".jsonl") else "") + "{}`"
    for name, some in runs.items():
        for line in told(name, some, findings[name], silence(some), "{}" if log else show):
            output().print(line, soft_wrap=True)
    if apart:
        complain(f"{apart} of {there} runs did not end, or ended for nothing of theirs, and were left out")


def logged(path: Path) -> tuple[Recording, ...] | None:
    """The runs of a log that another tool wrote; None where the file is none."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.comparisons.logged import made_elsewhere

    try:
        return made_elsewhere(path)
    except RecordingFault as fault:
        raise UserFault(str(fault)) from None
    except OSError:  # it is told where recordings are read
        return None


def once(recordings: Iterable[Recording]) -> list[Recording]:
    """Each run once, though several exports in one file may hold it."""
    return list({one.kept.id: one for one in recordings}.values())


def of_arm(
    recordings: Iterable[Recording], arm: str | None, names: Counter[str], files: dict[str, Path]
) -> Iterator[Recording]:
    """The runs of an arm, or all; counts those of every arm or workflow, and says whose file it is. One at a time: a
    comparison may have many."""
    for one in recordings:
        name = one.kept.arm or one.kept.name
        names[name] += 1
        files[name] = Path(one.kept.file)
        if arm in (None, name):
            yield one


def kept(shelf: Shelf, id: str) -> Iterator[Recording]:
    """A run of the store; of a comparison its trials, with the requests of a few of each arm. Those that did not end
    come last."""
    run = found_run(shelf, id)
    left = {one.id: one for one in (shelf.trials(run.id) if run.kind == "comparison" else [run])}
    scores = shelf.scores(run.parent or run.id) if run.kind != "run" else {}
    seen = Counter[Any]()
    for ended, outcome in shelf.outcomes(list(left)):
        one = left.pop(ended)
        seen[alike := (one.arm, frozenset(loops(outcome)))] += 1
        records = shelf.records(ended) if seen[alike] <= MOST_REQUESTS else {}
        yield Recording(one, records, outcome, scores.get(ended))
    yield from map(Recording, left.values())


def loops(outcome: Outcome) -> Iterator[str]:
    """Where the loops of a run were, whatever the item or the turn."""
    return (re.sub("[0-9]+", "", event.at) for event in outcome.events if type(event) is Spoke)


def document(name: str, runs: list[Conduct], findings: list[Finding], silence: str) -> dict[str, Any]:
    return {
        "arm": name,
        "runs": len(runs),
        "exits": Counter(run.exit for run in runs),
        "right": sum(run.right is True for run in runs) if any(run.right is not None for run in runs) else None,
        "unanswered": silence or None,
        "findings": [
            {field: getattr(one, field) for field in one.__struct_fields__ if field != "subject"}
            | {"change": one.change}
            for one in findings
        ],
    }


def told(name: str, runs: list[Conduct], findings: list[Finding], silence: str, show: str) -> Iterator[Text]:
    """An arm, and what was found in its runs, or that it hardly ever answered; `show` says how one is read."""
    exits = ", ".join(f"{n} {exit}" for exit, n in Counter(run.exit for run in runs).most_common())
    scored = [run.right for run in runs if run.right is not None]
    right = f"; {sum(scored)} of {len(scored)} right" if scored else ""
    yield shown(f"{name}: {len(runs)} run{'s' * (len(runs) != 1)} ({exits}{right})", "bold", lines=False)
    if silence and not findings:
        yield shown(f"  {silence}", "yellow", lines=False)
    if not findings:
        wrong = next((run.id for run in runs if run.right is False or run.exit != "success"), None)
        read = f"; one to read: {show.format(wrong)}" if wrong else ""
        yield shown(f"  no rule found anything{read}\n", "dim")
    for one in findings:
        yield from in_words(one, any(run.foreign for run in runs))


def in_words(finding: Finding, foreign: bool) -> Iterator[Text]:
    """The part, what was seen and where, and what to try; in a `foreign` program by its own means."""
    line = shown(f"  {finding.part}", "yellow", lines=False)
    yield line.append_text(shown(f"  {finding.what} ({finding.runs} of {finding.of} runs)", lines=False))
    for sign in first(finding):
        yield shown(f"      {sign.run} {sign.at or '-'}  {sign.said}", "dim", lines=False)
    if finding.runs > MOST_SIGNS:
        more = finding.runs - MOST_SIGNS
        yield shown(f"      and {more} more run{'s' * (more > 1)}: --json lists them", "dim")
    after = "   # after what stands there" if finding.adds else "   # by the program's own means" if foreign else ""
    if finding.change:
        yield Text("    try ").append_text(shown(finding.change, "bold", lines=False)).append(after, "dim")
    yield shown(f"    why {finding.why}\n")


def first(finding: Finding) -> Iterable[Any]:
    """One sign of each of the first few runs."""
    return list({sign.run: sign for sign in reversed(finding.signs)}.values())[::-1][:MOST_SIGNS]
