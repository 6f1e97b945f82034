"""The HTML report in a real browser, opened as a file: Debian's chromium, by its path. Skipped, saying so, without."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from loopworth.comparisons.export import read, to_json
from loopworth.comparisons.pages.charts import charts, inline
from loopworth.comparisons.pages.html import html
from tests.comparisons.contenders import Says, arm, compared, comparison
from tests.comparisons.reported import hostile
from tests.runs.test_characters import JOINED
from tests.web.test_browser import DESK, PHONE, chromium  # noqa: F401 (a fixture is used by its name)

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A report of which every text is hostile."""
    folder = tmp_path_factory.mktemp("report")
    found = hostile(folder)
    file = folder / "report.html"
    file.write_text(html(found, drawings={name: inline(chart, name) for name, chart in charts(found).items()}), "utf-8")
    return file


@contextmanager
def opened(browser: Any, file: pathlib.Path, **more: Any) -> Iterator[Any]:
    """The file in a tab, which must end without a request, a message on the console, a dialog or a fault."""
    context = browser.new_context(**{"viewport": DESK, **more})
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: complaints.append(f"request: {request.url}"))
    try:
        page.goto(file.as_uri())
        yield page
        assert complaints == [f"request: {file.as_uri()}"]
    finally:
        context.close()


def test_it_opens_without_a_request_or_an_error(chromium: Any, report: pathlib.Path) -> None:  # noqa: F811
    """Nothing but the file itself is asked for, and nothing of it is run; all charts are drawn."""
    with opened(chromium, report) as page:
        assert page.locator("h1").inner_text() == "hostile"
        verdict = page.locator(".verdict").inner_text()
        assert verdict.startswith("Verdict: ")
        assert verdict.endswith("better — one keeps the place: no other arm earned it.")
        for chart in page.locator("svg").all():
            assert chart.bounding_box()["height"] > 50
        page.locator("summary").first.click()
        assert "<script>alert(1)</script>" in page.locator("details pre").first.inner_text()


def test_text_that_is_joined_is_read_as_it_was_written(chromium: Any, tmp_path: pathlib.Path) -> None:  # noqa: F811
    """A family, Persian, Hindi: in headings, tables, transcripts and charts; what hides among them is spelled out."""
    joined = " ".join(JOINED.values())
    found = hostile(tmp_path, said=f"{joined} pay\u200dpal \u202eevil")
    file = tmp_path / "report.html"
    file.write_text(html(found, drawings={name: inline(chart, name) for name, chart in charts(found).items()}), "utf-8")
    with opened(chromium, file) as page:
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        for place in ("#arms th", "#disagreements pre"):
            assert f"{joined} pay\\u200dpal \\u202eevil" in page.locator(place).nth(-1).inner_text()
        for place in ("#tasks td", "svg text"):  # where texts are cut
            assert JOINED["a family"] in " ".join(page.locator(place).all_text_contents())
        assert not re.search("\u202e|y\u200d", page.content())


