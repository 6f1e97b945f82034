"""The built-in `files`: what is below the root, and nothing else."""

import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.builtin import builtin_tool
from loopworth.tools.fault import ToolFault
from loopworth.tools.files import MOST_ENTRIES, MOST_FOUND, Reading, Writing
from loopworth.tools.root import READ, Folder, Root, names
from tests.tools.kit import invoke

SECRET = "the secret outside"
ANYWAY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def root(tmp_path):
    """A root with files in it, links out of it, and something worth reading beside it."""
    work = tmp_path / "work"
    (work / "sub" / "deep").mkdir(parents=True)
    (work / "a.txt").write_text("one\nTwo\nthree\n", "utf-8")
    (work / "sub" / "b.txt").write_text("two again", "utf-8")
    (work / "raw.bin").write_bytes(b"\xff\xfe\x00")
    for place in (tmp_path / "out.txt", tmp_path / "work.txt", tmp_path / "work-old" / "a.txt"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(SECRET, "utf-8")
    os.symlink(tmp_path / "out.txt", work / "file-link")
    os.symlink("../out.txt", work / "sub" / "near-link")
    os.symlink(tmp_path, work / "folder-link")
    os.symlink(tmp_path / "new.txt", work / "dangling")
    return work


def look(root, path=".", search="", holds=True, **bound):
    return Reading(Root(root, holds), **bound).look(path, search)


def refusal(call, *args, **how):
    with pytest.raises(ArgumentFault) as caught:
        call(*args, **how)
    return caught.value.status, str(caught.value)


@pytest.mark.parametrize("holds", [True, False])
def test_a_folder_gives_its_entries_and_a_file_its_text(root, holds):
    """Links, which cannot be read, are named apart; both ways of opening see the same."""
    entries = {"entries": ["a.txt", "raw.bin", "sub/"], "not_readable": ["dangling", "file-link", "folder-link"]}
    assert look(root, holds=holds) == entries
    assert look(root, "sub", holds=holds) == {"entries": ["b.txt", "deep/"], "not_readable": ["near-link"]}
    assert look(root, "./sub//deep/../b.txt", holds=holds) == "two again"


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("../out.txt", "not_allowed", "leads out of the root"),
        ("sub/../../out.txt", "not_allowed", "leads out of the root"),
        ("..", "not_allowed", "leads out of the root"),
        ("/etc/hosts", "not_allowed", "is an absolute path"),
        ("C:/Windows/win.ini", "not_allowed", "is an absolute path"),
        ("file-link", "not_allowed", "'file-link' is a link: links are not followed"),
        ("sub/near-link", "not_allowed", "'near-link' is a link"),
        ("folder-link/out.txt", "not_allowed", "'folder-link' is a link"),
        ("folder-link", "not_allowed", "'folder-link' is a link"),
        ("dangling", "not_allowed", "'dangling' is a link"),
        ("..\\out.txt", "invalid_arguments", "write names with / between them"),
        ("a.txt\0.png", "invalid_arguments", "write names with / between them"),
        ("a.txt/b", "invalid_arguments", "'a.txt' is a file, not a folder"),
        ("A.TXT", "invalid_arguments", "there is no 'A.TXT': did you mean 'a.txt'?"),
        ("none/a.txt", "invalid_arguments", "there is no 'none'"),
        ("raw.bin", "invalid_arguments", "'raw.bin' is binary (3 bytes), not text"),
    ],
)
def test_a_path_that_is_refused_says_why(root, path, status, said, holds):
    """Before anything outside is touched."""
    found = refusal(look, root, path, holds=holds)
    assert (found[0], said in found[1]) == (status, True), found


def test_a_refusal_is_no_failure_of_the_tool(root):
    """A model may look for a file as often as it likes."""
    seen = invoke(builtin_tool("docs", "files", effect="read", bound={"root": root}), {"path": "none.txt"})
    assert (seen.status, seen.content) == ("invalid_arguments", "there is no 'none.txt'")


@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path), lambda path: path.mkdir()])
def test_what_is_no_file_is_never_waited_for(root, make):
    """A pipe would hang whoever opens it."""
    make(root / "odd")
    seen = invoke(builtin_tool("docs", "files", effect="read", bound={"root": root}), {"path": "odd"}, timeout=1.0)
    assert seen.status in ("ok", "invalid_arguments")


@pytest.mark.parametrize("holds", [True, False])
def test_a_link_put_there_after_the_check_is_not_followed(root, holds):
    """The file is checked, and somebody swaps it for a link before it is opened."""

    class Swapping(Folder):
        def status(self, name):
            found = Folder.status(self, name)
            os.unlink(root / name)
            os.symlink(root.parent / "out.txt", root / name)
            return found

    with Root(root, holds).folder(()) as here:
        assert refusal(Swapping(here.path, here.fd).open, "a.txt", READ)[0] == "not_allowed"


@pytest.mark.parametrize("holds", [True, False])
def test_a_folder_swapped_for_a_link_after_the_check_is_not_entered(root, holds):
    """The same with a folder on the way."""

    class Swapping(Folder):
        def status(self, name):
            found = Folder.status(self, name)
            os.rename(root / name, root / "aside")
            os.symlink(root.parent, root / name)
            return found

    made = Root(root, holds)
    with made.folder(()) as here:
        refusal(made.below, Swapping(here.path, here.fd), "sub")


