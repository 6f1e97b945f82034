"""The handed cases of kind terminal: a model's text on a real terminal, live and as it was kept."""

import json
import pathlib

import pytest
from ruamel.yaml import YAML

from tests.cases.answering import says
from tests.cli.kit import Terminal
from tests.endpoint import FakeEndpoint, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("terminal.yaml"))["cases"]


def screens(text, folder):
    """All that a terminal gets of a run with its transcript, and of `runs show`."""
    with FakeEndpoint(last=said(text)) as fake:
        live = ["run", says(folder, fake.base_url), "--transcript"]
        for words in (live, ["runs", "show", "last"]):
            terminal = Terminal("-m", "loopworth", *words)
            assert terminal.close() == 0, terminal.seen
            yield terminal.seen


def no_escape(given, folder):
    """The only escapes are loopworth's own colours; what the model sent is spelled out."""
    for seen in screens(json.loads(given["model_text_json"]), folder):
        assert "\x07" not in seen
        assert [part[:1] for part in seen.split("\x1b")[1:] if not part.startswith("[")] == []
        assert r"ok \x1b]52;c;ZXZpbA==\x07 end" in seen


def as_it_is(given, folder):
    """In one piece, so that no colour begins or ends inside it, and in no colour that began before it."""
    for seen in screens(given["model_text"], folder):
        (line, *_) = [line for line in seen.splitlines() if given["model_text"] in line]
        before, _, after = line.partition(given["model_text"])
        assert before.count("\x1b[0m") * 2 == before.count("\x1b[")
        assert after.strip() == ""


EXPECTED = {
    "No raw escape byte reaches the terminal; the rest is shown.": no_escape,
    "Printed as it is; no markup error, no colour.": as_it_is,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_terminal(case, tmp_path):
    """What a model may say to a terminal, and every line of what must come of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
