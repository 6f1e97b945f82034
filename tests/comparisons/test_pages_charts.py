"""The charts of a report."""

from __future__ import annotations

import copy
import pathlib
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest

from loopworth.comparisons.pages.charts import COLOURS, charts, inline, labels, png, svg
from loopworth.comparisons.pages.tables import tables
from tests.comparisons.reported import files, hostile, measured

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


def pointers(text: str) -> tuple[set[str], set[str]]:
    """The ids of an SVG, and those that it points to."""
    elements = list(ElementTree.fromstring(text).iter())
    ids = [element.attrib["id"] for element in elements if "id" in element.attrib]
    assert len(set(ids)) == len(ids)
    attributes = [pair for element in elements for pair in element.attrib.items()]
    pointed = {target for _, value in attributes for target in re.findall(r"url\(#([^)]*)\)", value)}
    return set(ids), pointed | {value.removeprefix("#") for key, value in attributes if key.endswith("href")}


def clipped() -> alt.Chart:
    """A chart that Vega gives ids: of a frame that clips, and of a gradient."""
    stops = [alt.GradientStop(color="white", offset=0), alt.GradientStop(color="black", offset=1)]
    shade = alt.Gradient(gradient="linear", stops=stops)
    rows = alt.Data(values=[{"at": 1}, {"at": 2}])
    return alt.Chart(rows).mark_area(clip=True, color=shade).encode(x="at:Q", y="at:Q")


def test_charts_of_one_page_share_no_id(drawn: dict[str, Any]) -> None:
    """Each has ids of its own, and whatever points to one points into the same chart: else one chart of a page would be
    clipped, or coloured, by another."""
    taken = set[str]()
    for name, chart in [*drawn.items(), ("first", clipped()), ("second", clipped())]:
        ids, pointed = pointers(inline(chart, name))
        assert pointed <= ids, name
        assert not ids & taken, name
        assert all(one.startswith(f"{name}-") for one in ids), name
        taken |= ids
    assert len(taken) >= 4


def axes(svg: str) -> list[list[str]]:
    """The labels of each axis of a chart."""
    root = ElementTree.fromstring(svg)
    groups = (group for group in root.iter() if "role-axis-label" in group.attrib.get("class", ""))
    return [["".join(text.itertext()) for text in group.iter() if text.tag.endswith("}text")] for group in groups]


def test_no_axis_says_the_same_of_two_places(found: dict[str, Any], drawn: dict[str, Any]) -> None:
    """Places between whole numbers are no steps, and half a run is none."""
    for name, chart in drawn.items():
        for axis in axes(svg(chart)):
            assert len(set(axis)) == len(axis), name
    one = [end | {"runs": 1, "right": 1, "wrong": 0} for end in found["ends"][:1]]
    assert ["0", "1"] in axes(svg(charts(found | {"ends": one})["ends"]))
    step = found["steps"][0]
    two = [step | {"step": name} for name in ("read", "said")]
    assert ["1", "2"] in axes(svg(charts(found | {"steps": two})["steps"]))


@pytest.mark.parametrize(
    ("seconds", "ticks"),
    [((0.02, 40.0), ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]), ((1.0, 1.0), ["0.0"])],
)
def test_a_time_axis_tells_what_it_spans(found: dict[str, Any], seconds: Any, ticks: list[str]) -> None:
    """A logarithmic one, which says so, has its 1, 2 and 5; else it begins at 0, also where all runs took the same."""
    arms = [arm["arm"] for arm in found["arms"]]
    trials = [trial | {"latency": seconds[arms.index(trial["arm"])], "right": True} for trial in found["trials"]]
    made = svg(charts(found | {"trials": trials})["latency"])
    [axis] = [axis for axis in axes(made) if not axis[0].endswith("%")]
    assert axis[: len(ticks)] == ticks
    assert ("log scale" in made) == (seconds[0] != seconds[1])