def test_a_folder_swapped_while_it_is_read_leads_nowhere(root):
    """Somebody changes a folder for a link and back all the while: nothing of the outside is ever read."""
    over = threading.Event()
    (root.parent / "b.txt").write_text(SECRET, "utf-8")

    def swap():
        while not over.is_set():
            os.rename(root / "sub", root / "aside")
            os.symlink(root.parent, root / "sub")
            os.unlink(root / "sub")
            os.rename(root / "aside", root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(500):
            try:
                assert look(root, "sub/b.txt") == "two again"
            except ArgumentFault:
                continue
    finally:
        over.set()
        thread.join()


INSIDE = ["sub", "deep", "a.txt", "b.txt", "file-link", "near-link", "folder-link", "dangling"]
PARTS = st.sampled_from(["..", ".", "", "out.txt", "work", *INSIDE])
PATHS = st.lists(PARTS, max_size=6).map("/".join) | st.text(max_size=12)


@ANYWAY
@given(path=PATHS, search=st.sampled_from(["", "secret", "two"]), holds=st.booleans())
def test_no_path_ever_reads_outside_the_root(root, path, search, holds):
    """Whatever is written, what comes back is from inside, or a refusal."""
    try:
        found = look(root, path, search, holds=holds)
    except (ArgumentFault, OSError):
        return
    assert SECRET not in str(found)
    assert "work-old" not in str(found)


@ANYWAY
@given(path=PATHS, holds=st.booleans())
def test_no_path_ever_writes_outside_the_root(root, path, holds):
    """Whatever is written, what lies outside stays as it was."""

    def outside():
        return {
            str(place): (place.is_symlink(), place.is_file() and place.read_text("utf-8"))
            for place in root.parent.rglob("*")
            if root not in place.parents and place != root
        }

    before = outside()
    try:
        told = Writing(Root(root, holds)).write(path, "new")
    except (ArgumentFault, OSError):
        told = None
    assert outside() == before
    assert told is None or root.joinpath(*names(path)).read_text("utf-8") == "new"


@pytest.mark.parametrize("holds", [True, False])
def test_a_file_is_written_whole_and_its_folders_are_made(root, holds):
    """One that is there is replaced; nothing else is left beside it."""
    write = Writing(Root(root, holds)).write
    assert write("new/er/c.txt", "ünï") == {"path": "new/er/c.txt", "bytes": 5, "replaced": False}
    assert write("a.txt", "short")["replaced"]
    assert (root / "a.txt").read_text("utf-8") == "short"
    assert [each.name for each in (root / "new" / "er").iterdir()] == ["c.txt"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("file-link", "not_allowed"),
        ("dangling", "not_allowed"),
        ("folder-link/x", "not_allowed"),
        ("sub", "invalid_arguments"),
        (".", "invalid_arguments"),
        ("sub/", "invalid_arguments"),
        ("../new.txt", "not_allowed"),
    ],
)
@pytest.mark.parametrize("holds", [True, False])
def test_nothing_is_written_through_a_link_or_over_a_folder(root, path, status, holds):
    """The links are still there, and what they lead to is as it was."""
    assert refusal(Writing(Root(root, holds)).write, path, "new")[0] == status
    assert (root.parent / "out.txt").read_text("utf-8") == SECRET
    assert not (root.parent / "new.txt").exists()
    assert (root / "dangling").is_symlink()


def test_a_tool_writes_only_if_it_was_told_to(root):
    """Without `write` there is nothing to write with; with it, its effect must say so."""
    assert "text" not in builtin_tool("docs", "files", effect="read", bound={"root": root}).parameters["properties"]
    with pytest.raises(ToolFault, match="`write` makes this tool write, and its `effect` is read"):
        builtin_tool("save", "files", effect="read", bound={"root": root, "write": True})
    tool = builtin_tool("save", "files", effect="write", bound={"root": root, "write": True})
    assert invoke(tool, {"path": "c.txt", "text": "x"}).full == {"path": "c.txt", "bytes": 1, "replaced": False}


def test_a_search_finds_lines_and_says_what_it_left_out(root):
    """Case does not count; links and binary files are named."""
    found = [{"path": "a.txt", "line": 2, "text": "Two"}, {"path": "sub/b.txt", "line": 1, "text": "two again"}]
    skipped = ["dangling", "file-link", "folder-link", "raw.bin", "sub/near-link"]
    assert look(root, search="TWO") == {"found": found, "more": False, "not_searched": skipped}
    assert look(root, "a.txt", "three")["found"] == [{"path": "a.txt", "line": 3, "text": "three"}]


def test_sizes_are_limited(root):
    """What is too large is said with both numbers; a cut list or search says that it is cut."""
    assert "has 14 bytes, and at most 10 are read: search in it" in refusal(look, root, "a.txt", max_bytes=10)[1]
    assert "has 11 bytes, and at most 10 are written" in refusal(Writing(Root(root), 10).write, "x", "y" * 11)[1]
    (root / "many").write_text("hit\n" * (MOST_FOUND + 1), "utf-8")
    found = look(root, "many", "hit")
    assert (len(found["found"]), found["more"]) == (MOST_FOUND, True)
    for number in range(MOST_ENTRIES + 5):
        (root / "sub" / "deep" / f"{number}").touch()
    assert look(root, "sub/deep")["more"] == 5


def test_the_root_itself_may_be_a_link_and_must_be_there(root, tmp_path):
    """The author names it, so the author may link it."""
    os.symlink(root, tmp_path / "alias")
    assert look(tmp_path / "alias", "sub/b.txt") == "two again"
    with pytest.raises(ToolFault, match="there is no folder") as caught:
        builtin_tool("docs", "files", effect="read", bound={"root": tmp_path / "none"})
    assert (caught.value.key, caught.value.name) == ("with", "root")
