"""The models of a comparison, made ready before any clock starts."""

from __future__ import annotations

import asyncio

from loopworth.comparisons.endpoints import Endpoints
from loopworth.models import ModelSpec, open_model


def test_nothing_is_said_of_a_model_that_nobody_waits_for() -> None:
    """A scripted model is there at once; another is named while it is made ready."""
    specs = {one.key: one for one in (ModelSpec("scripted", replies=["yes"]), ModelSpec("ollama/other"))}
    endpoints, told = Endpoints(open_model, specs), list[str]()

    async def prepared() -> None:
        await endpoints.prepare(told.append)
        await endpoints.close()

    asyncio.run(prepared())
    assert told == ["ollama/other"]
    assert endpoints.prepared.keys() == specs.keys()
