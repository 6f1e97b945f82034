"""The wire formats of chat endpoints, by name."""

from loopworth.models.dialects.anthropic import Anthropic
from loopworth.models.dialects.dialect import Dialect, Gathering
from loopworth.models.dialects.ollama import Ollama
from loopworth.models.dialects.openai import OpenAI

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (OpenAI(), Ollama(), Anthropic())}

__all__ = ["DIALECTS", "Dialect", "Gathering"]
