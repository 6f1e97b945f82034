"""The documentation's examples run.

In a page, a fenced block with `file=NAME` in its info is a file; a `console` block is typed line by line (`$ …`),
and what stands below a command must be in its output, `…` standing for anything; a `python` block with `run` is run,
and may import the page's Python files. All of a page share one folder, and nothing leaves the machine.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.forks import Forks

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
ENVIRON = {"COLUMNS": "120", "NO_COLOR": "1", "PYTHONSAFEPATH": "1"}
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    words: tuple[str, ...]
    text: str
    line: int

    @property
    def file(self) -> str | None:
        return next((word[5:] for word in self.words if word.startswith("file=")), None)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page that mean something to this test."""
    text = page.read_text("utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, *words = match["info"].split() or [""]
        block = Block(language, tuple(words), match["text"], text.count("\n", 0, match.start()) + 1)
        if block.file or (language in ("console", "python") and "run" in words):
            found.append(block)
    return found


def typed(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown for it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def shows(said: str, shown: str) -> bool:
    """Whether all that is shown stands in what was said, in order: `…` is anything, and blanks do not count."""
    rest = "".join(said.split())
    for part in "".join(shown.split()).split("…"):
        _, found, rest = rest.partition(part) if part else ("", "-", rest)
        if not found:
            return False
    return True


def python(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environ = {**os.environ, **ENVIRON, "PYTHONPATH": path}
    command = [sys.executable, "-W", "error", "-c", text]
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )


def play(block: Block, folder: Path, forks: Forks) -> None:
    if block.file:
        where = folder / block.file
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(block.text, "utf-8")
    elif block.language == "python":
        done = python(block.text, folder)
        assert done.returncode == 0, done.stderr
    else:
        for command, shown in typed(block):
            words = shlex.split(command, comments=True)
            assert words[0] == "loopworth", f"only loopworth is run here: {command}"
            done = forks.run(words[1:], folder)
            said = done.stdout + done.stderr
            assert shows(said, shown), f"{command}\nshows\n{said}\nand the page says\n{shown}"
            assert "Traceback" not in said


@pytest.fixture(scope="module")
def forks():
    with Forks(**ENVIRON) as made:
        yield made


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page, tmp_path, forks):
    """What a page tells a reader to write and to type works, and shows what the page shows."""
    for block in blocks(page):
        try:
            play(block, tmp_path, forks)
        except AssertionError as error:
            raise AssertionError(f"{page.name}:{block.line}: {error}") from None


def test_links_between_pages_lead_somewhere():
    """No page points at one that is not there."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points at {target}"
