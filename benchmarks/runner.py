"""What the runner costs beside calling by hand: alone on a function, and with 64 questions in flight."""

from __future__ import annotations

import asyncio
import atexit
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from cases import case
from timing import Pair, Work

SERVER = """
import asyncio, json
ANSWER = json.dumps({"hits": [{"id": f"d{n}", "score": 1 / (n + 1)} for n in range(10)]}).encode()
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(ANSWER)

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(0.02)
            writer.write(HEAD + ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
IN_FLIGHT = 64


@case
def runner_overhead() -> list[Pair]:
    """A function of 1 ms, asked a thousand times: waiting, and computing."""
    return [
        _overhead("that waits", lambda text: time.sleep(0.001) or FOUND),
        _overhead("that computes", _compute),
    ]


FOUND = [(f"d{n}", 1 / (n + 1)) for n in range(100)]


def _compute(text: str) -> list[tuple[str, float]]:
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass
    return FOUND


def _overhead(what: str, function: Callable[[str], object]) -> Pair:
    from rankproof import Benchmark

    texts = [f"question {n}" for n in range(1000)]
    bench = Benchmark(texts)
    return Pair(
        f"runner, a function of 1 ms {what}, 100 documents",
        "a loop",
        lambda: bench.run("ours", function),
        lambda: {text: function(text) for text in texts},
        1 / 1.05,
    )


@case
def runner_in_flight() -> list[Pair]:
    """An endpoint that takes 20 ms: 64 questions in flight beside one after the other."""
    return [
        _in_flight("async function", _over_streams(_port())),
        _in_flight("endpoint.toml", _description(_port())),
    ]


def _in_flight(what: str, retriever: object) -> Pair:
    from rankproof import Benchmark

    many, few = (Benchmark([f"question {n}" for n in range(size)]) for size in (1920, 30))

    def asked(bench: Benchmark, concurrency: int) -> int:
        run = bench.run(what, retriever, concurrency=concurrency)
        if run.failures:
            raise RuntimeError(f"{what}: {next(iter(run.failures.values()))}")
        return len(run.rows)

    return Pair(
        f"runner, {what}, 20 ms over loopback, a question of {IN_FLIGHT} in flight",
        "one by one",
        lambda: asked(many, IN_FLIGHT),
        lambda: asked(few, 1),
        25,
        measure=_seconds_a_question,
    )


def _seconds_a_question(work: Work) -> float:
    start = time.perf_counter()
    questions = work()
    return (time.perf_counter() - start) / int(str(questions))


@cache
def _port() -> int:
    """The port of a server in a process of its own, which ends with this one."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    assert process.stdout is not None
    return int(process.stdout.readline())


def _over_streams(port: int) -> Callable[[str], object]:
    """An async retriever that keeps its connections, as a user would write one without a library."""
    free: dict[object, list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = {}

    async def search(text: str) -> list[dict[str, object]]:
        idle = free.setdefault(asyncio.get_running_loop(), [])
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(text.encode()) + text.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
        idle.append((reader, writer))
        return json.loads(body)["hits"]

    return search


def _description(port: int) -> str:
    path = Path(tempfile.mkdtemp()) / "endpoint.toml"
    path.write_text(
        f'url = "http://127.0.0.1:{port}/search"\nbody = {{ query = "{{question}}", size = "{{k}}" }}\n'
        '[answer]\nids = "hits[*].id"\nscores = "hits[*].score"\n'
    )
    return str(path)
