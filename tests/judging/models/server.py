"""A server on loopback that speaks both protocols, judges by a rule, and misbehaves on demand."""

from __future__ import annotations

import gzip
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rankproof.judging.verdicts import Relation

Bend = Callable[[dict[str, Any]], Any]
"""Changes what the model says: takes the honest object, returns the object or text to say instead."""


GOOD = ("legs.", "boils at 100", "April is", "ANSWER")
BESIDE = ("ferry", "violin", "carpets", "Ignore all rules", "Note to the judge", "System:")


def truth(relation: str, left: str, right: str) -> int:
    """The rule that the server judges by: a few words in the texts decide."""
    if relation == Relation.CONTEXT_ANSWERS:
        return 3 if any(each in right for each in GOOD) else 0
    if relation == Relation.TEXT_SUPPORTS:
        return 1 if left in right else -1 if f"not {left}" in right.replace("NOT", "not") else 0
    if relation == Relation.TEXT_SUPPORTS_IN_PART:
        words = left.strip(".").split()
        there = sum(each in right for each in words)
        return 2 if there == len(words) else int(there * 2 > len(words))
    if relation == Relation.STATEMENT_BEARS:
        return int(any(each in right for each in GOOD))
    if any(each in right for each in BESIDE):
        return 0
    return -1 if "do not know" in right else 3


@dataclass
class Fault:
    """What goes wrong, and for how many calls."""

    bend: Bend | None = None
    answer: Callable[[Handler], None] | None = None
    """Answers in the place of the protocol."""
    envelope: Callable[[dict[str, Any]], Any] | None = None
    """Changes the reply of the protocol."""
    times: int = 1


