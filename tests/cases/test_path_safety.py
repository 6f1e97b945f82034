"""The handed cases of kind path-safety, through the built-in `files` on a real folder."""

import os
import pathlib
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.runs.observation import Observation
from loopworth.tools.builtin import builtin_tool
from tests.tools.kit import invoke

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("path-safety.yaml"))["cases"]


class Played(NamedTuple):
    above: pathlib.Path
    seen: Observation
    files: dict[str, str]
    """The text of every file that is there afterwards, links followed."""


def play(given: dict[str, Any], above: pathlib.Path) -> Played:
    """The case's call, on its root with `a.txt` in it and what else is said to be there."""
    root = above / given["root"]
    root.mkdir()
    (root / "a.txt").write_text("inside", "utf-8")
    match given.get("also_there", "").split():
        case ["folder", name]:
            (above / name).mkdir()
            (above / name / "a.txt").write_text("outside", "utf-8")
        case [link, "is", "a", "link", *_]:
            os.symlink(above / "not-yet.txt", above / link)
    writes = "text" in given["call"]
    bound = {"root": root, "write": writes}
    tool = builtin_tool("files", "files", effect="write" if writes else "read", bound=bound)
    seen = invoke(tool, given["call"])
    files = {str(path.relative_to(above)): path.read_text("utf-8") for path in above.rglob("*") if path.is_file()}
    return Played(above, seen, files)


def sibling_refused(played: Played) -> None:
    assert played.seen.status == "not_allowed"
    assert played.seen.content == "'../work-old/a.txt' leads out of the root: stay below it"


def nothing_outside(played: Played) -> None:
    assert (played.seen.status, played.seen.content) == ("not_allowed", "'new.txt' is a link: links are not followed")
    assert played.files == {"work/a.txt": "inside"}
    assert (played.above / "work" / "new.txt").is_symlink()


def allowed(played: Played) -> None:
    assert (played.seen.status, played.seen.full) == ("ok", "inside")


EXPECTED = {
    "Refused though the names share a beginning.": sibling_refused,
    "Refused; no file appears outside.": nothing_outside,
    "Allowed: it stays inside.": allowed,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_path_safety(case, tmp_path):
    """Which paths a tool with a root may follow, and every line of what must come of it."""
    played = play(case["given"], tmp_path)
    for line in case["expect"]:
        EXPECTED[line](played)
