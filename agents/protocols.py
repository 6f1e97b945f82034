"""The protocols by name."""

from __future__ import annotations

from collections.abc import Mapping

from loopworth.agents.lines import React, Text
from loopworth.agents.native import Native
from loopworth.agents.objects import Json

Protocol = type[Native] | type[Json] | type[Text]
PROTOCOLS: Mapping[str, Protocol] = {made.name: made for made in (Native, Json, Text, React)}
