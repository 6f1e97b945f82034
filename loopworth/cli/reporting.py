"""`loopworth report`: a comparison as a page to forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopworth.cli.status import OUTSIDE, UserFault
from loopworth.cli.store import Place, filed, found_run
from loopworth.cli.terminal import complain, output, write_json
from loopworth.cli.usage import a_file
from loopworth.runs.kept import Kept, Query
from loopworth.runs.shelf import Shelf, elsewhere

if TYPE_CHECKING:
    from loopworth.comparisons.rescoring import Trials
    from loopworth.comparisons.result import Result

HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", callback=a_file, help="Write one HTML file, read offline.")
]
MarkdownFile = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", callback=a_file, help="Write Markdown.")
]
Transcripts = Annotated[
    int | None,
    typer.Option("--transcripts", min=0, metavar="N", help="Disagreements with both transcripts.", show_default="200"),
]
MISSING = "the charts need Altair: pip install 'loopworth[report]'"


def report(
    id: Annotated[
        str, typer.Argument(metavar="RUN", help="A comparison: its id, its file, `last`, or a .jsonl or .json file.")
    ] = "last",
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=a_file, help="Write the trials as CSV, one a row.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FOLDER", callback=a_file, help="Write the charts as SVG files.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option(metavar="FOLDER", callback=a_file, help="Write the charts as PNG files.")
    ] = None,
    transcripts: Transcripts = None,
    comparison: Annotated[
        str | None, typer.Option(metavar="FILE", help="The comparison's file, where it is not where it was.")
    ] = None,
    store: Place = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Report a kept comparison as it was: on the terminal, as JSON, Markdown or one HTML file, with charts."""
    from loopworth.comparisons.pages import engine
    from loopworth.comparisons.pages.disagreements import TRANSCRIPTS
    from loopworth.comparisons.uncollected import uncollected  # as all of comparisons

    if html or svg or png:
        engine.start()
    most = TRANSCRIPTS if transcripts is None else transcripts
    with uncollected():
        result, found = told(id, store, comparison, None if as_json else most if html is not None else 0)
        with nullcontext() if result is not None else whole(id):
            if as_json:
                write_json(found)
            write(found, html, markdown, most)
            if csv is not None:
                save(csv, trials(found))
            if svg is not None or png is not None:
                draw(found, svg, png)
            if not (as_json or html or markdown or csv or svg or png):
                tell(result, found)


