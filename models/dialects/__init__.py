"""The wire formats of chat endpoints, by name."""

from loopworth.models.dialects.dialect import Dialect, Gathering
from loopworth.models.dialects.openai import OpenAI

DIALECTS: dict[str, Dialect] = {"openai": OpenAI()}

__all__ = ["DIALECTS", "Dialect", "Gathering"]
