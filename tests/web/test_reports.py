"""The report of a comparison in the browser."""

from __future__ import annotations

import pytest

from loopworth.runs.kept import Query
from tests.cli.kit import command
from tests.comparisons.reported import SPELLED, Page, files
from tests.web.kit import Shop, browsing


def compared(shop: Shop) -> str:
    """A comparison whose texts are hostile; its id."""
    done = command("compare", files(shop.folder), "--store", shop.folder / "runs.db")
    assert done.exit_code == 0, done.output
    return shop.shelf().runs(Query(kinds=("comparison",)))[0].id


def test_a_comparison_links_to_its_report(shop: Shop) -> None:
    """The page of the file: verdict first, every section, hostile texts as text; with a policy that runs nothing."""
    id = compared(shop)
    with browsing(shop) as (tab, _):
        assert f'href="/runs/{id}/report"' in tab.get(f"/runs/{id}").text
        answer = tab.get(f"/runs/{id}/report")
    policy = answer.headers["content-security-policy"]
    assert (answer.status_code, "script" in policy, policy.startswith("default-src 'none'; style-src 'sha256-")) == (
        200, False, True,
    )  # fmt: skip
    page = Page(answer.text)
    assert page.faults == []
    assert page.text.index("keeps the place") < page.text.index("The arms")
    assert SPELLED in page.text
    assert f"loopworth runs show {id}." in page.text
    assert "script" not in {tag for tag, _ in page.elements}


def test_what_has_no_report_is_said(shop: Shop) -> None:
    """A run is no comparison; and files may have gone, or be faulty by now."""
    id, run = compared(shop), shop.waits()
    with browsing(shop) as (tab, _):
        assert tab.get(f"/runs/{run}/report").status_code == 404
        (shop.folder / "one.yaml").write_text("workflow: 1\n", "utf-8")
        faulty = tab.get(f"/runs/{id}/report")
        assert (faulty.status_code, "cannot be read any more" in faulty.text) == (409, True)
        (shop.folder / "comparison.yaml").unlink()
        gone = tab.get(f"/runs/{id}/report")
        assert (gone.status_code, "is not there any more" in gone.text) == (409, True)


@pytest.mark.parametrize("name", ["x", "..%2f..", "last"])
def test_no_other_path_is_a_report(shop: Shop, name: str) -> None:
    with browsing(shop) as (tab, _):
        assert tab.get(f"/runs/{name}/report").status_code == 404