@contextmanager
def whole(name: str) -> Iterator[None]:
    """Say of a file that was edited by hand, or is another version's, that what a report is made of is not in it."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError) as lack:
        why = f"{type(lack).__name__}: {lack}"
        raise UserFault(
            f"{name}: what a report is made of is not all there ({why})\n"
            "    write it anew: `loopworth report RUN --json`, from the store that keeps the comparison"
        ) from lack


def tell(result: Result | None, found: dict[str, Any]) -> None:
    """On the terminal; of a file of JSON, which holds no more than that, as Markdown."""
    # Imported here, as all of comparisons is: `loopworth run` and `loopworth check` load nothing of it.
    from loopworth.comparisons.pages.markdown import markdown
    from loopworth.comparisons.table import render

    if result is None:
        output().print(markdown(found), soft_wrap=True)
    else:
        output().print(render(result))


def told(id: str, place: str | None, file: str | None, pairs: int | None) -> tuple[Result | None, dict[str, Any]]:
    """The comparison that is named, and its JSON, with what was said in so many disagreements."""
    from loopworth.comparisons.extension import ExtensionFault
    from loopworth.comparisons.retelling import told

    if id.endswith(".json"):
        return None, document(Path(id))
    shelf, before = only(id) if id.endswith(".jsonl") else kept(Shelf(place), id)
    if file is None and not Path(before.file).is_file():
        raise UserFault(f"{before.id}: {before.file} is not there any more: write --comparison FILE, where it is now")
    try:
        return told(shelf, before, file, pairs)
    except ExtensionFault as fault:
        raise UserFault(f"{before.id} cannot be taken up: {fault}") from None


def document(path: Path) -> dict[str, Any]:
    """What `loopworth compare --json` wrote."""
    from loopworth.comparisons.export import read

    try:
        found = read(path.read_bytes())
    except FileNotFoundError:
        raise UserFault(f"{path}: there is no such file") from None
    except (ValueError, RecursionError) as why:
        raise UserFault(f"{path}: this is no JSON: {why}") from None
    if not {"comparison", "arms", "trials", "verdict"} <= found.keys():
        raise UserFault(f"{path}: this is no comparison, as `loopworth compare --json` writes it")
    return found


def only(name: str) -> tuple[Trials, Kept]:
    """The one comparison of a file of recordings."""
    from loopworth.comparisons.retelling import Recorded

    found = filed(name)
    every = [one.kept for one in found if one.kept.kind == "comparison"]
    if len(every) != 1:
        there = f"several comparisons ({', '.join(one.id for one in every)})" if every else "no comparison"
        raise UserFault(f"{name}: it holds {there}, and one is reported: `loopworth runs export ID` writes one")
    return Recorded(found), every[0]


def kept(shelf: Shelf, id: str) -> tuple[Shelf, Kept]:
    """A comparison of the store; `last` is the newest."""
    if id == "last":
        newest = shelf.runs(Query(kinds=("comparison",), most=1))
        if not newest:
            near = elsewhere(shelf.home, lambda other: other.runs(Query(kinds=("comparison",), most=1)))
            raise UserFault(f"no comparison is kept in {shelf.home}: `loopworth compare` makes one{near}")
        return shelf, newest[0]
    if (run := found_run(shelf, id)).kind != "comparison":
        raise UserFault(f"{id}: this is no comparison: `loopworth runs show` shows a run")
    return shelf, run


def pages(result: Result, place: str | None, html: Path | None, markdown: Path | None) -> None:
    """The pages of a comparison that was just run; its trials are named where they are kept."""
    from loopworth.comparisons.export import read, to_json
    from loopworth.comparisons.pages.disagreements import TRANSCRIPTS
    from loopworth.comparisons.retelling import ids, named, texts

    if html is None and markdown is None:
        return
    if result.interrupted:
        complain("no report is written of a part: `loopworth report` does so")
        return
    found = read(to_json(result))
    found["texts"] = texts(found["provenance"]["files"], Path(result.comparison.file).parent)
    is_kept = result.id and not result.replayed
    write(named(found, ids(Shelf(place).trials(result.id))) if is_kept else found, html, markdown, TRANSCRIPTS)


# -- the files --------------------------------------------------------------------------------------------------------


def write(found: dict[str, Any], html: Path | None, markdown: Path | None, transcripts: int) -> None:
    """The pages that are asked for."""
    from loopworth.comparisons.pages import markdown as md

    if markdown is not None:
        save(markdown, md.markdown(found).encode())
    if html is not None:
        save(html, page(found, transcripts).encode())


def trials(found: dict[str, Any]) -> bytes:
    from loopworth.comparisons.pages.csv import table

    return table(found).encode()


def page(found: dict[str, Any], transcripts: int) -> str:
    """The HTML, with charts where Altair is installed."""
    from loopworth.comparisons.pages import html

    drawings = html.drawings(found)
    if drawings is None:
        complain(f"the page has no charts: {MISSING}")
    return html.html(found, transcripts, drawings)


def draw(found: dict[str, Any], svg: Path | None, png: Path | None) -> None:
    """Each chart as a file of its own, named after what it shows."""
    charts = drawing()
    if charts is None:
        raise UserFault(MISSING)
    made = charts.charts(found)
    kinds: list[tuple[Path | None, str, Callable[[Any], bytes]]] = [
        (svg, "svg", lambda chart: charts.svg(chart).encode()),
        (png, "png", charts.png),
    ]
    for folder, kind, encoded in kinds:
        for name, chart in made.items() if folder is not None else ():
            assert folder is not None
            save(folder / f"{name}.{kind}", encoded(chart))


def drawing() -> Any:
    """The charts, loaded on use: Altair is an extra."""
    try:
        from loopworth.comparisons.pages import charts
    except ImportError:
        return None
    return charts


def save(path: Path, content: bytes) -> None:
    """Write a file that is whole or not there."""
    half = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content)
        half.replace(path)
    except OSError as error:
        complain(f"{path}: cannot be written: {error.strerror or error}")
        raise typer.Exit(OUTSIDE) from None
    complain(f"written to {path}")