def values(drawn: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a chart, or of one of its layers."""
    rows: list[dict[str, Any]] = drawn["data"]["values"]
    return rows


def told_costs(found: dict[str, Any], *usd: float | None) -> dict[str, Any]:
    """The comparison with arms that are billed, and cost so much a run."""
    two = zip(found["arms"], usd, strict=True)
    return found | {"arms": [arm | {"billed": True, "usd": arm["usd"] | {"mean": one}} for arm, one in two]}


@pytest.mark.parametrize(
    ("levels", "ticks", "wide"),
    [
        (["0.001", "0.1", "1", "1000"], ["0.001", "0.1", "1", "1000"], True),
        (["1", "2", "4", "8"], ["1", "2", "4", "8"], False),
        (["2023", "2024", "2025", "2026"], ["2023", "2024", "2025", "2026"], False),
        (["20240101", "20240102", "20240103", "20240105"], ["20240101", "20240102", "20240103", "20240105"], False),
    ],
)
def test_a_level_is_named_as_the_tasks_name_it(
    found: dict[str, Any], levels: list[str], ticks: list[str], wide: bool
) -> None:
    """It is not rounded, and has a place of its own, however far apart the levels are."""
    named = [one | {"level": levels[int(one["level"]) - 1]} for one in found["levels"]]
    made = svg(charts(found | {"levels": named})["levels"])
    assert ticks in axes(made)
    assert ("log scale" in made) == wide


def test_the_arms_at_a_level_are_told_apart_and_stand_at_it(found: dict[str, Any]) -> None:
    """However many they are: each is nearer to its own level than to the next."""
    arms = [found["arms"][0] | {"arm": f"a{k}"} for k in range(6)]
    levels = [one | {"arm": arm["arm"]} for one in found["levels"][::2] for arm in arms]
    only = found | {"arms": arms, "levels": levels, "differences": [], "ends": [], "steps": [], "trials": []}
    placed = values(charts(only)["levels"].to_dict())
    assert len({one["level"] for one in placed}) == len(placed) == 24
    assert [round(one["level"]) for one in placed] == [k for k in (1, 2, 3, 4) for _ in arms]


def test_arms_of_the_same_cost_at_a_step_are_told_apart(found: dict[str, Any]) -> None:
    """One does not cover the other, and both stand at their step."""
    steps = [step | {"step": name, "tokens": 47} for name in ("1", "2", "3") for step in found["steps"]]
    placed = values(charts(found | {"steps": steps})["steps"].to_dict())
    assert len({one["step"] for one in placed}) == len(placed) == 6
    assert sorted(round(one["step"]) for one in placed) == [1, 1, 2, 2, 3, 3]


def test_costs_far_apart_are_told_apart(found: dict[str, Any]) -> None:
    """The pipeline's is not all the same as nothing beside the agent's."""
    far, near = (svg(charts(told_costs(found, *usd))["pareto"]) for usd in ((0.0001, 0.1), (0.04, 0.1)))
    assert ["0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"] in axes(far)
    assert ("log scale" in far, "log scale" in near) == (True, False)


def test_an_arm_of_unknown_cost_is_told_of(found: dict[str, Any]) -> None:
    """Also where the chart stands alone."""
    assert "US dollars per run, unknown of 1 arm<" in svg(charts(told_costs(found, 0.1, None))["pareto"])


@pytest.mark.parametrize(
    ("usd", "title", "axis"),
    [
        ((0.01, 0.02), "Accuracy against cost", "US dollars per run"),
        ((None, None), "Accuracy against tokens", "tokens per run"),
    ],
)
def test_a_chart_of_accuracy_is_titled_by_its_axis(found: dict[str, Any], usd: Any, title: str, axis: str) -> None:
    """Where no cost is known or billed it stands against tokens; what it takes to be beaten is said beside it."""
    costs = told_costs(found, *usd)
    [table] = [one for one in tables(costs) if one.name == "pareto"]
    assert table.title == title
    assert axis in svg(charts(costs)["pareto"])
    assert table.words[1].startswith("An arm is beaten where another is shown better on at least one of these")


def test_without_a_pareto_set_no_arm_is_said_to_be_beaten(found: dict[str, Any]) -> None:
    """A single arm has none, nor a comparison that stopped early."""
    assert "pareto" not in charts(found | {"pareto": []})


def test_a_chart_says_which_interval_it_shows(drawn: dict[str, Any]) -> None:
    """It is forwarded without its page."""
    assert "gain (share of tasks), with its 90 % interval" in svg(drawn["differences"])
    for name in ("pareto", "levels"):
        assert "right, with its 95 % interval" in svg(drawn[name])


def test_a_smallest_gain_that_follows_from_prices_is_each_pairs_own(found: dict[str, Any]) -> None:
    """One line for all would be that of the first."""
    [pair] = found["differences"]
    least = {"a": 0.035, "b": 0.32}
    two = [pair | {"arm": arm, "min_gain": gain} for arm, gain in least.items()]
    arms = [found["arms"][0], *(found["arms"][1] | {"arm": arm} for arm in least)]
    only = found | {"arms": arms, "differences": two, "levels": [], "ends": [], "steps": [], "trials": []}
    every, each, *_ = charts(only)["differences"].to_dict()["layer"]
    assert [one["what"] for one in values(every)] == ["no gain"]
    assert [(one["pair"][0], one["at"]) for one in values(each)] == list(least.items())


@pytest.mark.parametrize(("n", "most"), [(1, 2), (3, 4), (250, 101)])
def test_the_share_of_runs_that_took_so_long_is_that_of_the_runs(found: dict[str, Any], n: int, most: int) -> None:
    """Nothing is made up between two runs, however few they are; of many not every one is a step."""
    trial = found["trials"][0] | {"right": True}
    trials = [trial | {"task": str(k), "latency": float(k)} for k in range(1, n + 1)]
    placed = values(charts(found | {"trials": trials})["latency"].to_dict())
    assert all(one["share"] == one["seconds"] / n for one in placed[1:])
    assert (placed[0]["share"], placed[-1]["share"], len(placed)) == (0, 1, most)


def luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", ["#ffffff", "#15171b"])
def test_colours_are_told_from_a_page(page: str) -> None:
    """At least 3 : 1, on a light page and on a dark one; twelve arms have one each."""
    assert len(set(COLOURS)) == len(COLOURS) == 12
    for colour in COLOURS:
        light, dark = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_an_arm_that_is_not_drawn_is_in_no_legend(tmp_path: pathlib.Path) -> None:
    """What is in the legend is in the chart, in the colour that it has in all of them."""
    plain = measured(files(tmp_path, 2, "x"))
    steps = [step for step in plain["steps"] if step["arm"] == "two"]
    made = svg(charts(plain | {"steps": steps})["steps"])
    assert (COLOURS[1] in made, COLOURS[0] in made, ">one<" in made, ">two<" in made) == (True, False, False, True)


def test_what_is_unknown_has_no_chart(found: dict[str, Any]) -> None:
    """An arm without a figure is left out, and a chart without an arm."""
    empty = found | {"differences": [], "levels": [], "ends": [], "steps": [], "trials": []}
    assert list(charts(empty)) == ["pareto"]
    assert charts(empty | {"pareto": []}) == {}
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
