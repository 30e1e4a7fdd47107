"""An HTTP endpoint described in TOML is a retriever; a server that misbehaves costs its question at most."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankproof import Benchmark
from rankproof.bench.adapters import adapt
from rankproof.errors import UsageError

QUESTIONS = {"q1": "refund days", "q2": "opening hours", "q3": "reset password"}
RELEVANT = {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}
Endpoint = Callable[..., str]


def run(path: str, **options: Any) -> Any:
    return Benchmark(QUESTIONS, RELEVANT).run("http", path, k=5, **{"concurrency": 1, "backoff": 0.01, **options})


def test_an_endpoint_is_asked_and_its_answer_read(server: Any, endpoint: Endpoint) -> None:
    made = run(endpoint())
    assert made.ranking == {"q1": {"d1": 2.0}, "q2": {"d2": 2.0}, "q3": {"d3": 2.0}}
    assert server.seen[0]["body"] == {"query": "refund days", "size": 5}
    assert made.scores["RR@5"] == 1.0


def test_a_question_can_go_into_the_url_with_every_character(server: Any, tmp_path: Path) -> None:
    path = tmp_path / "get.toml"
    path.write_text(f'url = "{server.url}/sök?q={{question}}&n={{k}}"\nanswer.ids = "hits.hits[*]._id"\n')
    adapt(str(path)).search(['50 % & "more" {k} ünï'], 5)
    assert server.seen[0]["question"] == '50 % & "more" {k} ünï'
    path.write_text(f'url = "{server.url}/s"\nparams.q = "{{question}}"\nanswer.ids = "$.hits.hits[]._id"\n')
    assert adapt(str(path)).search(["refund? & days"], 5) == [[("d1", 1.0)]]
    assert server.seen[1]["question"] == "refund? & days"


def test_a_body_can_be_a_text_of_json(server: Any, tmp_path: Path) -> None:
    path = tmp_path / "text.toml"
    path.write_text(
        f'url = "{server.url}/s"\nbody = \'{{"query": "{{question}}", "size": {{k}}}}\'\n'
        'answer.ids = "hits.hits[*]._id"\n'
    )
    adapt(str(path)).search(['say "hi"\n'], 5)
    assert server.seen[0]["body"] == {"query": 'say "hi"\n', "size": 5}


def test_documents_without_ids_are_known_by_their_texts(server: Any, tmp_path: Path) -> None:
    path = tmp_path / "texts.toml"
    path.write_text(f'url = "{server.url}/s"\nbody.query = "{{question}}"\nanswer.texts = "hits.hits[*].text"\n')
    corpus = {"page-1": "refund within thirty days", "page-2": "opening hours on sunday", "page-3": "other"}
    made = Benchmark(QUESTIONS, {"q1": ["page-1"], "q2": ["page-2"], "q3": ["page-3"]}, corpus).run("texts", str(path))
    assert made.ranking["q1"] == {"page-1": 1.0}
    assert "a document without an id" in made.failures["q3"]


def cut_off(handler: Any, content: str) -> bool:
    """Promise more than is sent, then hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) + 1000))
    handler.end_headers()
    handler.wfile.write(content.encode())
    handler.wfile.flush()
    handler.connection.shutdown(2)
    handler.close_connection = True
    return True


@pytest.mark.parametrize(
    "fault",
    [
        lambda h: h.send(500, "oops"),
        lambda h: h.send(429, "slow down", Retry_After="0.05"),
        lambda h: h.send(200, "<html>busy</html>", "text/html"),
        lambda h: h.send(200, '{"hits": {"hits": [{"_id": "d1"'),
        lambda h: cut_off(h, '{"hits": {"hits": ['),
        lambda h: h.connection.shutdown(2) or setattr(h, "close_connection", True) or True,
    ],
    ids=["500", "429", "html", "half a json", "cut off", "hang up"],
)
def test_a_fault_that_passes_is_asked_again(server: Any, endpoint: Endpoint, fault: Any) -> None:
    server.faults = [fault]
    made = run(endpoint())
    assert made.failures == {}
    assert made.scores["RR@5"] == 1.0


