"""The fault suite: whatever a service does, no crash, no inflated score, the rest kept, and a clear line of what happened."""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rankproof
from rankproof.errors import UsageError
from rankproof.judging.models.calls import TRIOS as CANARY_TEXTS
from rankproof.judging.models.judge import ModelJudge, model_judge
from rankproof.judging.verdicts import Account, Ask, Relation, Unmeasured, Verdict

from .server import (
    Fault,
    Served,
    bomb,
    cut_chunk,
    drip,
    garbled,
    hang,
    huge,
    reset,
    serving,
    short,
    status,
    texts_of,
    truth,
    vanish,
    wire,
)

KEY = "sk-very-secret-key-1234567890"
QUESTION = "Where is it?"
CHUNKS = ["The ANSWER is here. It is blue.", "Nothing of use. At all.", "NOT it is red. Another ANSWER too."]
ASKS = [
    *(Ask(Relation.CONTEXT_ANSWERS, QUESTION, chunk) for chunk in CHUNKS),
    *(Ask(Relation.TEXT_SUPPORTS, claim, chunk) for claim in ("It is blue.", "it is red") for chunk in CHUNKS),
    *(
        Ask(Relation.STATEMENT_BEARS, QUESTION, part)
        for part in ("The ANSWER is here.", "It is blue.", "Nothing of use.", "At all.")
    ),
    Ask(Relation.ANSWER_ADDRESSES, QUESTION, "It is blue."),
]
LIMITS: dict[str, Any] = {"timeout": 5.0, "tries": 2, "pause": 0.01, "concurrency": 4}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


