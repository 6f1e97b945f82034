"""The shipped examples, copied, with the embedded model's place taken by an endpoint on loopback."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from loopworth.comparisons.result import Result
from loopworth.workflows.python_name import load, module
from tests.cli.kit import ROOT
from tests.endpoint import Received, said

EXAMPLES = ROOT / "examples"
MODEL = "  name: local/smollm2-135m\n"
POLICY: Any = module("policy", EXAMPLES)
FILES = sorted(EXAMPLES.glob("*/*.yaml"))


def copied(folder: pathlib.Path, example: str, base_url: str) -> pathlib.Path:
    """A copy of an example whose models are asked at `base_url`."""
    shutil.copytree(EXAMPLES / example, folder / example)
    for file in (folder / example).glob("*.yaml"):
        text = file.read_text("utf-8")
        file.write_text(text.replace(MODEL, f"  name: vllm/clerk\n  base_url: {base_url}\n"), "utf-8")
    return folder / example


def clerk(received: Received) -> dict[str, Any]:
    """Plays every lookup task without a mistake, by the calls alone that the request's schema allows."""
    messages, schema = received.body["messages"], received.body["response_format"]["json_schema"]["schema"]
    start = max(n for n, message in enumerate(messages) if message["content"].startswith("What is"))
    question, results = messages[start]["content"], messages[start + 1 :]
    codes = re.findall(r"[A-Z]{3}-[0-9]{2}", question)
    field = re.findall("budget|staff|duration", question)[0]
    if "codes" in schema.get("properties", {}):
        return said(json.dumps({"codes": codes, "field": field}))
    found = [json.loads(text)["value"] for text in told(results, "lookup")]
    sums = [int(text) for text in told(results, "add")]
    if len(found) < len(codes):
        return called("lookup", code=codes[len(found)], field=field)
    if not sums and '"add"' in json.dumps(schema):
        return called("add", values=found)
    return said(json.dumps({"answer": sums[0] if sums else sum(found)}))


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    return said(json.dumps({"tool": tool, "arguments": arguments}))


def told(messages: list[dict[str, Any]], tool: str) -> list[str]:
    """The results of one tool, as the loop shows them."""
    head = f"{tool}: "
    return [message["content"].removeprefix(head) for message in messages if message["content"].startswith(head)]


def lines(file: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def regenerated(folder: pathlib.Path, example: str, name: str, *options: str) -> str:
    """A file as the example's generator writes it."""
    folder.mkdir(exist_ok=True)
    generator = EXAMPLES / example / "generate.py"
    subprocess.run([sys.executable, generator, "--to", folder, *options], check=True, timeout=60)
    return (folder / name).read_text("utf-8")


def scripted(example: str) -> Result:
    """The example's comparison with its policy in the model's place, as `examples/policy.py` runs it."""
    result: Result = POLICY.run(EXAMPLES / example)
    return result


def policy(example: str) -> Callable[[Received], dict[str, Any]]:
    """The example's policy behind an endpoint."""
    chooses = load("policy:policy", EXAMPLES / example)
    return lambda received: said(json.dumps(chooses(*POLICY.read(received.body["messages"]))))
