"""What a file may say about a model."""

from __future__ import annotations

import msgspec
import pytest

from loopworth.models import ModelSpec, Price, spec_faults


def test_equal_specs_have_equal_keys() -> None:
    """The key is the name; anything else that is set shows as a digest, in whatever order it was written."""
    first, second = (
        ModelSpec("openai/x", temperature=0.0, extra=extra) for extra in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert ModelSpec("openai/x").key == "openai/x"
    assert first.key == second.key != ModelSpec("openai/x", temperature=1.0).key
    assert first.key.startswith("openai/x@")


def test_a_model_without_a_rate_has_the_key_that_it_had_before_there_were_rates() -> None:
    """Recordings name models by their keys."""
    spec = ModelSpec("openai/x", temperature=0.0, concurrency=4)
    assert spec.key == "openai/x@5c5b8f41de86"
    assert msgspec.structs.replace(spec, requests_per_minute=60).key != spec.key


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai/gpt-x", "openai", "gpt-x"),
        ("openrouter/meta/llama", "openrouter", "meta/llama"),
        ("ollama/qwen3.5:9b", "ollama", "qwen3.5:9b"),
        ("scripted", "scripted", "scripted"),
        ("org/model", "", "org/model"),
    ],
)
def test_the_name_is_provider_and_model(name: str, provider: str, model: str) -> None:
    """Only the first slash divides, and only after a provider."""
    spec = ModelSpec(name)
    assert (spec.provider, spec.model) == (provider, model)


@pytest.mark.parametrize(
    "spec",
    [
        ModelSpec("openai/gpt-x", price=Price(1.0, 2.0)),
        ModelSpec("org/model", base_url="http://127.0.0.1:1/v1"),
        ModelSpec("azure/gpt", base_url="https://x.openai.azure.com/openai/v1"),
        ModelSpec("local/smollm2-135m"),
        ModelSpec("local/custom", file="x.gguf"),
        ModelSpec("scripted", replies=["a"]),
    ],
)
def test_a_sound_spec_has_no_faults(spec: ModelSpec) -> None:
    """What the language allows passes."""
    assert spec_faults(spec) == []


@pytest.mark.parametrize(
    ("spec", "key", "words"),
    [
        (ModelSpec("opnai/gpt"), "name", ["unknown provider 'opnai'", "did you mean 'openai'?"]),
        (ModelSpec("hosted/gpt"), "name", ["unknown provider 'hosted'", "one of openai, azure"]),
        (ModelSpec("gpt-x"), "name", ["names no provider", "such as openai/gpt-x"]),
        (ModelSpec("gpt-5-mini"), "name", ["such as openai/gpt-5-mini"]),
        (ModelSpec("claude-sonnet-4-5"), "name", ["such as anthropic/claude-sonnet-4-5"]),
        (ModelSpec("gemini-2.5-flash"), "name", ["such as openrouter/google/gemini-2.5-flash"]),
        (ModelSpec("google/gemini-2.5-flash"), "name", ["unknown provider", "openrouter/google/gemini-2.5-flash"]),
        (ModelSpec("qwen3.5:9b"), "name", ["such as ollama/qwen3.5:9b"]),
        (ModelSpec("smollm2-135m"), "name", ["such as local/smollm2-135m"]),
        (ModelSpec("mine"), "name", ["such as ollama/mine"]),
        (ModelSpec("openai"), "name", ["names no model", "openai/"]),
        (ModelSpec("openai/"), "name", ["names no model"]),
        (ModelSpec("local/large"), "name", ["no embedded model 'large'", "smollm2-135m"]),
        (ModelSpec("replay/x"), "name", ["not in this version"]),
        (ModelSpec("ollama/x", dialect="latin"), "dialect", ["unknown dialect 'latin'", "openai, ollama, anthropic"]),
        (ModelSpec("local/smollm2-135m", dialect="ollama"), "dialect", ["has no `dialect`"]),
        (ModelSpec("azure/x"), "base_url", ["azure needs `base_url`"]),
        (ModelSpec("local/custom"), "file", ["needs `file`"]),
        (ModelSpec("ollama/x", file="x.gguf"), "file", ["belongs to local/custom"]),
        (ModelSpec("local/smollm2-135m", base_url="http://x"), "base_url", ["has no `base_url`"]),
        (ModelSpec("scripted"), "replies", ["needs `replies`"]),
        (ModelSpec("openai/x", replies=["a"]), "replies", ["belong to a scripted model"]),
        (ModelSpec("local/minilm", labels={}, requests_per_minute=1), "requests_per_minute", ["local", "leave it out"]),
        (ModelSpec("scripted", replies=["a"], requests_per_minute=1), "requests_per_minute", ["scripted has no"]),
    ],
)
def test_a_fault_names_its_key_and_what_to_write(spec: ModelSpec, key: str, words: list[str]) -> None:
    """Each slip is found before anything is asked."""
    [(where, what, instead)] = spec_faults(spec)
    assert where == key
    assert all(word in f"{what} {instead}" for word in words)


def test_all_faults_are_told_at_once() -> None:
    """One run of the check shows every one."""
    assert [key for key, _, _ in spec_faults(ModelSpec("nowhere/x", dialect="latin", file="f", replies=[]))] == [
        "name",
        "dialect",
        "file",
        "replies",
    ]


def test_what_is_no_part_of_this_version_is_not_suggested():
    """A provider that cannot be used yet is no help to who has misspelt one."""
    [(_, _, instead)] = spec_faults(ModelSpec("hosted/gpt"))
    assert "scripted" in instead
    assert "replay" not in instead
