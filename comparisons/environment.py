"""What a comparison was run on: Python, the platform, and the packages whose versions can change a result."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

SHOWN = ("loopworth", "openai", "instructor", "pydantic", "jinja2", "scipy", "numpy", "xllamacpp")


@cache
def environment() -> Mapping[str, Any]:
    """This process's."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: found for name in SHOWN if (found := installed(name))},
    }


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
