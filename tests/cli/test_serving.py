"""`loopworth serve`: where it listens, whom it lets in, and that it serves."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from loopworth.cli.serving import admitted
from loopworth.cli.status import UserFault
from tests.cli.kit import ROOT, command

TOKEN = "correct horse battery"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "inbox.example"])
def test_where_others_can_come_in_a_token_is_needed(host: str) -> None:
    """Without one nothing is served, and the message says how."""
    done = command("serve", "--host", host, "--port", "0")
    assert done.exit_code == 2
    assert f"--host {host}: other machines can come in there, so a token is needed" in done.stderr
    assert "LOOPWORTH_TOKEN=" in done.stderr


def test_a_token_that_can_be_guessed_is_none() -> None:
    """On loopback as well."""
    with pytest.raises(UserFault, match="it has 6 characters, and 16 are needed"):
        admitted("127.0.0.1", "secret", ())


def test_with_a_token_it_may_listen_anywhere() -> None:
    """It then answers under addresses, and under the names that are given."""
    hosts = admitted("0.0.0.0", TOKEN, ("Inbox.example",))
    assert hosts.admit("192.0.2.1:8420")
    assert hosts.admit("inbox.example")
    assert not admitted("127.0.0.1", None, ()).admit("192.0.2.1")


def test_a_port_that_is_taken_is_said() -> None:
    """Before anything is served."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = command("serve", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 2
    assert "cannot listen there" in done.stderr


def test_it_serves_until_it_is_interrupted(tmp_path: pathlib.Path) -> None:
    """It says where; a store that is not there yet is made; Ctrl-C is no failure."""
    words = [sys.executable, "-m", "loopworth", "serve", "--port", "0", "--store", str(tmp_path / "runs.db")]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert found, said
        with urllib.request.urlopen(found[0], timeout=30) as answer:
            assert "Nothing waits." in answer.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)
    assert process.returncode == 0, rest
    assert rest == ""
