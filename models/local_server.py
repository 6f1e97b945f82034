"""The embedded model's server: `python -m loopworth.models.local_server FILE [--slots N] [--context N] [--threads N]`.

It runs in a process of its own, since OMP_WAIT_POLICY must be set before libgomp is loaded, and since a native crash or
a runaway generation must not take the run with it. It prints its address as a line of JSON and ends when its stdin
closes, so it never outlives the process that started it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any

CACHE = 256
"""MiB for prompts read before: interleaved arms share slots, and a request with `cache_prompt: true` finds its own."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m loopworth.models.local_server")
    parser.add_argument("file")
    parser.add_argument("--name", default="local")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--context", type=int, default=4096, help="tokens of each slot")
    parser.add_argument("--threads", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    server = serve(options)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # the native threads have no orderly end


def serve(options: argparse.Namespace) -> Any:
    """A running server on a free port of this machine."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the import: spinning threads starve a shared machine
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = options.file
    params.model_alias = {options.name}
    params.n_parallel, params.n_ctx = options.slots, options.context * options.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.n_threads_http, params.port = options.slots + 2, 0
    params.cache_ram_mib, params.ui, params.verbosity = CACHE, False, -1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