@pytest.mark.parametrize(
    ("fault", "reason", "requests"),
    [
        (lambda h: h.send(500, "no disk left"), "HTTP 500: 'no disk left'", 3),
        (lambda h: h.send(429, ""), "HTTP 429", 3),
        (lambda h: h.send(429, "", Retry_After="3600"), "HTTP 429", 1),
        (lambda h: h.send(404, "nothing here"), "HTTP 404: 'nothing here'", 1),
        (lambda h: h.send(401, "who are you"), "HTTP 401", 1),
        (lambda h: h.send(301, "", Location="http://elsewhere/"), "moved to http://elsewhere/", 1),
        (
            lambda h: h.send(200, "<html>hello</html>", "text/html"),
            "text/html: no whole JSON: '<html>hello",
            3,
        ),
        (lambda h: h.send(200, '{"hits": {"hits": ['), "no whole JSON", 3),
        (lambda h: cut_off(h, "{}"), "the answer ended after 2 bytes, not whole", 3),
        (
            lambda h: h.send(200, '{"error": "index closed"}'),
            "there is no 'hits' in {'error': 'index closed'}",
            1,
        ),
        (lambda h: h.send(200, '{"hits": {"hits": null}}'), "expected a list at hits.hits[*]._id", 1),
        (lambda h: h.send(200, '{"hits": {"hits": [{"_id": "d1"}]}}'), "there is no '_score'", 1),
        (
            lambda h: h.send(200, '{"hits": {"hits": [{"_id": "d1", "_score": NaN}]}}'),
            "got NaN as a score",
            1,
        ),
        (
            lambda h: h.send(200, '{"hits": {"hits": [{"_id": null, "_score": 1}]}}'),
            "a document without an id",
            1,
        ),
    ],
)
def test_a_fault_that_stays_is_a_failure_of_its_question_only(
    server: Any, endpoint: Endpoint, fault: Any, reason: str, requests: int
) -> None:
    server.faults = [fault] * requests
    made = run(endpoint())
    assert list(made.failures) == ["q1"]
    assert reason in made.failures["q1"]
    assert len(server.seen) == requests + 2
    assert made.ranking == {"q1": {}, "q2": {"d2": 2.0}, "q3": {"d3": 2.0}}
    assert made.scores["RR@5"] == pytest.approx(2 / 3)


def test_everybody_waits_as_long_as_the_server_asks_for(server: Any, endpoint: Endpoint) -> None:
    server.faults = [lambda h: h.send(429, "", Retry_After="0.4")]
    assert run(endpoint()).failures == {}
    first, second, *_ = server.arrivals
    assert 0.4 <= second - first < 20


def test_a_server_that_hangs_fails_in_time(server: Any, endpoint: Endpoint) -> None:
    waited, ended = [], threading.Event()

    def hang(handler: Any) -> bool:
        waited.append(ended.wait(60))
        return handler.send(200, "{}")  # type: ignore[no-any-return]

    server.faults = [hang]
    made = run(endpoint(limits="retries = 0\ntimeout = 0.5"))
    assert not waited, "nobody waited until the server answered"
    ended.set()
    assert list(made.failures) == ["q1"]
    assert "time" in made.failures["q1"] or "within" in made.failures["q1"]
    assert made.latency[-1].value > 0.4, "what was waited for counts in latencies"


def test_a_gateway_that_waited_in_vain_makes_a_system_slow(server: Any, endpoint: Endpoint) -> None:
    server.faults = [lambda h: time.sleep(0.3) or h.send(504, "")]
    made = run(endpoint(limits="retries = 0"))
    assert [row.late for row in made.rows] == [True, False, False]
    assert made.latency[-1].value > 0.2


def test_nobody_there_is_said(endpoint: Endpoint, server: Any) -> None:
    path = endpoint()
    server.shutdown()
    server.server_close()
    made = run(path, retries=0)
    assert set(made.failures) == set(QUESTIONS)
    assert "refused" in made.failures["q1"].lower()
    assert "Every question failed" in str(made)


def test_a_connection_that_the_server_closed_between_two_questions_is_opened_again(
    server: Any, endpoint: Endpoint
) -> None:
    def close_after(handler: Any) -> bool:
        handler.close_connection = True
        return False

    server.faults = [close_after, close_after, close_after]
    assert run(endpoint(), retries=0).failures == {}


