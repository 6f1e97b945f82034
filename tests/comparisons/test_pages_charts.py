"""The charts of a report."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from loopworth.comparisons.pages.charts import charts, inline, labels, png, svg
from tests.comparisons.reported import hostile

DRAWN = ("svg", "g", "path", "line", "text", "rect", "defs", "clipPath", "tspan")
NAMES = ["differences", "pareto", "levels", "ends", "steps", "latency"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def drawn(found: dict[str, Any]) -> dict[str, Any]:
    return charts(found)


def test_there_is_one_for_each_question(drawn: dict[str, Any]) -> None:
    """Differences, accuracy against cost, levels, ends, steps, latency."""
    assert list(drawn) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_well_formed_whatever_its_names_are(drawn: dict[str, Any], name: str) -> None:
    """Names are text in it; it has no script, no handler, no link, no style."""
    root = ElementTree.fromstring(svg(drawn[name]))
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in DRAWN
        assert not {key for key in element.attrib if key.startswith("on") or key in ("style", "href") or "xlink" in key}


def test_a_chart_takes_the_colours_of_its_page(drawn: dict[str, Any]) -> None:
    """So that it can be read on a dark one."""
    assert "currentColor" in inline(drawn["differences"], "differences")
    assert "currentColor" not in svg(drawn["differences"])
    assert "#010203" not in svg(drawn["differences"]) + inline(drawn["differences"], "differences")


def test_a_chart_is_a_picture_too(drawn: dict[str, Any]) -> None:
    assert png(drawn["differences"]).startswith(b"\x89PNG")


@pytest.mark.parametrize("long", ["\U0001f98a" * 90, "\u9f8d" * 90, "W" * 90, "a" + "\u0301" * 90], ids=range(4))
def test_a_level_is_told_apart_however_it_is_cut(found: dict[str, Any], long: str) -> None:
    """By whole characters, in columns."""
    texts = told(found, [f"{long}{k}" for k in range(4)])
    assert len({text for text in texts if text.startswith(long[:3])}) == 4


def test_a_level_that_is_no_number_is_a_text(found: dict[str, Any]) -> None:
    """Though Python takes it for one."""
    assert told(found, ["nan", "inf", "1e999", "3"]) >= {"nan", "inf", "1e999", "3"}


def told(found: dict[str, Any], levels: list[str]) -> set[str]:
    """The texts of the chart of a comparison that has these levels."""
    odd = copy.deepcopy(found)
    for one in odd["levels"]:
        one["level"] = levels[int(one["level"]) - 1]
    root = ElementTree.fromstring(svg(charts(odd)["levels"]))
    return {element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")}


def test_names_are_cut_in_columns() -> None:
    """A character may take up two, or none; two that are cut to the same have their number."""
    assert labels(["\u9f8d" * 9, "short", "\u9f8d" * 8 + "x"], 11) == {
        "\u9f8d" * 9: "\u9f8d" * 5 + "… (1)",
        "short": "short",
        "\u9f8d" * 8 + "x": "\u9f8d" * 5 + "… (3)",
    }


def test_what_is_unknown_has_no_chart(found: dict[str, Any]) -> None:
    """An arm without a figure is left out, and a chart without an arm."""
    empty = found | {"differences": [], "levels": [], "ends": [], "steps": [], "trials": []}
    assert list(charts(empty)) == ["pareto"]
    arms = [arm | {"accuracy": arm["accuracy"] | {"interval": None}} for arm in found["arms"]]
    assert charts(empty | {"arms": arms}) == {}


def test_levels_that_are_words_are_drawn(found: dict[str, Any]) -> None:
    """In the order of the table, side by side."""
    levels = [one | {"level": f"level {one['level']}"} for one in found["levels"]]
    assert "level 2" in svg(charts(found | {"levels": levels})["levels"])


def test_only_the_charts_load_altair() -> None:
    """A page without them needs no extra."""
    asked = (
        "import sys, loopworth.cli.app, loopworth.comparisons.pages.html, loopworth.comparisons.pages.markdown\n"
        "sys.exit('altair' in sys.modules or 'vl_convert' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
