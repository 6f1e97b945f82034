"""A workflow whose model says what a case gives."""

from __future__ import annotations

import pathlib

WORKFLOW = """\
workflow: says
shape: pipeline
input: {{}}
model: {{name: vllm/fake, base_url: "{url}"}}
steps:
  - {{id: said, ask: Hello}}
answer: "{{{{ said }}}}"
"""


def says(folder: pathlib.Path, url: str) -> pathlib.Path:
    """The workflow's file, over the model at this address."""
    file = folder / "says.yaml"
    file.write_text(WORKFLOW.format(url=url), "utf-8")
    return file
