"""Where a store is, and which others are near it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

CLOSED = """
import os, sys
from loopworth.runs.home import home, nearby
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.seteuid(65534)  # root may look everywhere
print([path.as_posix() for path in nearby(home(None)) if ".." not in path.parts])
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders are closed in another way on Windows")
def test_a_folder_that_may_not_be_looked_into_has_no_store() -> None:
    """It is no fault of who asks for a run in a folder such as /tmp, which holds those of others."""
    without = {name: value for name, value in os.environ.items() if name != "LOOPWORTH_STORE"}
    with tempfile.TemporaryDirectory() as place:  # not below pytest's own, which is closed to all but its user
        for name, mode in (("closed", 0o000), ("open", 0o755), (".", 0o755)):
            folder = pathlib.Path(place, name)
            (folder / ".loopworth").mkdir(parents=True)
            (folder / ".loopworth" / "runs.db").touch()
            folder.chmod(mode)
        done = subprocess.run([sys.executable, "-c", CLOSED, place], capture_output=True, text=True, env=without)
        pathlib.Path(place, "closed").chmod(0o755)
    assert (done.stdout, done.stderr) == ("['open/.loopworth/runs.db']\n", "")