@pytest.fixture(autouse=True)
def _fresh(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.faults, server.calls, server.keys, server.delay = [], [], [], 0.0
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def judge_at(server: Served, spec: str = "openai:scripted", **options: Any) -> ModelJudge:
    return model_judge(spec, base_url=server.url, **{**LIMITS, **options})


def settled(judge: ModelJudge, groups: list[list[Ask]] | None = None) -> tuple[dict[Ask, Any], Account]:
    """What reached `keep`, each pair once."""
    kept: list[Verdict | Unmeasured] = []
    account = judge.judge([ASKS] if groups is None else groups, kept.extend)
    found = {each.ask: each for each in kept}
    assert len(found) == len(kept), "a pair was settled twice"
    return found, account


def right(each: Verdict | Unmeasured) -> bool:
    return isinstance(each, Verdict) and each.value == truth(each.ask.relation, each.ask.left, each.ask.right)


# --- what the model says -------------------------------------------------------------------------------


def said(change: Callable[[dict[str, Any]], object]) -> Fault:
    """The honest reply with something done to it."""

    def bend(reply: dict[str, Any]) -> Any:
        changed = change(reply)
        return reply if changed is None else changed

    return Fault(bend=bend)


def first_r(reply: dict[str, Any], value: Any) -> None:
    if "R" in reply:
        reply["R"]["q1"]["t1"] = value


def drop(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(reply: dict[str, Any]) -> None:
        for name in path[:-1]:
            reply = reply.get(name, {})
        reply.pop(path[-1], None)

    return change


def quoting(pair: str, quote: str) -> Callable[[dict[str, Any]], None]:
    def change(reply: dict[str, Any]) -> None:
        for each in reply.get("quotes", ()):
            if each["pair"] == pair:
                each["quote"] = quote

    return change


def obedient(reply: dict[str, Any]) -> None:
    """A model that does what a text tells it to."""
    for left in reply.get("R", {}).values():
        for text in left:
            left[text] = 3


def TEXT(reply: Any) -> str:
    """The reply as it is written."""
    return json.dumps(wire(reply))


def items(change: Callable[[list[Any]], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The reply with something done to its list of verdicts."""

    def bend(reply: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = wire(reply)
        return {"verdicts": change(found["verdicts"])} if "verdicts" in found else found

    return bend


ALL = len(ASKS)
SHOWN = sum(truth(a.relation, a.left, a.right) in {"R": (2, 3), "S": (1, -1)}.get(a.relation, ()) for a in ASKS)
"""Pairs whose honest value must be shown by a quote."""


def in_text(old: str, new: str) -> Callable[[dict[str, Any]], str]:
    """The reply as text, with something else in it."""

    def change(reply: dict[str, Any]) -> str:
        assert "R" not in reply or old in TEXT(reply)
        return TEXT(reply).replace(old, new, 1)

    return change


SAID: dict[str, tuple[Fault, int]] = {
    "an item missing": (said(drop("R", "q1", "t1")), 1),
    "a left id missing": (said(drop("S", "c1")), 3),
    "a relation missing": (said(drop("Q")), 4),
    "everything missing": (said(lambda reply: {}), ALL),
    "a null": (said(lambda reply: first_r(reply, None)), 1),
    "a grade out of range": (said(lambda reply: first_r(reply, 7)), 1),
    "a negative grade": (said(lambda reply: first_r(reply, -1)), 1),
    "a grade as text": (said(lambda reply: first_r(reply, "3")), 1),
    "a grade as a fraction": (said(lambda reply: first_r(reply, 2.5)), 1),
    "a grade as a whole fraction": (said(lambda reply: first_r(reply, 3.0)), 1),
    "a grade as true": (said(lambda reply: first_r(reply, True)), 1),
    "a grade as a list": (said(lambda reply: first_r(reply, [3])), 1),
    "a grade as an object": (said(lambda reply: first_r(reply, {"grade": 3})), 1),
    "a grade that is not a number": (said(in_text('"value": 3', '"value": NaN')), 1),
    "a grade without end": (said(in_text('"value": 3', '"value": 1e999')), 1),
    "a grade of many digits": (said(in_text('"value": 3', f'"value": {"9" * 5000}')), ALL),
    "a relation that is a list": (said(lambda reply: {**reply, "S": [1, 0, 1]}), 6),
    "a pair given twice, differently": (said(items(lambda given: [{**given[0], "value": 0}, *given])), 1),
    "a pair given twice, of other types": (
        said(items(lambda given: [{**given[0], "value": 3.0}, *given])),
        1,
    ),
    "a value given twice, differently": (said(in_text('"value": 3', '"value": 0, "value": 3')), 1),
    "a pair with two names": (said(in_text('"pair": "R q1 t1"', '"pair": "R q1 t1", "pair": "R q1 t2"')), 1),
    "two lists of verdicts": (said(in_text('{"verdicts"', '{"verdicts": [], "verdicts"')), ALL),
    "verdicts that are no list": (said(items(lambda given: {each["pair"]: each for each in given})), ALL),
    "an item that is no object": (said(items(lambda given: ["R q1 t1 3", *given[1:]])), 1),
    "a pair in parts": (said(items(lambda given: [{**given[0], "pair": ["R", "q1", "t1"]}, *given[1:]])), 1),
    "a pair without its relation": (
        said(items(lambda given: [{**given[0], "pair": "q1 t1"}, *given[1:]])),
        1,
    ),
    "a name without a value": (said(items(lambda given: [{"pair": given[0]["pair"]}, *given[1:]])), 1),
    "truncated JSON": (said(lambda reply: TEXT(reply)[: len(TEXT(reply)) // 2]), ALL),
    "a comma too many": (said(lambda reply: TEXT(reply)[:-1] + ",}"), ALL),
    "a remark in JSON": (said(in_text('"verdicts"', '/* the grades */ "verdicts"')), ALL),
    "single quotation marks": (said(lambda reply: TEXT(reply).replace('"', "'")), ALL),
    "prose in the place of JSON": (said(lambda reply: "I think that all of these texts are very good."), ALL),
    "another language": (said(lambda reply: "Alle Texte beantworten die Frage vollständig."), ALL),
    "an empty reply": (said(lambda reply: ""), ALL),
    "white space": (said(lambda reply: "\n  \n"), ALL),
    "an array": (said(lambda reply: json.dumps(next(iter(wire(reply).values())))), ALL),
    "JSON within a text of JSON": (said(lambda reply: json.dumps(TEXT(reply))), ALL),
    "other ids": (said(lambda reply: TEXT(reply).replace(" q1 ", " Q1 ")), 8),
    "a quote that is not in the text": (said(quoting("R q1 t1", "words of my own")), 1),
    "a quote of another text": (said(quoting("S c1 t1", "Nothing of use")), 1),
    "a quote of half a character": (said(quoting("R q1 t1", "\ud83d")), 1),
    "an empty quote": (said(quoting("R q1 t1", " ")), 1),
    "no quotes": (said(lambda reply: {**reply, "quotes": []}), SHOWN),
    "quotes of another shape": (
        said(items(lambda given: [{**each, "quote": [each["quote"]]} for each in given])),
        SHOWN,
    ),
    "instructions in a text obeyed": (said(obedient), ALL),
    "a very deep object": (said(lambda reply: '{"verdicts":' * 3000), ALL),
}
HARMLESS = {
    "extra ids": said(lambda reply: {**reply, "R": {**reply["R"], "q9": {"t1": 3}}, "Z": {"q1": {"t1": 1}}}),
    "an id given twice, alike": said(items(lambda given: [given[0], *given])),
    "prose around JSON": said(lambda reply: f"Sure! Here it is: {TEXT(reply)} I hope {{this}} helps."),
    "a code fence": said(lambda reply: f"```json\n{TEXT(reply)}\n```"),
    "an object before it": said(lambda reply: f'{{"note": "thinking"}} {TEXT(reply)}'),
    "a draft before it": said(lambda reply: f"<think>{TEXT(reply).replace(': 0', ': 3')}</think> {TEXT(reply)}"),
    "an object around it": said(lambda reply: f'{{"result": {TEXT(reply)}}}'),
    "a byte order mark": said(lambda reply: f"\ufeff{TEXT(reply)}"),
    "ids in escapes": said(lambda reply: TEXT(reply).replace(" q1 ", " \\u0071\\u0031 ")),
    "a quote with other white space": said(quoting("R q1 t1", "The  ANSWER\nis")),
    "a quote with the mark of a statement": said(quoting("R q1 t1", "<s1>The ANSWER is")),
    "a quote with all marks": said(quoting("R q1 t1", "<s1>The ANSWER is here.</s1> <s2>It")),
    "other signs between ids": said(lambda reply: TEXT(reply).replace("R q1 t1", "R: q1, t1")),
    "the list as text": said(items(json.dumps)),
    "the last first": said(items(lambda given: given[::-1])),
    "a draft of many items before it": said(
        lambda reply: f"{TEXT(items(lambda given: given[:1] * 300)(reply))} {TEXT(reply)}"
    ),
}


@pytest.mark.parametrize("spec", ["openai:scripted", "anthropic:scripted"])
def test_a_good_service_settles_everything_in_one_call(server: Served, spec: str) -> None:
    found, account = settled(judge_at(server, spec))
    assert set(found) == set(ASKS)
    assert all(map(right, found.values()))
    assert (account.calls, account.prompt_tokens, account.reply_tokens) == (1, 100, 10)
    assert server.keys == [KEY if spec.startswith("anthropic") else f"Bearer {KEY}"]
    quoted = [each for each in found.values() if each.quote]
    assert len(quoted) == sum(
        truth(a.relation, a.left, a.right) in {"R": (2, 3), "S": (1, -1)}.get(a.relation, ()) for a in ASKS
    )
    assert all(each.quote in each.ask.right for each in quoted)


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", SAID)
def test_exactly_what_a_reply_leaves_open_is_asked_again(server: Served, name: str) -> None:
    fault, lost = SAID[name]
    server.faults = [Fault(fault.bend, times=1)]
    kept: list[list[Verdict | Unmeasured]] = []
    judge_at(server).judge([ASKS], lambda given: kept.append(list(given)))
    assert [len(given) for given in kept] == [ALL - lost, lost]
    assert all(right(each) for given in kept for each in given)
    first, second = (pairs(body) - CANARIES for body in server.bodies())
    assert first == set(map(tuple, ASKS))
    assert second == {tuple(each.ask) for each in kept[1]}


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", SAID)
def test_what_stays_wrong_stays_unmeasured_and_says_why(server: Served, name: str) -> None:
    fault, lost = SAID[name]
    server.faults = [Fault(fault.bend, times=1), Fault(envelope=lambda reply: {}, times=99)]
    found, account = settled(judge_at(server))
    assert set(found) == set(ASKS)
    gone = [each for each in found.values() if isinstance(each, Unmeasured)]
    assert len(gone) == lost
    assert all(each.reason for each in gone)
    assert all(right(each) for each in found.values() if isinstance(each, Verdict))
    told = {problem: times for problem, times in account.problems.items() if "unmeasured" in problem}
    assert told == {"unmeasured: the service's reply is not what its protocol says": lost}


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", SAID)
def test_what_is_wrong_every_time_is_unmeasured(server: Served, name: str) -> None:
    server.faults = [Fault(SAID[name][0].bend, times=99)]
    found, account = settled(judge_at(server))
    gone = [each for each in found.values() if isinstance(each, Unmeasured)]
    assert gone
    assert all(right(each) for each in found.values() if isinstance(each, Verdict))
    assert sum(times for problem, times in account.problems.items() if "unmeasured" in problem) == len(gone)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_is_read(server: Served, name: str) -> None:
    server.faults = [Fault(HARMLESS[name].bend, times=99)]
    found, account = settled(judge_at(server))
    assert all(map(right, found.values()))
    assert account.calls == 1


CANARIES = {
    (relation, texts[0] if relation == Relation.TEXT_SUPPORTS else question, text)
    for question, *texts in CANARY_TEXTS
    for relation in "RSQA"
    for text in texts
}


def pairs(body: dict[str, Any]) -> set[tuple[str, str, str]]:
    """The pairs of a call."""
    lefts = {**body.get("questions", {}), **body.get("claims", {})}
    rights = texts_of(body)
    found = set()
    for relation, groups in body["pairs"].items():
        for names, ids in groups.items():
            for left in names.split():
                for right_id in ids.split():
                    found.add((relation, lefts[left], rights[right_id]))
    return found


# --- the protocol --------------------------------------------------------------------------------------


def envelope(change: Callable[[dict[str, Any]], Any]) -> Fault:
    return Fault(envelope=change)


def with_choice(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(reply: dict[str, Any]) -> dict[str, Any]:
        choice = {**reply["choices"][0], **changes}
        return {**reply, "choices": [choice]}

    return change


def with_message(**message: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return with_choice(message={"role": "assistant", **message})


def in_parts(reply: dict[str, Any]) -> dict[str, Any]:
    """As services do that think aloud."""
    content = reply["choices"][0]["message"]["content"]
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    return with_message(content=[thought, {"type": "text", "text": content}])(reply)


ENVELOPES = {
    "a refusal": with_message(content=None, refusal="I cannot help with that."),
    "a content filter": with_choice(finish_reason="content_filter"),
    "a reply cut off": with_choice(finish_reason="length"),
    "no content": with_message(content=None),
    "content as a number": with_message(content=3),
    "content as a list of texts": with_message(content=["R", "S"]),
    "content as pictures": with_message(content=[{"type": "image"}]),
    "a call of a tool": with_message(content=None, tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]),
    "no message": with_choice(message=None),
    "no choices": lambda reply: {**reply, "choices": []},
    "choices by name": lambda reply: {**reply, "choices": {"first": reply["choices"][0]}},
    "an error as a success": lambda reply: {"error": {"message": "oops"}},
    "HTML as a success": lambda reply: "<html><body>Welcome to the proxy</body></html>",
    "half a JSON as a success": lambda reply: json.dumps(reply)[:40],
    "nothing as a success": lambda reply: "",
    "null as a success": lambda reply: "null",
    "a list as a success": lambda reply: [reply],
}


def as_tool_call(reply: dict[str, Any]) -> dict[str, Any]:
    """As proxies do that turn a schema into a tool."""
    call = {"type": "function", "function": {"name": "reply", "arguments": reply["choices"][0]["message"]["content"]}}
    return with_message(content=None, tool_calls=[call])(reply)


def in_parts_of(make: Callable[[str], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(reply: dict[str, Any]) -> dict[str, Any]:
        content = reply["choices"][0]["message"]["content"]
        return with_message(content=[make(content[:9]), make(content[9:])])(reply)

    return change


FINE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a tool call": as_tool_call,
    "parts that are texts": in_parts_of(str),
    "parts without a type": in_parts_of(lambda text: {"text": text}),
    "parts of an output": in_parts_of(lambda text: {"type": "output_text", "text": text}),
    "content in parts": in_parts,
    "no usage": lambda reply: {**reply, "usage": None},
    "tokens below zero": lambda reply: {**reply, "usage": {"prompt_tokens": -5, "completion_tokens": 10}},
    "a byte order mark": lambda reply: f"\ufeff{json.dumps(reply)}",
}


@pytest.mark.parametrize("name", FINE)
def test_other_forms_of_the_protocol_are_read(server: Served, name: str) -> None:
    server.faults = [Fault(envelope=FINE[name])]
    found, account = settled(judge_at(server))
    assert all(map(right, found.values()))
    assert account.calls == 1
    assert account.prompt_tokens >= 0


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", ENVELOPES)
@pytest.mark.parametrize("always", [False, True])
def test_a_reply_that_is_none_is_asked_again(server: Served, name: str, always: bool) -> None:
    server.faults = [Fault(envelope=ENVELOPES[name], times=99 if always else 1)]
    found, _ = settled(judge_at(server))
    assert set(found) == set(ASKS)
    if always:
        assert all(isinstance(each, Unmeasured) and each.reason for each in found.values())
    else:
        assert all(map(right, found.values()))


def test_what_calls_took_is_told_whatever_the_service_tells(server: Served) -> None:
    """Tokens of a reply that cannot be read were paid for, and calls took place though no token is told."""
    for change in (ENVELOPES["no choices"], FINE["no usage"]):
        server.calls.clear()
        server.faults = [Fault(envelope=change, times=99)]
        scores = rankproof.judge([ROW], "context_precision", judge="openai:scripted", base_url=server.url, **LIMITS)
        number = len(server.calls)
        tokens = f"{100 * number} + {10 * number} tokens" if change is ENVELOPES["no choices"] else "no tokens told"
        said = f"It took {number} call{'s' if number > 1 else ''}, {tokens}"
        assert said in " ".join(scores.format("full").split())


# --- the wire ------------------------------------------------------------------------------------------

PASSING = {
    **{f"HTTP {code}": status(code, "busy") for code in (408, 409, 425, 429, 500, 502, 503, 504, 521, 529)},
    "HTTP 429 with Retry-After": status(429, "slow down", Retry_After="0.05"),
    "HTTP 503 with Retry-After as a date": status(503, "", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "HTTP 429 with a nonsense Retry-After": status(429, "", Retry_After="soon"),
    "a slow drip": drip,
    "a hang": hang,
    "a reset in the middle": reset,
    "a connection closed at once": vanish,
    "a huge reply": huge,
    "a reply that is not what it says": garbled,
    "a chunk that is cut": cut_chunk,
    "a length that is never reached": short,
    "a small reply that unpacks to a huge one": bomb,
}
WAITED_FOR = {"a slow drip", "a hang"}
"""Those that end when the time is over."""
FINAL = {
    "HTTP 204": status(204),
    "HTTP 402": status(402, "no credit"),
    "HTTP 429 as the account is empty": status(429, '{"error": {"code": "insufficient_quota"}}'),
    "HTTP 400": status(400, '{"error": {"message": "bad"}}'),
    "HTTP 401": status(401, f"the key {KEY} is wrong"),
    "HTTP 403": status(403),
    "HTTP 404": status(404, "no such model"),
    "HTTP 405": status(405),
    "HTTP 413": status(413),
    "HTTP 302": status(302, "", Location="http://127.0.0.1:9/elsewhere"),
}


@pytest.mark.parametrize("tries", [1, 3])
def test_only_what_is_sent_again_counts_as_tried_again(server: Served, tries: int) -> None:
    server.faults = [Fault(answer=status(500))]
    _, account = settled(judge_at(server, tries=tries))
    told = sum(times for problem, times in account.problems.items() if problem.endswith("tried again"))
    assert told == len(server.calls) * (tries - 1) // tries


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again(server: Served, name: str) -> None:
    server.faults = [Fault(answer=PASSING[name], times=1)]
    found, account = settled(judge_at(server, timeout=0.4 if name in WAITED_FOR else 5.0))
    assert all(map(right, found.values()))
    assert len(server.calls) == 2
    assert any(problem.endswith("tried again") for problem in account.problems)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PASSING, *FINAL])
def test_what_does_not_pass_leaves_pairs_unmeasured(server: Served, name: str) -> None:
    answer = {**PASSING, **FINAL}[name]
    server.faults = [Fault(answer=answer, times=99)]
    found, account = settled(judge_at(server, timeout=0.4 if name in WAITED_FOR else 5.0))
    assert set(found) == set(ASKS)
    assert all(isinstance(each, Unmeasured) and each.reason for each in found.values())
    assert KEY not in repr((found, account, judge_at(server)))


@pytest.mark.parametrize(
    "name", [*(f"HTTP {code}" for code in (401, 402, 403, 404, 405)), "HTTP 429 as the account is empty"]
)
def test_where_nothing_can_succeed_nothing_more_is_sent(server: Served, name: str) -> None:
    server.faults = [Fault(answer=FINAL[name], times=999)]
    groups = [[Ask(Relation.CONTEXT_ANSWERS, QUESTION, f"text {n}")] for n in range(200)]
    found, account = settled(judge_at(server), groups)
    assert len(found) == 200
    assert len(server.calls) <= 3 * LIMITS["concurrency"]  # those under way when it became known
    assert any(f"(HTTP {name.split()[1]})" in problem for problem in account.problems)


def test_some_samples_failing_costs_the_others_nothing(server: Served) -> None:
    server.faults = [Fault(answer=status(413), times=3)]
    groups = [[Ask(Relation.CONTEXT_ANSWERS, QUESTION, f"text {n} ANSWER")] for n in range(20)]
    found, _ = settled(judge_at(server), groups)
    assert sum(isinstance(each, Unmeasured) for each in found.values()) == 3
    assert sum(map(right, found.values())) == 17


def test_what_a_service_does_not_know_is_left_out(server: Served) -> None:
    """Many services that speak the protocol know no response_format."""
    server.faults = [Fault(answer=status(400, '{"error": {"message": "unknown field response_format"}}'), times=1)]
    found, _ = settled(judge_at(server))
    assert all(map(right, found.values()))
    assert ["response_format" in call for call in server.calls] == [True, False]


def test_an_address_where_nobody_is(server: Served) -> None:
    """One call is tried as often as is allowed; the others are not, as nobody ever answered."""
    groups = [[Ask(Relation.CONTEXT_ANSWERS, QUESTION, f"text {n}")] for n in range(500)]
    nobody = model_judge("openai:m", base_url="http://127.0.0.1:9/v1", **{**LIMITS, "pause": 0.05})
    found, account = settled(nobody, groups)
    assert all(isinstance(each, Unmeasured) for each in found.values())
    told = "unmeasured: the connection failed (ConnectError), and no call was ever answered"
    assert account.problems[told] == 500
    assert account.calls <= LIMITS["concurrency"]  # those under way at the first


def test_a_server_without_tls_where_tls_was_expected(server: Served) -> None:
    found, account = settled(model_judge("openai:m", base_url=server.url.replace("http", "https"), **LIMITS))
    assert all(isinstance(each, Unmeasured) for each in found.values())
    assert any("connection failed" in problem for problem in account.problems)


@pytest.mark.slow
def test_a_server_whose_certificate_nobody_signed(server: Served, tmp_path: Path) -> None:
    name, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    try:
        subprocess.run([*words.split(), "-out", name, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl here to make a certificate")
    with serving((str(name), str(key))) as secret:
        found, account = settled(model_judge("openai:m", base_url=secret.url, **LIMITS))
    assert all(isinstance(each, Unmeasured) for each in found.values())
    assert secret.keys == []
    assert any("connection failed" in problem for problem in account.problems)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_key_is_not_sent_to_where_a_service_points(server: Served, code: int) -> None:
    with serving() as other:
        server.faults = [Fault(answer=status(code, "", Location=f"{other.url}/chat/completions"), times=99)]
        found, _ = settled(judge_at(server))
        assert (other.calls, other.keys, len(server.calls)) == ([], [], 1)
    moved = f"the service moved to {other.url} (HTTP {code}): give base_url= that"
    assert {each.reason for each in found.values()} == {moved}


def test_where_a_service_moved_to_is_told_without_a_key(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    there = f"https://me:{KEY}@elsewhere.example/{KEY}/v1/chat/completions?key={KEY}"
    server.faults = [Fault(answer=status(308, "", Location=there), times=99)]
    reasons = str(settled(judge_at(server))[0])
    assert "elsewhere.example" in reasons
    assert KEY not in reasons


def test_google_says_in_the_body_how_long_to_wait_and_why(server: Served) -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.4s"}
    busy = json.dumps([{"error": {"code": 429, "message": "Resource exhausted", "details": [delay]}}])
    server.faults = [Fault(answer=status(429, busy))]
    begun = time.monotonic()
    found, _ = settled(judge_at(server))
    assert time.monotonic() - begun > 0.4
    assert all(isinstance(each, Verdict) for each in found.values())
    wrong = json.dumps([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}])
    server.faults = [Fault(answer=status(400, wrong), times=99)]
    found, _ = settled(judge_at(server))
    assert {each.reason for each in found.values()} == {"the service refused the call: API key not valid. (HTTP 400)"}


@pytest.mark.parametrize("body", ["OK", '{"status": "up"}'])
def test_replies_that_follow_no_protocol_end_the_run_early(server: Served, body: str) -> None:
    server.faults = [Fault(answer=status(200, body), times=999)]
    found, _ = settled(judge_at(server, concurrency=1), [[ask] for ask in ASKS])
    assert len(server.calls) == 5
    said = "the service's reply is not what its protocol says"
    assert {each.reason for each in found.values()} <= {said, f"{said}: OK"}
    server.calls, server.faults = [], [Fault(answer=status(200, body), times=3)]  # a service that is only starting
    found, _ = settled(judge_at(server, concurrency=1), [[ask] for ask in ASKS])
    assert len([each for each in found.values() if isinstance(each, Verdict)]) >= ALL - 2


def test_a_web_page_is_an_address_that_never_answers(server: Served) -> None:
    page = status(200, "\n<!doctype html><title>Log in</title>", Content_Type="text/html")
    server.faults = [Fault(answer=page, times=99)]
    found, _ = settled(judge_at(server), [[ask] for ask in ASKS])
    assert len(server.calls) == LIMITS["tries"]
    assert all("a web page" in each.reason and "base_url= (many end" in each.reason for each in found.values())
    server.faults = [Fault(answer=page)]
    found, _ = settled(judge_at(server))
    assert all(map(right, found.values()))


def test_an_error_that_comes_as_success_is_one(server: Served) -> None:
    server.faults = [Fault(answer=status(200, '{"error": {"code": 429, "message": "Provider is busy"}}'))]
    found, account = settled(judge_at(server))
    assert all(isinstance(each, Verdict) for each in found.values())
    assert account.problems == {"the service answered HTTP 429, tried again": 1}
    server.faults = [Fault(answer=status(200, '{"error": {"message": "No credit left", "code": 402}}'), times=99)]
    found, _ = settled(judge_at(server))
    assert {each.reason for each in found.values()} == {"the account has no credit (HTTP 402)"}


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("HTTP_PROXY", "socks://me:s3cret@box:1080", "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY: got a proxy"),
        ("HTTP_PROXY", "http://127.0.0.1:70000", "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY: got a proxy"),
        ("HTTP_PROXY", "me:s3cret@127.0.0.1:70000", "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY: got a proxy"),
        ("SSL_CERT_FILE", "/no/such/file.pem", "SSL_CERT_FILE, SSL_CERT_DIR: No such file"),
    ],
)
def test_an_environment_that_allows_no_call_is_said(
    server: Served, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.delenv(variable.lower(), raising=False)
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=words) as raised:
        settled(judge_at(server))
    assert "s3cret" not in str(raised.value)


# --- scores --------------------------------------------------------------------------------------------

ROW = {
    "id": "s1",
    "query": QUESTION,
    "contexts": CHUNKS,
    "reference": "It is blue. It is far away.",
    "answer": "It is blue. It is red.",
}
METRICS = "context_precision, context_recall, context_relevance, faithfulness, answer_relevance, hallucination_rate"


@pytest.fixture(scope="module")
def honest() -> dict[str, float]:
    with serving() as good:
        return dict(rankproof.judge([ROW], METRICS, judge="openai:scripted", base_url=good.url, **LIMITS))


EVERYTHING: dict[str, Fault] = {
    **{f"says {name}": fault for name, (fault, _) in SAID.items()},
    **{f"sends {name}": Fault(envelope=change) for name, change in ENVELOPES.items()},
    **{name: Fault(answer=answer) for name, answer in FINAL.items()},
}


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("name", EVERYTHING)
def test_no_fault_makes_a_score_better(server: Served, name: str, honest: dict[str, float]) -> None:
    """Every number is the honest one or none, and what is possible holds the honest one; the summary says why."""
    fault = EVERYTHING[name]
    server.faults = [Fault(fault.bend, fault.answer, fault.envelope, times=999)]
    scores = rankproof.judge([ROW], METRICS, judge="openai:scripted", base_url=server.url, **LIMITS)
    for metric, value in scores.items():
        low, high = scores.bounds(metric)
        assert math.isnan(value) or value == pytest.approx(honest[metric])
        assert low - 1e-9 <= honest[metric] <= high + 1e-9
    assert scores.account.problems
    assert KEY not in str(scores) + repr(scores.to_dict())
    assert "went wrong" in " ".join(scores.format("full").split()).lower()
