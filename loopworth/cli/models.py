"""`loopworth models`: the embedded models, and their weights."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Column, Table

from loopworth.cli.probing import probe
from loopworth.cli.status import FAULTY, UserFault, alone
from loopworth.cli.terminal import AsJson, complain, output, shown, write_json
from loopworth.models.weights import WEIGHTS, WrongHash, find, install, intact
from loopworth.workflows.faults import suggestion

app = typer.Typer(help="The embedded models: which there are, and their weights.", rich_markup_mode=None)
DEFAULT = next(iter(WEIGHTS))


@app.callback(invoke_without_command=True)
def models(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the embedded models: size of the download, licence, and whether the weights are installed."""
    if not alone(ctx):
        return
    found = [facts(name) for name in WEIGHTS]
    if as_json:
        write_json(found)
        return
    table = Table("model", "for", "download", "licence", Column("weights", overflow="fold"), box=None)
    for one in found:
        size = f"{one['wheel_bytes'] / 1e6:.0f} MB"
        words = (one["name"], one["use"], size, one["licence"], one["path"] or "not installed")
        table.add_row(*map(shown, words))
    output().print(table)


app.command("probe", short_help="Ask an endpoint what it can.")(probe)


@app.command("install", short_help="Fetch the weights of a model, once.")
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which embedded model.")] = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Fetch a model's weights once, check them, and keep them in the cache directory.

    Ends with 3 where they cannot be fetched or kept, and with 2 where what came is not what it must be.
    """
    if name not in WEIGHTS:
        raise UserFault(f"there is no embedded model {name!r}\n    {suggestion(name, WEIGHTS, 'models')}")
    before = intact(name)
    if not before and find(name) is not None:
        complain(f"the installed weights of {name} do not have the expected sha256: they are fetched again")
    try:
        path = install(name)
    except WrongHash as fault:
        complain(str(fault))
        raise typer.Exit(FAULTY) from None
    if as_json:
        write_json(facts(name))
    else:
        output().print(shown(f"{name} is {'already ' if before else ''}installed: {path}"), soft_wrap=True)


def facts(name: str) -> dict[str, Any]:
    weights, path = WEIGHTS[name], find(name)
    return {
        "name": f"local/{name}",
        "use": weights.use,
        "package": f"{weights.package} {weights.version}",
        "wheel_bytes": weights.wheel_bytes,
        "licence": weights.licence,
        "sha256": weights.parts[0].sha256,
        "path": None if path is None else str(path),
    }
