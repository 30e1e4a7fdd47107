"""Calls sent as one batch: half the price, answered within a day, for those who can wait.

A call is known by the hash of what it says. So a batch that was sent can be gone on with after an interruption:
the same pairs make the same calls, and its replies find them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from rankproof.judging.models.asking import Call, calls_for
from rankproof.judging.models.providers import Reply
from rankproof.judging.models.session import NONE, Session, sizes
from rankproof.judging.models.transport import Failed, Hopeless, Wire, open_clients
from rankproof.judging.verdicts import Account, Ask

BATCH_PRICE = 0.5
"""What services take of the usual price for a batch."""
SAMPLES_OF_A_BATCH = 5_000
"""Samples whose calls go into one batch; services take some 50,000 calls, and 200 MB."""
ENDED = ("completed", "ended", "failed", "expired", "cancelled")


async def settle_in_batches(session: Session, groups: Iterable[Sequence[Ask]]) -> Account:
    """Settle all pairs by one batch, and by a further one for what its replies leave open."""
    session.share_of_price = BATCH_PRICE
    limits = session.limits
    calls = [call for group in groups for call in calls_for(group, limits.canaries, limits.pairs)]
    known = limits.batch if isinstance(limits.batch, str) else ""
    async with open_clients(1, limits.timeout) as clients:
        wire = Wire(session.service, next(clients), limits.timeout, limits.tries, limits.pause)
        for again in range(limits.again, -1, -1):
            calls = await _round(session, wire, calls, again, known)
            known = ""
    return session.account


async def _round(session: Session, wire: Wire, calls: Sequence[Call], again: int, known: str) -> list[Call]:
    """One batch; the calls that are left to be made after it."""
    needs = {id(call): sizes(call) for call in calls}
    affordable = [call for call in calls if not session.budget.refuses(*needs[id(call)])]
    reserved = {id(call): needs[id(call)] for call in affordable}
    replies: Mapping[str, Reply] = {}
    problem = ""
    try:
        replies = await _replies(session, wire, affordable, known) if affordable else {}
    except (Failed, Hopeless) as error:
        problem = str(error)
    except (LookupError, TypeError, AttributeError, ValueError):
        # An answer without what its protocol promises.
        problem = "the service's reply is not what its protocol says"
    left: list[Call] = []
    for call in calls:
        need, reply = reserved.get(id(call)), replies.get(name_of(call), NONE)
        if need is not None:
            session.book(call, need, reply)
        why = (
            ""
            if reply is not NONE
            else problem or ("the batch has no reply" if need else "the budget is spent")
        )
        left += session.take(call, reply, why, again)
    return left


def name_of(call: Call) -> str:
    """What a call is known by: the same for the same words."""
    return blake2b(f"{call.prompt} {call.body}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


async def _replies(session: Session, wire: Wire, calls: Sequence[Call], known: str) -> dict[str, Reply]:
    """The reply to each call that got one."""
    kind = _KINDS[session.service.provider.batches]
    number = known or await kind.send(session, wire, {name_of(call): call for call in calls})
    print(
        f"rankproof: batch {number}, {len(calls):,} calls; to go on with it later: batch={number}",
        file=sys.stderr,
    )
    state = await kind.look(wire, number)
    while kind.status(state) not in ENDED:
        await asyncio.sleep(session.limits.poll)
        state = await kind.look(wire, number)
    return dict(await kind.results(session, wire, state))


class _OpenAI:
    """Files of lines, one a call."""

    @staticmethod
    async def send(session: Session, wire: Wire, calls: Mapping[str, Call]) -> str:
        provider = session.service.provider
        lines = (
            {
                "custom_id": name,
                "method": "POST",
                "url": f"/v1{provider.path}",
                "body": provider.body(session.model, call, session.given),
            }
            for name, call in calls.items()
        )
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        sent = await wire.json(
            "POST",
            "/files",
            data={"purpose": "batch"},
            files={"file": ("calls.jsonl", content.encode("utf-8", "replace"), "application/jsonl")},
        )
        made = {
            "input_file_id": sent["id"],
            "endpoint": f"/v1{provider.path}",
            "completion_window": "24h",
        }
        return str((await wire.json("POST", "/batches", json=made))["id"])

    @staticmethod
    async def look(wire: Wire, number: str) -> Any:
        return await wire.json("GET", f"/batches/{number}")

    @staticmethod
    def status(state: Any) -> str:
        return str(state.get("status"))

    @staticmethod
    async def results(session: Session, wire: Wire, state: Any) -> list[tuple[str, Reply]]:
        name = state.get("output_file_id")
        lines = await wire.lines(f"/files/{name}/content") if name else []
        given = [(line.get("custom_id"), line.get("response")) for line in lines]
        return [
            (str(name), session.service.provider.reply(response.get("body")))
            for name, response in given
            if isinstance(response, Mapping) and response.get("status_code") == 200
        ]


class _Anthropic:
    """One list of requests."""

    PATH = "/v1/messages/batches"

    @classmethod
    async def send(cls, session: Session, wire: Wire, calls: Mapping[str, Call]) -> str:
        provider = session.service.provider
        made = [
            {"custom_id": name, "params": provider.body(session.model, call, session.given)}
            for name, call in calls.items()
        ]
        return str((await wire.json("POST", cls.PATH, json={"requests": made}))["id"])

    @classmethod
    async def look(cls, wire: Wire, number: str) -> Any:
        return await wire.json("GET", f"{cls.PATH}/{number}")

    @staticmethod
    def status(state: Any) -> str:
        return str(state.get("processing_status"))

    @classmethod
    async def results(cls, session: Session, wire: Wire, state: Any) -> list[tuple[str, Reply]]:
        lines = await wire.lines(f"{cls.PATH}/{state['id']}/results")
        given = [(line.get("custom_id"), line.get("result")) for line in lines]
        return [
            (str(name), session.service.provider.reply(result.get("message")))
            for name, result in given
            if isinstance(result, Mapping) and result.get("type") == "succeeded"
        ]


_KINDS: dict[str, Any] = {"openai": _OpenAI, "anthropic": _Anthropic}
