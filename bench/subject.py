"""What can be measured: a factory that gets the endpoint's URL and the number of lookups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Subject:
    """One thing to measure. `make(url, k)` gives what runs it:

    kind "async":   an async run(prompt) -> text
    kind "harness": a run(prompts, concurrency) -> texts, by the subject's own runner
    """

    make: Callable[[str, int], Any]
    kind: str
    imports: str
    final: str = ""
