"""What a file says of a model, as the models' room takes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopworth.models.spec import ModelSpec, Price, spec_faults
from loopworth.workflows import spec
from loopworth.workflows.document import plain
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form, Spotted

SAME = (
    *("base_url", "temperature", "seed", "max_tokens", "timeout", "retries", "dialect", "concurrency"),
    "requests_per_minute",
)


def model_spec(written: spec.ModelSpec) -> ModelSpec:
    """The model that a `model:` block names; paths are made absolute."""
    if isinstance(written, str):
        return ModelSpec(written)
    return ModelSpec(
        written.name,
        api_key=written.api_key.env if written.api_key is not None else None,
        price=priced(written.price),
        extra=plain(written.extra),
        file=str(written.path("file").absolute()) if written.file is not None else None,
        replies=plain(written.replies),
        **{key: getattr(written, key) for key in SAME},
    )


def priced(written: spec.Price | list[spec.Price] | None) -> Price | tuple[Price, ...] | None:
    """The price, or the prices in the order of their days."""
    if written is None or isinstance(written, spec.Price):
        return None if written is None else price(written)
    return tuple(sorted(map(price, written), key=lambda each: each.since or ""))


def price(written: spec.Price) -> Price:
    return Price(written.input, written.output, written.cached_input, written.from_)


def faults(form: Form, key: str = "model") -> Iterator[Fault]:
    """What is wrong with the model that stands at a form's key."""
    written: Any = form[key]
    if written is None or (isinstance(written, spec.ModelForm) and not isinstance(written.name, str)):
        return
    for part, what, instead in spec_faults(model_spec(written)):
        if not isinstance(written, spec.ModelForm) or written.sound(part):
            yield place(form, key, written, part).fault(what, instead)


def place(form: Form, key: str, written: spec.ModelSpec, part: str) -> Spotted:
    return written.at(part) if isinstance(written, spec.ModelForm) else form.at(key)
