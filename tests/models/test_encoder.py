"""The sentence encoder: files read by their own header, vectors of length 1, and the published cosines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="the extra `local` is not installed")

from loopworth.models.encoder import HEADS, MOST_PIECES, Encoder, tensors
from loopworth.models.weights import checked, find

WORDS = ["[UNK]", "[CLS]", "[SEP]", "money", "parcel", "�"]
WIDTH = 2 * HEADS


def safetensors(path: Path, parts: dict[str, np.ndarray]) -> Path:
    """A file of these tensors, and of one that is no float, first."""
    header, data = {"__metadata__": {"format": "pt"}}, b"\0" * 8
    header["ids"] = {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}
    for name, part in parts.items():
        header[name] = {"dtype": "F32", "shape": part.shape, "data_offsets": [len(data), len(data) + part.nbytes]}
        data += part.astype("<f4").tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tokenizer(path: Path) -> Path:
    """One piece a word, between [CLS] and [SEP], cut and padded as the published one is."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    made.enable_truncation(8)
    made.enable_padding(length=8)
    made.save(str(path))
    return path


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    """One layer of random weights."""
    random = np.random.default_rng(1)
    sizes = {"embeddings.word_embeddings.weight": (len(WORDS), WIDTH)}
    sizes |= {"embeddings.position_embeddings.weight": (MOST_PIECES, WIDTH)}
    sizes |= {"embeddings.token_type_embeddings.weight": (2, WIDTH)}
    layer = "encoder.layer.0"
    ways = {f"{layer}.attention.self.{role}": (WIDTH, WIDTH) for role in ("query", "key", "value")}
    ways |= {f"{layer}.attention.output.dense": (WIDTH, WIDTH), f"{layer}.intermediate.dense": (4 * WIDTH, WIDTH)}
    ways |= {f"{layer}.output.dense": (WIDTH, 4 * WIDTH)}
    for name, size in ways.items():
        sizes |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        sizes |= {f"{name}.LayerNorm.weight": (WIDTH,), f"{name}.LayerNorm.bias": (WIDTH,)}
    parts = {name: random.normal(size=size).astype("<f4") for name, size in sizes.items()}
    return Encoder(safetensors(tmp_path / "w.safetensors", parts), tokenizer(tmp_path / "t.json"))


def test_tensors_are_read_by_their_own_header(tmp_path: Path) -> None:
    """Name, shape and numbers; what is no float is left."""
    parts = {"a": np.arange(6, dtype="<f4").reshape(2, 3), "b": np.array([7.5], "<f4")}
    found = tensors(safetensors(tmp_path / "x", parts))
    assert {name: part.tolist() for name, part in found.items()} == {"a": [[0, 1, 2], [3, 4, 5]], "b": [7.5]}


def test_a_vector_has_length_1_and_depends_on_the_text_alone(encoder: Encoder) -> None:
    """Equal texts are equal, order counts, and the tokenizer's own padding is not part of a text."""
    vector, pieces = encoder.encode("money parcel")
    assert pieces == 4
    assert float(vector @ vector) == pytest.approx(1)
    assert np.array_equal(vector, encoder.encode("money parcel")[0])
    assert not np.allclose(vector, encoder.encode("parcel money")[0])


def test_a_text_of_any_kind_has_a_vector(encoder: Encoder) -> None:
    """Nothing, half a surrogate pair, and more than is read: the rest of a long text changes nothing."""
    assert encoder.encode("")[1] == 2
    assert np.isfinite(encoder.encode("money \ud800")[0]).all()
    long, pieces = encoder.encode("money " * MOST_PIECES)
    assert pieces == MOST_PIECES
    assert np.array_equal(long, encoder.encode("money " * MOST_PIECES + "parcel")[0])


@pytest.mark.weights
@pytest.mark.skipif(find("minilm") is None, reason="no weights: loopworth models install minilm")
def test_the_pass_gives_the_published_cosines() -> None:
    """The three that the model's publisher shows for the sentence 'That is a happy person', to five places."""
    encoder = Encoder(*checked("minilm"))
    person, _ = encoder.encode("That is a happy person")
    others = ("That is a happy dog", "That is a very happy person", "Today is a sunny day")
    cosines = [float(person @ encoder.encode(text)[0]) for text in others]
    assert cosines == pytest.approx([0.69458, 0.94292, 0.25688], abs=2e-5)
