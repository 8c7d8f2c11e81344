"""A Python library as a peer: a process that holds one graph and times the algorithms that it is asked for.

python benchmarks/python_peers.py LIBRARY GRAPH.npz THREADS

Each line of its input is a request, {"algorithm": name, "runs": count, "limit": seconds of a run or null}, answered by
two lines of JSON: {} when what the algorithm needs is made, then {"seconds": [of each run]}. Instead of either comes
{"error": reason} if the library lacks the algorithm or fails, and {"late": reason} if a run is ended by the alarm
(a library that cannot bear one is ended with its process, by who asked).
It needs NumPy and the library, not vgraph (but for `networkx-vgraph`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libraries
from limits import TooLongError, at_most
from tasks import Task


def answers(peer: libraries.Peer, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is said to one request."""
    try:
        call = peer.call(request["algorithm"])
        if call is None:
            yield {"error": f"it has no {request['algorithm']}"}
            return
        yield {}
        seconds = []
        for _ in range(request["runs"]):
            start = time.perf_counter()
            with at_most(request["limit"] if peer.hears_alarms else None):
                found = call()
            itself = isinstance(found, libraries.Seconds)
            seconds.append(found if itself else time.perf_counter() - start)
        yield {"seconds": seconds}
    except TooLongError as error:
        yield {"late": str(error)}
    except NotImplementedError:  # what NetworkX says of its backends
        yield {"error": f"it has no {request['algorithm']}"}
    except Exception as error:
        yield {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def main() -> None:
    library, path, threads = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    peer = libraries.load(library, Task.load(Path(path)), int(threads))
    for line in sys.stdin:
        for answer in answers(peer, json.loads(line)):
            print(json.dumps(answer), file=out)


if __name__ == "__main__":
    main()