@pytest.mark.parametrize("more", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], ids=["light", "dark", "phone"])
def test_axe_finds_nothing_serious(chromium: Any, report: pathlib.Path, more: dict[str, Any]) -> None:  # noqa: F811
    """Contrast, names, headings, tables, what can be scrolled: on a light and a dark screen and on a phone, with the
    disagreements open."""
    with opened(chromium, report, **more) as page:
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        found = axe.Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_a_phone_shows_it_without_scrolling_sideways(chromium: Any, report: pathlib.Path) -> None:  # noqa: F811
    """Wide tables scroll inside; charts and transcripts shrink or stack."""
    with opened(chromium, report, viewport=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("which", ["report", "broad"])
def test_a_phone_shows_charts_and_verdicts_whole(chromium: Any, which: str, request: pytest.FixtureRequest) -> None:  # noqa: F811
    """Each chart in the width of the page, its text of at least 9 pixels; the verdict on each arm without scrolling."""
    with opened(chromium, request.getfixturevalue(which), viewport=PHONE) as page:
        charts = page.locator("svg").evaluate_all(
            """all => all.map(svg => [svg.parentElement.scrollWidth - svg.parentElement.clientWidth,
                12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width])"""
        )
        assert len(charts) > 3
        assert [(beyond, high) for beyond, high in charts if beyond > 0 or high < 9] == []
        column = page.locator("#differences th", has_text=re.compile("^verdict$")).bounding_box()
        assert column["x"] + column["width"] <= PHONE["width"]


def test_a_phone_breaks_no_word_that_has_room_for_itself(chromium: Any, report: pathlib.Path) -> None:  # noqa: F811
    """In a table a line ends between words; a word of more than a column alone is cut."""
    with opened(chromium, report, viewport=PHONE) as page:
        cut = page.locator("th, td").evaluate_all(
            """all => all.flatMap(cell => {
                const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [], range = new Range()
                while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[a-z_]{2,12}(?![^ ])/g)) {
                    range.setStart(texts.currentNode, word.index)
                    range.setEnd(texts.currentNode, word.index + word[0].length)
                    if ((word.index === 0 || texts.currentNode.data[word.index - 1] === " ")
                        && new Set([...range.getClientRects()].map(one => one.top)).size > 1) found.push(word[0])
                }
                return found
            })"""
        )
        assert cut == []


@pytest.fixture(scope="module")
def broad(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A report whose arms have the broadest names that a file can give them."""
    arms = [arm("m" * 30, Says(str)), arm("w" * 30, Says(lambda q: "no" if q in "123" else q))]
    with ThreadPoolExecutor() as aside:  # a browser's driver has a loop in this thread
        found = read(to_json(aside.submit(compared, comparison(arms, 9)).result()))
    took = {"runs": 9, "model_calls": 1, "tool_calls": 0, "tokens": 9, "usd": 0.00097}  # so much, in so many digits
    found["steps"] = [took | {"arm": arm["arm"], "step": "1"} for arm in found["arms"]]
    file = tmp_path_factory.mktemp("broad") / "report.html"
    file.write_text(html(found, drawings={name: inline(chart, name) for name, chart in charts(found).items()}), "utf-8")
    return file


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("which", ["report", "broad"])
def test_no_label_of_a_chart_is_cut_off(
    chromium: Any,  # noqa: F811
    which: str,
    viewport: Any,
    request: pytest.FixtureRequest,
) -> None:
    """In the reader's fonts, which are wider than those that it was drawn with; no label runs into another, or into the
    title of its axis."""
    with opened(chromium, request.getfixturevalue(which), viewport=viewport) as page:
        cut = page.evaluate(
            """() => [...document.querySelectorAll("svg")].flatMap(svg => {
                const box = svg.getBoundingClientRect()
                const texts = [...svg.querySelectorAll("text")].filter(one => one.textContent)
                const at = one => one.getBoundingClientRect()
                const out = texts.filter(one => at(one).left < box.left - 1 || at(one).right > box.right + 1)
                const groups = [...svg.querySelectorAll(".role-axis-label, .role-axis-title, .role-legend-label")]
                const over = groups.flatMap(group => [...group.querySelectorAll("text")]).filter((one, k, all) =>
                    all.some(other => other !== one && at(one).left < at(other).right - 1
                        && at(other).left < at(one).right - 1 && at(one).top < at(other).bottom - 3
                        && at(other).top < at(one).bottom - 3))
                return [...out, ...over].map(one => one.textContent)
            })"""
        )
        assert cut == []


def test_it_is_dark_where_the_screen_is(chromium: Any, report: pathlib.Path) -> None:  # noqa: F811
    """The page, and the text of its charts."""
    colours = []
    for scheme in ("light", "dark"):
        with opened(chromium, report, color_scheme=scheme) as page:
            colours.append(
                page.evaluate("""() => [getComputedStyle(document.documentElement).backgroundColor,
                getComputedStyle(document.querySelector("svg text")).fill]""")
            )
    assert colours == [["rgb(255, 255, 255)", "rgb(27, 29, 33)"], ["rgb(21, 23, 27)", "rgb(231, 233, 238)"]]


def test_it_prints_light(chromium: Any, report: pathlib.Path) -> None:  # noqa: F811
    """Black on white, also from a dark screen, without the links between its sections."""
    with opened(chromium, report, color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
        page.set_viewport_size({"width": 794 - 76, "height": 1123})  # A4, with a centimetre of margin
        widths = page.locator("#arms table").evaluate("one => [one.scrollWidth, one.parentElement.clientWidth]")
        assert widths[0] <= widths[1]
