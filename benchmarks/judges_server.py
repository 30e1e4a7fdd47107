"""A scripted model on loopback: it speaks OpenAI's protocol, waits, and says something that fits what was asked.

Whoever asks says in its prompt, or beside it, which JSON it wants; the reply is the smallest one that fits and is not
empty. So every tool runs its own whole course of calls against the same server, which counts them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ITEMS = 4
"""Elements of every list in a reply, where the prompt does not say how many."""

CHECK = re.compile("spider has|water boils|April is")
"""Words of the texts by which rankproof checks its judge: the only ones that are said to answer anything."""


@dataclass
class Count:
    """What the server was asked."""

    url: str = ""
    calls: int = 0
    characters: int = 0
    """Of the whole requests: instructions, texts, schemas, options."""
    lock: threading.Lock = field(default_factory=threading.Lock)


def reply_to(request: dict[str, Any]) -> dict[str, Any]:
    """The message that fits a request."""
    if tools := request.get("tools"):
        function = tools[0]["function"]
        arguments = json.dumps(fitting(function["parameters"], function["parameters"]))
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": function["name"], "arguments": arguments},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema") or in_prompt(request)
    said = by_ids(request) or (fitting(schema, schema) if schema else {"rating": 1})
    content = json.dumps(said)
    return {"role": "assistant", "content": content}


def by_ids(request: dict[str, Any]) -> dict[str, Any] | None:
    """What rankproof's calls want: something of each id that they name, as the schema is the same for all."""
    try:
        body = json.loads(request["messages"][-1]["content"])
        texts, pairs = body["texts"], body.get("pairs")
    except (ValueError, TypeError, KeyError):
        return None
    if pairs is None:
        return {"texts": [{"id": short, "claims": text.split(". ")} for short, text in texts.items()]}
    named = (
        f"{relation} {left} {right}"
        for relation, groups in pairs.items()
        for lefts, rights in groups.items()
        for left in lefts.split()
        for right in rights.split()
    )
    yes = {short for short, text in [*texts.items(), *body.get("statements", {}).items()] if CHECK.search(text)}
    yes |= {mark for text in texts.values() if CHECK.search(text) for mark in re.findall(r"<(s\w*)>", text)}
    verdicts = []
    for pair in named:
        relation, _, right = pair.split()
        best = 3 if relation in "RA" else 1
        verdicts.append({"pair": pair, "quote": "", "value": best if right in yes else 0})
    return {"verdicts": verdicts}


def in_prompt(request: dict[str, Any]) -> dict[str, Any] | None:
    """The first JSON schema that a prompt shows."""
    text = " ".join(str(message["content"]) for message in request["messages"])
    for start in re.finditer(r"\{", text):
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start.start())
        except ValueError:
            continue
        if isinstance(found, dict) and "properties" in found:
            return found
    return None


def fitting(schema: dict[str, Any], whole: dict[str, Any]) -> Any:
    """The smallest value that fits a schema, with something in every list."""
    if "$ref" in schema:
        return fitting(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "enum" in schema:
        return 0 if 0 in schema["enum"] else schema["enum"][-1]
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0], whole)
    kind = schema.get("type")
    if kind == "object":
        return {name: fitting(each, whole) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [fitting(schema.get("items", {}), whole)] * ITEMS
    return {"integer": 1, "number": 1.0, "boolean": True, "null": None}.get(str(kind), "yes")


class Handler(BaseHTTPRequestHandler):
    """Waits as a model does, then answers."""

    protocol_version = "HTTP/1.1"
    count: Count
    wait: float

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request, size = json.loads(body), len(body)
        with self.count.lock:
            self.count.calls += 1
            self.count.characters += size
        time.sleep(self.wait)
        choice = {"index": 0, "message": reply_to(request), "finish_reason": "stop"}
        usage = {"prompt_tokens": size // 4, "completion_tokens": 20, "total_tokens": size // 4 + 20}
        body = json.dumps(
            {
                "id": "r1",
                "object": "chat.completion",
                "created": 0,
                "model": str(request.get("model")),
                "choices": [choice] * int(request.get("n") or 1),
                "usage": usage,
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@contextmanager
def serving(wait: float) -> Iterator[Count]:
    """The server as long as the block runs, in a process of its own, as models are; then the count is filled in."""
    words = [sys.executable, __file__, str(wait)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("the server has no pipes")
        count = Count(url=server.stdout.readline().strip())
        try:
            yield count
        finally:
            server.stdin.close()
        count.calls, count.characters = json.loads(server.stdout.readline())


def main() -> None:
    """Serve until standard input ends; the address goes to standard output, and at the end what was counted."""
    count = Count()
    bound = type("Bound", (Handler,), {"count": count, "wait": float(sys.argv[1])})
    many = type("Server", (ThreadingHTTPServer,), {"request_queue_size": 256, "daemon_threads": True})
    server = many(("127.0.0.1", 0), bound)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    sys.stdin.read()
    print(json.dumps([count.calls, count.characters]), flush=True)


if __name__ == "__main__":
    main()