def test_secrets_come_from_the_environment_and_are_never_shown(
    server: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s3cr3t-value")
    path = endpoint('headers = { Authorization = "Bearer ${SEARCH_KEY}" }')
    server.faults = [lambda h: h.send(401, "bad key s3cr3t-value")]
    made = run(path)
    assert server.seen[0]["headers"]["Authorization"] == "Bearer s3cr3t-value"
    assert "${SEARCH_KEY}" in made.failures["q1"]
    assert "s3cr3t" not in str(made) + repr(made) + str(made.to_dict()) + repr(adapt(path))
    monkeypatch.delenv("SEARCH_KEY")
    with pytest.raises(UsageError, match="the environment has no SEARCH_KEY"):
        adapt(path)


@pytest.mark.parametrize("secret", ['s3"cr\\et', "pa ss/w&rd", "ümlaut+key=", "s3cr3t" * 10])
@pytest.mark.parametrize("place", ["headers", "params", "body"])
def test_secrets_are_never_shown_however_they_come_back(
    server: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, secret: str, place: str
) -> None:
    def repeat(handler: Any) -> bool:
        said = {"path": handler.path, **server.seen[-1]}
        return bool(handler.send(401, "." * 170 + json.dumps({"echo": str(said), "key": secret})))

    monkeypatch.setenv("SEARCH_KEY", secret)
    described = Path(endpoint())
    text = described.read_text()
    if place == "body":
        text = text.replace('query = "{question}"', 'query = "{question}", key = "${SEARCH_KEY}"')
    else:
        text = f'{place} = {{ X-Key = "${{SEARCH_KEY}}" }}\n{text}'
    described.write_text(text)
    server.faults = [repeat] * 3
    failed = run(str(described), retries=0).failures
    assert len(failed) == 3
    shown = str(failed)
    assert not any(secret[start : start + 5] in shown for start in range(len(secret) - 4))
    assert not any(each in shown for each in ("pa+ss", "w%26rd", "pa%20ss", "%C3%BCmlaut"))


def test_a_secret_in_the_body_is_sent(server: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", 'quo"te')
    for body in (
        '{ query = "{question}", key = "${SEARCH_KEY}" }',
        '\'{"query": "{question}", "key": "${SEARCH_KEY}"}\'',
    ):
        described = Path(endpoint())
        described.write_text(described.read_text().replace('{ query = "{question}", size = "{k}" }', body))
        assert run(str(described)).failures == {}
        assert server.seen[-1]["body"]["key"] == 'quo"te'


def test_an_address_from_the_environment_is_another_when_it_changes(
    server: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = Path(endpoint())
    described.write_text(described.read_text().replace(server.url, "${SEARCH_URL}"))
    monkeypatch.setenv("SEARCH_URL", server.url)
    first = adapt(str(described))
    assert first.search(["refund"], 5) == [[("d1", 1.0)]]
    monkeypatch.setenv("SEARCH_URL", "http://elsewhere:80")
    assert adapt(str(described)).settings != first.settings
    assert "127.0.0.1" not in str(first.settings)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_answers_are_read(server: Any, endpoint: Endpoint, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress

    def compressed(handler: Any) -> bool:
        data = pack(b'{"hits": {"hits": [{"_id": "d1", "_score": 1}]}}')
        handler.send_response(200)
        handler.send_header("Content-Encoding", encoding)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        return True

    server.faults = [compressed]
    assert run(endpoint()).ranking["q1"] == {"d1": 1.0}


def test_a_key_with_a_line_end_is_said_and_not_shown(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "s3cr3t\n")
    with pytest.raises(UsageError, match="'Authorization' has a line break") as error:
        adapt(endpoint('headers = { Authorization = "Bearer ${SEARCH_KEY}" }'))
    assert "s3cr3t" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('url = "http://x/{question}"\nanswer.ids = 3', "ids: got 3, expected a path"),
        ('url = "http://x/{question}"\nmethod = 3\nanswer.ids = "a"', "method: got 3"),
        ('url = "http://x:99999/{question}"\nanswer.ids = "a"', "a port up to 65535"),
        ('url = "http://x/a b/{question}"\nanswer.ids = "a"', "without blanks"),
        ('url = "http://x/{question}"\nanwser.ids = "a"', "unknown key 'anwser'. Did you mean 'answer'"),
        ('url = "http://x/{question}"\n[answer]\nid = "a"', "answer: unknown key 'id'. Did you mean 'ids'"),
        ('url = "http://x/{question}"\n[answer]\nids = "a..b"', "ids: got 'a..b', not a path"),
        ('url = "http://x/{question}"', "nothing says where the ids are"),
        ('url = "http://x/"\nanswer.ids = "a"', "the question is in neither url, params nor body"),
        ('url = "x/{question}"\nanswer.ids = "a"', "expected one that begins with http"),
        ('answer.ids = "a"', "url: got None"),
        ('url = "http://x/{question}"\nanswer = 7', "answer: got 7, expected a table"),
        ("url = ", "not valid TOML"),
        ("url = " + "[" * 99_999, "not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_description_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        adapt(str(path))
    assert message in str(error.value)


def test_wrong_limits_in_a_description_are_said(endpoint: Endpoint) -> None:
    with pytest.raises(UsageError, match="concurrency: got 'many', expected a whole number"):
        Benchmark(QUESTIONS).run("http", endpoint(limits='concurrency = "many"'))
