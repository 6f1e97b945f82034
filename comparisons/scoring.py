"""The process of a score of the user's own: reads rows, calls the function, writes what it says.

`own_score` starts it. One JSON object a line, in and out. The function's own reading and printing go nowhere.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPARE = 2.0
"""Seconds after its time in which a function is ended from outside; then the process ends itself."""


def scored(function: Callable[[Any, Any], Any], answer: Any, expected: Any) -> dict[str, Any]:
    """Whether the answer is right, with a note; or the error, whatever was raised."""
    try:
        value = function(answer, expected)
    except BaseException as error:
        return {"error": told(error)}
    right, note = value if isinstance(value, tuple) and len(value) == 2 else (value, "")
    right = right.item() if type(right).__module__ == "numpy" and getattr(right, "ndim", 1) == 0 else right
    if not isinstance(right, bool):
        return {"error": f"it returned {str(value)[:80]!r}, not True or False"}
    return {"right": right, "note": str(note)}


def told(error: BaseException) -> str:
    """An error on one line, with the place in the user's file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}{where}"


def limited(seconds: float) -> None:
    """End this process after so many seconds even where nobody is left to do it; 0 is never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    rows, lines = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)

    def say(message: dict[str, Any]) -> None:
        lines.write(json.dumps(message) + "\n")
        lines.flush()

    first = json.loads(rows.readline())
    sys.path[:] = first["path"]
    try:
        from loopworth.workflows.python_name import load  # found once the path is that of the process that asks

        function = load(first["name"], None if first["base"] is None else Path(first["base"]))
    except BaseException as error:
        say({"error": told(error)})
        return
    say({})
    for line in rows:
        row = json.loads(line)
        limited(row["seconds"] + SPARE)
        said = scored(function, row["answer"], row["expected"])
        limited(0)
        say(said)


if __name__ == "__main__":
    main()
