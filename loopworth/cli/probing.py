"""`loopworth models probe`: what a model at an endpoint can."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Column, Table

from loopworth.agents.abilities import Abilities, abilities
from loopworth.cli.status import OUTSIDE, UserFault
from loopworth.cli.terminal import AsJson, complain, output, shown, write_json
from loopworth.models import ModelSpec, open_model, prepare, spec_faults
from loopworth.runs.figures import dollars
from loopworth.runs.outcome import Stop
from loopworth.workflows.compile import compile


def probe(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="provider/model, or a workflow: all that it asks.")],
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Where a model that is named is served.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask an endpoint what it can: tools, a forced choice of one, several calls in a reply, a JSON schema, usage,
    streaming. It takes up to six short calls, which cost what they cost."""
    specs = probed(name, base_url)
    found = {spec.name: asyncio.run(asked(spec)) for spec in specs}
    if as_json:
        write_json([{"model": name, **report(one)} for name, one in found.items()])
    else:
        for model, one in found.items():
            show(model, one)
    if any(isinstance(one, str) for one in found.values()):
        raise typer.Exit(OUTSIDE)


def probed(name: str, base_url: str | None) -> list[ModelSpec]:
    """The models that can be probed of what was named."""
    file = Path(name)
    if file.suffix in (".yaml", ".yml") or file.is_file():
        specs = [spec for spec in compile(file).models.values() if spec.provider != "scripted" and spec.labels is None]
        if not specs:
            raise UserFault(f"{name} asks no model at an endpoint")
        return specs
    spec = ModelSpec(name, base_url=base_url)
    for _, what, instead in spec_faults(spec):
        raise UserFault(f"{what}\n    {instead}".rstrip())
    if spec.provider == "scripted":
        raise UserFault("a scripted model has no endpoint to ask")
    return [spec]


async def asked(spec: ModelSpec) -> Abilities | str:
    """What the model can, or why nobody can tell."""
    model = open_model(spec)
    try:
        await prepare(model)
        return await abilities(model)
    except Stop as stop:
        return stop.note
    finally:
        await model.close()


def report(one: Abilities | str) -> dict[str, Any]:
    """For `--json`."""
    if isinstance(one, str):
        return {"fault": one}
    found = {ability.name: {"can": ability.can, "why": ability.why} for ability in one.found}
    return {"abilities": found, "calls": one.calls, "usage": msgspec.structs.asdict(one.usage)}


def show(model: str, one: Abilities | str) -> None:
    if isinstance(one, str):
        complain(f"{model}: {one}")
        return
    table = Table(Column(shown(model, lines=False), no_wrap=True), "", Column(overflow="fold"), box=None)
    for ability in one.found:
        table.add_row(ability.name, ability.can, shown(ability.why))
    output().print(table)
    tokens = "an unknown number of" if one.usage.tokens is None else f"{one.usage.tokens:,}"
    output().print(f"{one.calls} calls, {tokens} tokens, cost {dollars(one.usage.usd)}")