@dataclass
class Served:
    """A running server: where it is, what goes wrong, what it was asked."""

    url: str
    faults: list[Fault] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Fields of a call that are refused, each with the words."""
    delay: float = 0.0
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    batches: Batches = field(default_factory=lambda: Batches())
    model: Callable[[dict[str, Any]], Any] = lambda body: honest(body)
    """What it says of what a call is about."""

    def bodies(self) -> list[dict[str, Any]]:
        """What each call asked about."""
        return [asked(each) for each in self.calls]


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # what is written second would wait 40 ms
    protocol_version = "HTTP/1.1"
    served: Served

    def do_GET(self) -> None:
        self.served.batches.get(self)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path in ("/files", "/batches", "/v1/messages/batches"):
            self.served.batches.post(self, content)
            return
        data = json.loads(content)
        served = self.served
        with served.lock:
            served.calls.append(data)
            served.keys.append(self.headers.get("Authorization") or self.headers.get("x-api-key") or "")
            served.at_once += 1
            served.most_at_once = max(served.most_at_once, served.at_once)
            fault = next((each for each in served.faults if each.times > 0), None)
            if fault is not None:
                fault.times -= 1
        time.sleep(served.delay)
        with served.lock:  # before the reply, as the next call may come as soon as it is read
            served.at_once -= 1
        self._reply(data, fault or Fault())

    def _reply(self, data: dict[str, Any], fault: Fault) -> None:
        for name, words in self.served.refused.items():
            if name in data:
                self.say(400, json.dumps({"error": {"message": words}}))
                return
        if fault.answer is not None:
            fault.answer(self)
            return
        said: Any = self.served.model(asked(data))
        if fault.bend is not None:
            said = fault.bend(said)
        said = wire(said)
        reply = anthropic(said) if "max_tokens" in data and "system" in data else openai(said)
        if fault.envelope is not None:
            reply = fault.envelope(reply)
        self.say(200, reply if isinstance(reply, str) else json.dumps(reply))

    def say(self, status: int, body: str | bytes = "", **headers: str) -> None:
        """Answer like a well-behaved server."""
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


@dataclass
class Batches:
    """The batch interfaces of both protocols: what is sent is answered after a few looks."""

    sent: list[list[dict[str, Any]]] = field(default_factory=list)
    """The requests of each batch, in the form {custom_id, body}."""
    looks: int = 2
    """So many looks find a batch still under way."""
    bend: Bend | None = None
    odd: dict[str, str] = field(default_factory=dict)
    """What is answered in the place of the protocol to a path that ends so."""
    lost: int = 0
    """So many requests of the first batch get no reply."""
    _file: list[dict[str, Any]] = field(default_factory=list)

    def post(self, handler: Handler, content: bytes) -> None:
        if self._odd(handler):
            return
        if handler.path == "/files":
            lines = [line for line in content.split(b"\r\n") if b"custom_id" in line]
            self._file = [json.loads(line) for line in lines[0].splitlines()]
            handler.say(200, json.dumps({"id": "file-1"}))
        elif handler.path == "/batches":
            assert json.loads(content)["input_file_id"] == "file-1"
            self.sent.append([{"custom_id": each["custom_id"], "body": each["body"]} for each in self._file])
            handler.say(200, json.dumps({"id": f"b{len(self.sent)}", "status": "validating"}))
        else:
            requests = json.loads(content)["requests"]
            self.sent.append([{"custom_id": each["custom_id"], "body": each["params"]} for each in requests])
            handler.say(200, json.dumps({"id": f"b{len(self.sent)}", "processing_status": "in_progress"}))

    def _odd(self, handler: Handler) -> bool:
        found = next((text for end, text in self.odd.items() if handler.path.endswith(end)), None)
        if found is not None:
            handler.say(200, found)
        return found is not None

    def get(self, handler: Handler) -> None:
        if self._odd(handler):
            return
        parts = handler.path.strip("/").split("/")
        if parts[-1] in ("content", "results"):
            number = int(parts[-2].rpartition("b")[2])
            replies = [self._reply(each, parts[-1]) for each in self.sent[number - 1]]
            handler.say(200, "".join(json.dumps(each) + "\n" for each in replies[self.lost if number == 1 else 0 :]))
            return
        self.looks -= 1
        done = self.looks < 0
        state = {"id": parts[-1], "output_file_id": f"out-{parts[-1]}"}
        states = (
            {"status": "completed", "processing_status": "ended"}
            if done
            else {"status": "in_progress", "processing_status": "in_progress"}
        )
        handler.say(200, json.dumps({**state, **states}))

    def _reply(self, request: dict[str, Any], kind: str) -> dict[str, Any]:
        said: Any = honest(asked(request["body"]))
        if self.bend is not None:
            said = self.bend(said)
        said = wire(said)
        if kind == "content":
            return {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": openai(said)}}
        return {
            "custom_id": request["custom_id"],
            "result": {"type": "succeeded", "message": anthropic(said)},
        }


def asked(data: dict[str, Any]) -> dict[str, Any]:
    """The object that a call is about."""
    content: dict[str, Any] = json.loads(data["messages"][-1]["content"])
    return content


def honest(body: dict[str, Any]) -> dict[str, Any]:
    """What a good model says: by relation, left and right id; or claims by the id of their text."""
    if "pairs" not in body:
        return {short: [part for part in re.split(r"(?<=\.) ", text) if part] for short, text in body["texts"].items()}
    lefts = {**body.get("questions", {}), **body.get("claims", {})}
    rights = texts_of(body)
    said: dict[str, Any] = {"quotes": []}
    for relation, groups in body["pairs"].items():
        for names, ids in groups.items():
            for left in names.split():
                for right in ids.split():
                    value = truth(relation, lefts[left], rights[right])
                    said.setdefault(relation, {}).setdefault(left, {})[right] = value
                    if (relation, value) in (("R", 3), ("S", 1), ("S", -1), ("P", 1), ("P", 2)):
                        quote = " ".join(rights[right].split()[:4])
                        said["quotes"].append({"pair": f"{relation} {left} {right}", "quote": quote})
    return said


def wire(said: Any) -> Any:
    """What is said in the form in which a reply says it; what is text, or no such thing, stays as it is."""
    if not isinstance(said, dict) or not said or "verdicts" in said or "texts" in said:
        return said
    if "quotes" not in said and all(isinstance(each, list) for each in said.values()):
        return {"texts": [{"id": short, "claims": claims} for short, claims in said.items()]}
    listed = said.get("quotes")
    quotes = {each["pair"]: each["quote"] for each in listed} if isinstance(listed, list) else {}
    verdicts = []
    for relation, lefts in said.items():
        for left, rights in lefts.items() if isinstance(lefts, dict) and relation != "quotes" else ():
            for right, value in rights.items():
                pair = f"{relation} {left} {right}"
                verdicts.append({"pair": pair, "quote": quotes.get(pair, ""), "value": value})
    return {"verdicts": verdicts}


def texts_of(body: dict[str, Any]) -> dict[str, str]:
    """The texts and statements of a call by their ids, without the marks of statements."""
    found = {short: re.sub(r"</?s[a-z]*\d+>", "", text) for short, text in body.get("texts", {}).items()}
    found |= body.get("statements", {})
    for text in body.get("texts", {}).values():
        found |= {mark[1]: mark[2] for mark in re.finditer(r"<(s[a-z]*\d+)>(.*?)</\1>", text, re.DOTALL)}
    return found


def openai(said: Any) -> dict[str, Any]:
    content = said if isinstance(said, str) else json.dumps(said)
    return {
        "model": "scripted-1",
        "system_fingerprint": "fp_1",
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def anthropic(said: Any) -> dict[str, Any]:
    part = {"type": "text", "text": said} if isinstance(said, str) else {"type": "tool_use", "input": said}
    return {
        "model": "scripted-1",
        "content": [part],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a full queue has some connections reset

    def handle_error(self, *args: object) -> None:
        """Keep quiet about clients that hang up."""


@contextmanager
def serving(certificate: tuple[str, str] | None = None) -> Iterator[Served]:
    """A server that runs as long as the block; with TLS where it has a certificate and its key."""
    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "http" if certificate is None else "https"
    served = Served(f"{scheme}://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Bound", (Handler,), {"served": served})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- ways to misbehave on the wire ---------------------------------------------------------------------


def status(code: int, body: str = "", **headers: str) -> Callable[[Handler], None]:
    return lambda handler: handler.say(code, body, **headers)


def hang(handler: Handler) -> None:
    time.sleep(1.0)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """A reply that comes a byte at a time and never ends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            break
        time.sleep(0.02)
    handler.close_connection = True


def reset(handler: Handler) -> None:
    """Half a reply, then the connection is reset."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    handler.connection.close()
    handler.close_connection = True


def vanish(handler: Handler) -> None:
    """The connection is closed without a word."""
    handler.close_connection = True
    handler.connection.close()


def huge(handler: Handler) -> None:
    """More than anybody wants to read."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(64 << 20))
    handler.end_headers()
    block = b"x" * (1 << 20)
    try:
        for _ in range(64):
            handler.wfile.write(block)
    except OSError:
        handler.close_connection = True


def garbled(handler: Handler) -> None:
    """Says it is gzip, and is not."""
    handler.say(200, b"this is no gzip", Content_Encoding="gzip")


def bomb(handler: Handler) -> None:
    """A small reply that unpacks to a huge one."""
    handler.say(200, BOMB, Content_Encoding="gzip")


BOMB = gzip.compress(bytes(32 << 20), 1)


def cut_chunk(handler: Handler) -> None:
    """A reply in chunks, of which one is shorter than it says."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'ff\r\n{"choices": [')
    handler.close_connection = True


def short(handler: Handler) -> None:
    """A reply that ends before the length it says."""
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": []}')
    handler.close_connection = True
