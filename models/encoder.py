"""A sentence encoder in numpy: BERT's forward pass, the mean over its word pieces, the length made 1.

Loaded on first use, since it needs numpy, scipy, and `tokenizers` and `threadpoolctl` of the extra `local`.
"""

from __future__ import annotations

import json
import math
import threading
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from threadpoolctl import ThreadpoolController
from tokenizers import Tokenizer

Array = NDArray[np.float32]
MOST_PIECES = 256
"""Word pieces of a text that are read: what the model was trained for. The rest of a longer text is not."""
HEADS = 12
EPSILON = 1e-12


def tensors(path: Path) -> dict[str, Array]:
    """The float tensors of a safetensors file: eight bytes of length, a JSON header of that length, the numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {
        name: np.frombuffer(data, "<f4", math.prod(part["shape"]), start + part["data_offsets"][0]).reshape(
            part["shape"]
        )
        for name, part in header.items()
        if part.get("dtype") == "F32"
    }


class Encoder:
    """Texts to vectors of length 1, so that the cosine of two texts is the product of their vectors."""

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        self.weights = tensors(weights)
        self.layers = sum(name.endswith("attention.self.query.weight") for name in self.weights)
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MOST_PIECES)
        self.threads = ThreadpoolController()  # type: ignore[no-untyped-call]  # it has no types
        self.lock = threading.Lock()

    def encode(self, text: str) -> tuple[Array, int]:
        """The vector of a text, and how many word pieces were read.

        One text at a time, on one thread: the matrices are small, and where other work keeps the cores busy, threads
        that wait for each other made it 15 times slower.
        """
        with self.lock, self.threads.limit(limits=1, user_api="blas"):
            pieces = self.tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
            mean = self.forward(pieces).mean(axis=0)
        return mean / np.linalg.norm(mean), len(pieces)

    def forward(self, pieces: list[int]) -> Array:
        """The last hidden state: (pieces, width)."""
        part = self.weights
        x = part["embeddings.word_embeddings.weight"][pieces]
        x = x + part["embeddings.position_embeddings.weight"][: len(pieces)]
        x = self.normal(x + part["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for number in range(self.layers):
            layer = f"encoder.layer.{number}"
            seen = self.linear(self.attention(x, f"{layer}.attention.self"), f"{layer}.attention.output.dense")
            x = self.normal(x + seen, f"{layer}.attention.output")
            wide = self.linear(x, f"{layer}.intermediate.dense")
            wide = wide * (1 + erf(wide / math.sqrt(2))) / 2
            x = self.normal(x + self.linear(wide, f"{layer}.output.dense"), f"{layer}.output")
        return x

    def attention(self, x: Array, name: str) -> Array:
        """Every piece looks at every other, in `HEADS` heads."""
        query, key, value = (
            self.linear(x, f"{name}.{role}").reshape(len(x), HEADS, -1).swapaxes(0, 1)
            for role in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
        share = np.exp(scores - scores.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        found: Array = (share @ value).swapaxes(0, 1).reshape(x.shape)
        return found

    def linear(self, x: Array, name: str) -> Array:
        found: Array = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return found

    def normal(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        even = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        found: Array = even * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"]
        return found


@lru_cache(maxsize=1)
def shared(weights: Path, tokenizer: Path) -> Encoder:
    """The encoder of these files, loaded once in a process."""
    return Encoder(weights, tokenizer)
