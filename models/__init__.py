"""Chat models behind one seam: OpenAI-compatible, embedded, scripted; and what they cost."""

from loopworth.models.errors import Unavailable
from loopworth.models.opening import Model, open_model, prepare
from loopworth.models.providers import PROVIDERS, Provider
from loopworth.models.scripted import ScriptedModel
from loopworth.models.spec import ModelSpec, Price, spec_faults

__all__ = [
    "PROVIDERS",
    "Model",
    "ModelSpec",
    "Price",
    "Provider",
    "ScriptedModel",
    "Unavailable",
    "open_model",
    "prepare",
    "spec_faults",
]
