"""A process that begins other processes: everything heavy is imported once, so that each life is short to begin.

python lives.py          for each line of arguments (a JSON list) on standard input: the `loopworth` command with
                         them, in a process of its own; prints its id, and its exit status when it has ended
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    import instructor  # noqa: F401
    import openai
    import openai.types.chat  # noqa: F401

    import loopworth.cli.app
    import loopworth.cli.keeping
    import loopworth.comparisons.execution
    import loopworth.comparisons.table  # noqa: F401

    print("ready", flush=True)
    for line in sys.stdin:
        arguments = json.loads(line)
        pid = os.fork()
        if pid == 0:
            lived(arguments)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def lived(arguments: list[str]) -> None:
    """The command, with what it prints in the file that is named first."""
    to, *words = arguments
    out = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    from loopworth.cli.app import app

    try:
        app(words, prog_name="loopworth")
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)


if __name__ == "__main__":
    main()
