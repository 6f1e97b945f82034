"""The embedded model that compares texts: asked with a text, it answers with a score for each of its labels.

It is a model like any other to the rest: a call is admitted, recorded with its scores and replayed from them, so that a
replay needs neither the weights nor numpy.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
import time
from typing import TYPE_CHECKING

from loopworth.models.errors import Unavailable
from loopworth.models.spec import ModelSpec
from loopworth.models.weights import ready
from loopworth.runs.message import Reply, Request, assistant
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage

if TYPE_CHECKING:
    from loopworth.models.encoder import Array, Encoder

MINILM = "local/minilm"
DIGITS = 4
"""Decimals of a score that are kept: below them, processors differ."""


class EmbeddingModel:
    """Scores a text against labels, each with texts of its own: a label's score is its nearest text's cosine.

    The labels' texts are embedded once, by `prepare` or at the first call. Calls are made one at a time, each on a
    thread beside the event loop: a pass takes some 20 ms.
    """

    concurrency = 1

    def __init__(self, spec: ModelSpec, encoder: Encoder | None = None) -> None:
        self.spec, self.encoder = spec, encoder
        self.endpoint = spec.name
        self.known: dict[str, Array] | None = None
        self.lock = threading.Lock()

    async def prepare(self) -> None:
        """Install and load the weights if need be, and embed the labels' texts. Raises Unavailable."""
        await asyncio.to_thread(self.loaded)

    def loaded(self) -> tuple[Encoder, dict[str, Array]]:
        """The encoder, and the vectors of each label's texts: (texts, width)."""
        with self.lock:
            if self.encoder is None:
                self.encoder = encoder_of(self.spec)
            if self.known is None:
                import numpy as np  # imported where it is needed: it is slow to import

                labels = (self.spec.labels or {}).items()
                self.known = {
                    label: np.stack([self.encoder.encode(text)[0] for text in texts]) for label, texts in labels
                }
            return self.encoder, self.known

    async def reply(self, request: Request, seconds: float | None) -> Reply:  # noqa: ARG002 - a pass takes some 20 ms
        began = time.monotonic()
        try:
            scores, pieces = await asyncio.to_thread(self.scores, str(request.messages[-1]["content"]))
        except Unavailable as error:
            raise Stop("provider_error", None, str(error)) from error
        said = json.dumps(scores)
        return Reply(assistant(said), text=said, usage=Usage(pieces, 0, usd=0.0), seconds=time.monotonic() - began)

    def scores(self, text: str) -> tuple[dict[str, float], int]:
        """The cosine of the text with the nearest text of each label, and the word pieces that were read."""
        encoder, known = self.loaded()
        vector, pieces = encoder.encode(text)
        return {label: round(float((texts @ vector).max()), DIGITS) for label, texts in known.items()}, pieces

    async def close(self) -> None:
        """The encoder goes on for the next model of this process."""


def encoder_of(spec: ModelSpec) -> Encoder:
    """The encoder over the spec's weights, which are installed on first use. Raises Unavailable."""
    for package in ("tokenizers", "threadpoolctl"):
        if importlib.util.find_spec(package) is None:
            raise Unavailable(f"`by: similarity` needs the package {package}: pip install 'loopworth[local]'")
    from loopworth.models.encoder import shared  # imported on first use: it loads numpy and scipy

    return shared(*ready(spec.model))
