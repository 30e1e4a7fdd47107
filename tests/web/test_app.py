"""The app over HTTP: who may ask, what pages say, and that no grade is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from rankproof import Grid, compare, evaluate, gate, grid, judge, pool
from rankproof.bench.testset.labels import last_labels, merge_labels, read_labels
from rankproof.bench.testset.pool import pool_lines, read_pool
from rankproof.cli import run
from rankproof.comparing.conclusions import conclusions
from rankproof.core.names import parse
from rankproof.document.formats.html import part_of_page
from rankproof.document.numbers import score
from rankproof.errors import DataError, UsageError
from rankproof.io.load import load_judgments, load_ranking
from rankproof.judging.verdicts import Relation
from rankproof.judging.words import QUESTIONS
from rankproof.scoring.catalogue import describe_measure
from rankproof.web import LABELS, Settings, Workspace, pages
from rankproof.web.server import Guard, make_server
from tests.cli.test_screen import unexplained

from .conftest import RunningApp, Start, parts_on_page

pytestmark = pytest.mark.cover

PAGES = (
    *("/", "/compare", "/queries", "/query?id=q02", "/explain?id=q02", "/gate", "/leaderboard", "/diagnosis"),
    *("/audit", "/judge", "/verdicts", "/live"),
)


def test_only_who_knows_the_token_gets_in_and_it_leaves_the_address(start: Start, folder: Path) -> None:
    app = start(folder)
    assert app.ask("/").status == 403
    assert app.ask("/?token=wrong").status == 403
    welcome = app.ask(f"/compare?a=dense&token={app.token}")
    assert (welcome.status, welcome.headers["location"]) == (303, "/compare?a=dense")
    assert "HttpOnly" in welcome.headers["set-cookie"]
    assert "SameSite" in welcome.headers["set-cookie"]
    assert app.ask("/").status == 200
    assert app.token not in app.ask("/").text
    odd = app.ask(f"/%E2%82%AC%0aX:y?m=%E2%82%AC&token={app.token}")
    assert (odd.status, odd.headers["location"]) == (303, "/%E2%82%AC%0AX%3Ay?m=%E2%82%AC")


@pytest.mark.parametrize(
    ("host", "server", "origin", "status"),
    [
        ("127.0.0.1", ("127.0.0.1", 80), "http://127.0.0.1", 200),  # the port of the web, which browsers leave out
        ("127.0.0.1", ("127.0.0.1", 80), "http://127.0.0.1:81", 403),
        ("evil.example", ("127.0.0.1", 80), "http://evil.example", 403),
        (
            "192.0.2.7:80",
            ("192.0.2.7", 80),
            "http://192.0.2.7",
            200,
        ),  # the address of this machine, with --host 0.0.0.0
        ("192.0.2.7:80", ("::ffff:192.0.2.7", 80), "http://192.0.2.7", 200),  # with --host ::
        ("[2001:db8::1]", ("2001:db8::1", 80), "http://[2001:db8::1]", 200),
        ("192.0.2.8:80", ("192.0.2.7", 80), "http://192.0.2.8", 403),
    ],
)
def test_the_app_answers_by_its_own_address_alone(host: str, server: tuple[str, int], origin: str, status: int) -> None:
    said: list[int] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        said.append(message.get("status", 0))

    headers = [(b"host", host.encode()), (b"cookie", b"rankproof-80=secret"), (b"origin", origin.encode())]
    scope = {"type": "http", "method": "GET", "headers": headers, "query_string": b"", "path": "/", "server": server}
    asyncio.run(Guard(answer, "secret", ["127.0.0.1:80"])(scope, send, send))
    assert said[0] == status


STRANGERS = {
    "another host": {"Host": "evil.example"},
    "a rebound name": {"Host": "127.0.0.1.evil.example"},
    "another port": {"Host": "127.0.0.1:1"},
    "another origin": {"Origin": "https://evil.example"},
    "no origin at all": {"Origin": "null"},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_are_refused_even_with_the_cookie(start: Start, folder: Path, who: str) -> None:
    app = start(folder).enter()
    assert app.ask("/", headers=STRANGERS[who]).status == 403
    sent = {"csrf": app.csrf, "query": "q02", "document": "x", "grade": "1"}
    assert app.ask("/grade", send=sent, headers=STRANGERS[who]).status == 403
    assert not (folder / LABELS).exists()


def test_what_is_written_needs_the_proof_of_our_page(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    sent = {"query": "q02", "document": "x", "grade": "1"}
    for wrong in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": app.token}):
        for path in ("/grade", "/who", "/override", "/calibrate"):
            assert app.ask(path, send=sent | wrong).status == 403
    assert app.ask("/grade", send=sent | {"csrf": app.csrf}, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert app.ask("/grade?" + "&".join(f"{k}={v}" for k, v in sent.items())).status == 404
    assert app.ask("/", method="DELETE").status == 403
    assert app.ask("/who", send={"who": "x" * (2 << 20), "csrf": app.csrf}).status == 403
    assert not (folder / LABELS).exists()


@pytest.mark.slow
def test_every_answer_carries_the_policy(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    for path in (*PAGES, "/static/style.css", "/nothing", "/part?name=verdict"):
        headers = app.ask(path).headers
        assert "script-src 'self'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_paths_cannot_leave_the_folder(start: Start, folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("the secret")
    app = start(folder).enter()
    for path in (
        "/static/../../secret.txt",
        "/static/%2e%2e%2fsecret.txt",
        f"/static/{quote(str(secret), safe='')}",
    ):
        assert "the secret" not in app.ask(path).text
    for page in ("compare?a=", "audit?s=", "query?id=q02&systems=", "verdicts?ledger=", "judge?pool="):
        for name in ("../secret.txt", str(secret), "..%2fsecret.txt"):
            assert "the secret" not in app.ask(f"/{page}{name}").text


@pytest.mark.parametrize("systems", ["dense fused dense", "dense dense fused fused", "dense dense", "fused"])
def test_a_ranking_may_be_chosen_more_than_once(start: Start, folder: Path, systems: str) -> None:
    assert start(folder).enter().ask(f"/query?id=q02&systems={systems.replace(' ', '%0A')}").status == 200


def test_a_query_shows_up_to_four_rankings_side_by_side_whatever_their_names(start: Start, folder: Path) -> None:
    (folder / "dense.run").rename(folder / "dense,k=1.run")
    for name in ("x", "y"):
        shutil.copy(folder / "keyword.run", folder / f"{name}.run")
    app = start(folder).enter()
    app.ask("/leaderboard")  # which waits for all
    shown = app.ask("/query?id=q02&a=dense%2Ck%3D1&b=fused").text
    link = re.search('<a href="([^"]*)">4 rankings side by side</a>', shown)
    assert link is not None
    wide = app.ask(unescape(link[1])).text
    assert re.findall('data-system="([^"]*)"', wide) == ["dense,k=1", "fused", "keyword", "x"]
    assert "side by side" not in wide


def test_read_only_writes_nothing(start: Start, folder: Path) -> None:
    app = start(folder, read_only=True).enter()
    page = app.ask("/judge").text
    assert "data-csrf" not in page
    assert '<form action="/grade"' not in page
    assert app.ask("/grade", send={"csrf": "", "query": "q02", "document": "x", "grade": "1"}).status == 403
    assert not (folder / LABELS).exists()


def test_what_is_new_stays_while_the_first_page_loads_itself_again(start: Start, folder: Path) -> None:
    app, new = start(folder).enter(), "New since your last visit"
    assert new not in app.ask("/").text  # the first visit of all
    app.cookies |= {"rankproof-seen": f"{time.time() - 7200:.0f}", "rankproof-before": ""}
    before = app.ask("/state").text
    (folder / "newest.run").write_text((folder / "dense.run").read_text())
    for _ in range(100):
        time.sleep(0.1)
        if app.ask("/state").text != before:
            break
    assert [new in app.ask("/").text for _ in range(3)] == [True] * 3
    time.sleep(1)  # the visit is over, and the next one begins later than the file
    app.cookies |= {"rankproof-seen": f"{time.time():.0f}", "rankproof-before": ""}
    assert new not in app.ask("/").text


def test_a_saved_page_has_no_secret_and_nothing_that_writes(start: Start, folder: Path) -> None:
    """It is mailed, and the secret is that of the running app."""
    judge([{"question": "q", "contexts": ["c d"], "answer": "c d"}], "faithfulness", ledger=folder / "v.db")
    app = start(folder).enter()
    for page in ("calibration", "judge", "verdicts", "query?id=q02", "live"):
        saved = app.ask(f"/{page}{'&' if '?' in page else '?'}save=yes")
        assert saved.status == 200
        assert app.csrf not in saved.text, page
        assert "<form" not in saved.text, page


@pytest.mark.parametrize(
    ("highest", "meaning"), [(1, "1 helps."), (2, "2 answers it."), (5, "up to 5 answers it best.")]
)
def test_the_page_that_grades_says_what_the_grades_mean(start: Start, folder: Path, highest: int, meaning: str) -> None:
    app = start(folder, highest=highest).enter()
    assert meaning in app.ask("/judge").text
    assert "(0 does not help, " in (page := app.ask("/query?id=q02").text)
    assert f"{meaning.removesuffix('.')})" in page


def test_what_is_judged_is_shown_in_full(start: Start, tmp_path: Path) -> None:
    question = f"{'Who may see the files of a person who left? ' * 10}The end."
    (tmp_path / "judgments.json").write_text(json.dumps({"q1": {"d1": 1}}))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": question}) + "\n")
    for name in ("one", "other"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"q1": ["d1", "d2"]}))
    sample = {"question": question, "contexts": [question], "answer": question}
    judge([sample], "faithfulness, context_relevance", judge=lambda *_: True, ledger=tmp_path / "v.db")
    app = start(tmp_path).enter()
    assert question in app.ask("/judge").text
    assert app.ask("/verdicts").text.count(f"<bdi>{question}</bdi>") >= 2


@pytest.mark.slow
def test_every_column_is_explained_or_a_plain_word(start: Start, folder: Path, saved_grid: Grid) -> None:
    saved_grid.save(folder / "grid.json")
    app = start(folder).enter()
    pages = "".join(app.ask(path).text for path in (*PAGES, "/calibration", "/grid"))
    pages += "".join(app.ask(unescape(each)).text for each in re.findall('data-part="([^"]*)"', pages))
    assert unexplained(pages, ("keyword", "dense", "fused")) == set()


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_stands(start: Start, folder: Path, path: str) -> None:
    answer = start(folder).enter().ask(path)
    assert answer.status == 200
    assert re.search(r"<script(?! type=\"module\" src=)", answer.text) is None
    assert " style=" not in answer.text
    assert " onclick" not in answer.text
    ids = re.findall(r'<[^>]* id="([^"]*)"', answer.text)
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_numbers_are_those_of_the_command_line(start: Start, folder: Path) -> None:
    judgments, runs = (
        folder / "judgments.tsv",
        {n: folder / f"{n}.run" for n in ("dense", "fused", "keyword")},
    )
    app = start(folder).enter()
    for _ in range(100):
        home = app.ask("/").text
        if "Reading" not in home:
            break
        time.sleep(0.1)
    for path in runs.values():
        scores = evaluate(judgments, path)
        for name in list(scores)[:6]:
            assert f"<td>{score(scores[name])}</td>" in home
    found = compare(judgments, {name: runs[name] for name in ("dense", "fused")})
    verdict = app.ask("/part?name=verdict&a=dense&b=fused").text
    assert all(each in verdict for each in parts_on_page(found))
    assert len(verdict.partition('<dl class="words">')[0]) == len("".join(parts_on_page(found)))
    assert verdict.index(conclusions(found)[0]) < verdict.index("<table")
    last = found.names[-1]
    first = compare(judgments, {name: runs[name] for name in ("dense", "fused")}, [last, *found.names[:-1]])
    chosen = app.ask(f"/part?name=verdict&a=dense&b=fused&m={quote(last)}").text
    assert conclusions(first)[0] in unescape(chosen)
    assert conclusions(first)[0] != conclusions(found)[0]
    measure = found.names[0]
    page = app.ask("/compare?a=dense&b=fused").text
    for query, value in found.scores["fused"].values(measure).items():
        row = page.partition(f"/query?id={query}&amp;")[2].partition("</tr>")[0]
        assert f"<td>{score(found.scores['dense'].values(measure)[query])}</td><td>{score(value)}</td>" in row
    decided = gate(judgments, runs["dense"], runs["fused"], [measure])
    part = app.ask("/part?name=gate&a=dense&b=fused").text
    assert decided.outcome.upper() in part


def test_the_verdict_is_that_of_the_measure_that_was_chosen(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    address = "a=keyword&b=dense&m=RR%4010"
    page = app.ask(f"/compare?{address}").text
    runs = {name: folder / f"{name}.run" for name in ("keyword", "dense")}
    found = compare(folder / "judgments.tsv", runs, "RR@10, nDCG@10, AP, P@5, R@5, R@100, Success@5")
    assert "m=RR%4010" in page.partition('data-part="')[2].partition('"')[0]
    verdict = unescape(app.ask(f"/part?name=verdict&{address}").text)
    assert conclusions(found)[0] in verdict
    assert conclusions(found)[0] not in unescape(app.ask("/part?name=verdict&a=keyword&b=dense").text)
    gates = app.ask(f"/query?id=q02&{address}").text
    assert "The gate on nDCG@10 as judged" in gates + app.ask("/part?name=outcome&a=keyword&b=dense").text


@pytest.mark.parametrize("measure", ["nDCG@10", "ERR@10", "GMAP", "NumRelRet"])
@pytest.mark.parametrize("grade", [3, 9])
def test_what_if_says_what_evaluate_says_of_the_other_grade(
    start: Start, folder: Path, measure: str, grade: int
) -> None:
    """Also where the highest grade of all judgments scales every query, and where no plain mean is taken."""
    app = start(folder, measures=measure, highest=9).enter()
    judged = load_judgments(folder / "judgments.tsv").as_dict()
    judged["q02"]["errors-fh503-01"] = grade
    asked = {"query": "q02", "document": "errors-fh503-01", "systems": "dense\nfused", "measure": measure}
    said = app.ask(f"/whatif?{urlencode({**asked, 'grade': grade})}").text
    for side in json.loads(said)["sides"]:
        scores = evaluate(judged, folder / f"{side['system']}.run", measure)
        assert side["after"] == pytest.approx(scores.values(measure)["q02"])
        assert side["mean_after"] == pytest.approx(scores[measure])
    assert not (folder / LABELS).exists()


def test_first_means_of_a_run_are_those_of_the_queries_answered_so_far(start: Start, folder: Path) -> None:
    """On the scale of all judgments: none of these queries has a document of the highest grade."""
    judged = load_judgments(folder / "judgments.tsv").as_dict()
    plain = [query for query, own in judged.items() if 0 < max(own.values()) < 3][:5]
    part = {query: list(judged[query])[::-1] for query in plain} | {"unknown": ["x"]}
    answers = (json.dumps({"query": query, "results": docs}) + "\n" for query, docs in part.items())
    (folder / "x.partial.jsonl").write_text("".join(answers))
    (folder / "x.progress.jsonl").write_text(json.dumps({"what": "run", "done": 6, "at": time.time()}) + "\n")
    shown = start(folder, measures="ERR@10").enter().ask("/live").text
    expected = evaluate(judged, part, "ERR@10", missing="skip")["ERR@10"]
    assert f"{len(plain)} of {len(judged)} judged queries, NOT FINAL" in shown
    assert f"<td>{expected:.4f}</td>" in shown


def test_conventions_that_are_named_shape_every_number(start: Start, folder: Path) -> None:
    named = {"no_relevant": "skip", "missing": "skip"}
    app = start(folder, conventions=named).enter()
    judged = load_judgments(folder / "judgments.tsv").as_dict()
    scores = {name: evaluate(judged, folder / f"{name}.run", "nDCG@10", **named) for name in ("keyword", "dense")}
    app.ask("/compare?a=keyword&b=dense")  # which waits for both
    home = app.ask("/").text
    assert all(f"{each['nDCG@10']:.4f}" in home for each in scores.values())
    document = next(line.split()[2] for line in (folder / "dense.run").read_text().splitlines() if line[:4] == "q57 ")
    judged["q57"][document] = 3.0  # a query that counts only with this grade
    asked = f"query=q57&document={document}&grade=3&systems=keyword%0Adense&measure=nDCG%4010"
    for side in json.loads(app.ask(f"/whatif?{asked}").text)["sides"]:
        then = evaluate(judged, folder / f"{side['system']}.run", "nDCG@10", **named)
        assert side["after"] == pytest.approx(then.values("nDCG@10").get("q57", 0.0))
        assert side["mean_after"] == pytest.approx(then["nDCG@10"])
    asked = (
        "query=q18&document=account-email-01&grade=1&systems=keyword&measure=nDCG%4010"  # keyword has no ranking of it
    )
    (side,) = json.loads(app.ask(f"/whatif?{asked}").text)["sides"]
    assert side["mean_after"] == pytest.approx(side["mean"])


def test_advice_of_pages_is_an_option_of_the_app(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also what threads compute, which begin without what the command has set."""
    assert run(["app", str(folder), "--export", str(folder / "site")]) == 0
    capsys.readouterr()
    pages = "".join(path.read_text() for path in (folder / "site").glob("*.html"))
    assert "--no-relevant skip" in pages
    assert "no_relevant=" not in pages
    assert run(["app", str(folder), "--no-relevant", "skip", "--export", str(folder / "other")]) == 0
    assert "--no-relevant skip" not in (folder / "other" / "gate.html").read_text()
    capsys.readouterr()
    assert run(["app", str(folder), "--ties", "nobody", "--export", str(folder / "third")]) == 2
    assert "--ties: got 'nobody'" in capsys.readouterr().err


def test_a_query_from_the_hardest_leads_to_the_next_hardest(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    listed = app.ask("/queries?a=keyword&b=dense").text
    addresses = [unescape(each) for each in re.findall(r'<th scope="row"[^>]*><a href="(/query[^"]+)"', listed)]
    for address, beside in pairwise(addresses[:4]):
        links = dict(
            re.findall(r'<a href="([^"]+)">(Next query|Previous query|Back to the queries)', app.ask(address).text)
        )
        named = {words: unescape(at) for at, words in links.items()}
        assert parse_qs(urlsplit(named["Next query"]).query)["id"] == parse_qs(urlsplit(beside).query)["id"]
        assert named["Back to the queries"].startswith("/queries?")


def test_queries_that_lost_are_links_below_the_decision(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    lost = app.ask("/gate?a=dense&b=keyword").text.partition("The queries behind it")[2]
    assert len(re.findall(r'<a href="/query[?]id=q\d+&amp;a=dense&amp;b=keyword', lost)) >= 5
    assert '<dl class="words">' in app.ask("/part?name=gate&a=dense&b=keyword").text  # which joins those of the page


@pytest.mark.slow
def test_two_people_grade_at_once_and_a_kill_loses_nothing(start_process: Start, folder: Path) -> None:
    app = start_process(folder).enter()
    people = {name: RunningApp(app.address).enter() for name in ("ana", "ben")}
    for name, each in people.items():
        assert each.ask("/who", send={"csrf": each.csrf, "who": name}).status == 303
    given: list[tuple[str, str, str]] = []
    found = load_ranking(folder / "fused.run").table()
    first = {query: str(found.doc[rows[0]]) for query, rows in found.by_query().items()}
    queries = list(first)[:20]

    def grade(job: tuple[str, int]) -> None:
        name, n = job
        query = queries[n]
        assert people[name].grade(query, first[query], str(n % 4)).status == 200
        given.append((name, query, first[query]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(grade, [(name, n) for n in range(20) for name in people]))
    assert app.process is not None
    app.process.send_signal(signal.SIGKILL)
    app.process.wait(10)
    labels = last_labels(read_labels(folder / LABELS))
    kept = {(who, item.query, item.document) for who, own in labels.items() for item in own}
    assert kept == set(given)
    assert len(kept) == 40
    before = (folder / "judgments.tsv").read_bytes()
    again = start_process(folder).enter()
    assert again.grade(queries[2], first[queries[2]], "undo").status == 200
    assert (folder / "judgments.tsv").read_bytes() == before


@pytest.mark.slow
def test_a_grade_changes_the_decision_and_not_the_judgments(start: Start, folder: Path) -> None:
    before = (folder / "judgments.tsv").read_bytes()
    app = start(folder).enter()
    app.ask("/who", send={"csrf": app.csrf, "who": "ana"})
    assert app.grade("q02", "errors-fh503-01", "3").status == 200
    assert (folder / "judgments.tsv").read_bytes() == before
    assert merge_labels(last_labels(read_labels(folder / LABELS))) == {"q02": {"errors-fh503-01": 3}}
    plain, corrected = (app.ask(f"/compare?a=dense&b=fused{more}").text for more in ("", "&given=yes"))
    rows = [page.partition("/query?id=q02&amp;")[2].partition("</tr>")[0] for page in (plain, corrected)]
    assert rows[0] != rows[1]
    assert "Not counted above: 1 grade given here." in app.ask("/gate?a=dense&b=fused").text


def test_a_grade_changes_no_number_of_judgments_by_aspect(start: Start, tmp_path: Path) -> None:
    (tmp_path / "judged.txt").write_text("q1 1 a 1\nq1 2 b 1\nq1 1 c 0\n")
    for name, order in (("one", "cab"), ("two", "abc")):
        (tmp_path / f"{name}.run").write_text("".join(f"q1 Q0 {doc} {i} {-i} r\n" for i, doc in enumerate(order)))
    app = start(tmp_path, measures="alpha_nDCG@10").enter()
    assert app.grade("q1", "c", "0").status == 200
    value = score(evaluate(tmp_path / "judged.txt", tmp_path / "one.run", "alpha_nDCG@10")["alpha_nDCG@10"])
    paths = ("/judge", "/gate?a=one&b=two&given=yes", "/query?id=q1&a=one&b=two&given=yes")
    pages = {path: app.ask(path).text for path in paths}
    assert all("The judgments name aspects of the queries; " in page for page in pages.values())
    assert f"alpha_nDCG@10 {value}" in pages[paths[2]]
    assert "--add-to" not in pages["/judge"]
    asked = app.ask("/whatif?query=q1&document=c&grade=0&systems=one&measure=alpha_nDCG%4010")
    assert (asked.status, "its judgments name aspects" in asked.text) == (400, True)


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("grade", ["4", "-1", "1.5", "", "x", "99999999999999999999"])
def test_a_grade_that_is_none_is_refused(start: Start, folder: Path, grade: str) -> None:
    app = start(folder).enter()
    app.ask("/who", send={"csrf": app.csrf, "who": "ana"})
    answer = app.grade("q02", "errors-fh503-01", grade)
    assert answer.status == 400
    assert "Next:" in answer.text
    assert not (folder / LABELS).exists()


@pytest.mark.parametrize(
    ("query", "document"), [("", ""), ("q02", ""), ("q02", "nothing"), ("nothing", "errors-fh503-01")]
)
def test_a_document_that_nobody_has_is_not_graded(start: Start, folder: Path, query: str, document: str) -> None:
    app = start(folder).enter()
    for sent in ("3", "skip"):
        answer = app.grade(query, document, sent)
        assert (answer.status, "Next: choose it on the page" in answer.text) == (400, True)
    assert not (folder / LABELS).exists()
    assert app.grade("q02", "errors-fh503-01", "3").status == 200
    assert app.ask(f"/whatif?query={query}&document={document}&grade=3&systems=dense&measure=AP").status == 400


def test_what_if_begins_with_the_numbers_of_its_page(start: Start, folder: Path) -> None:
    """Those with the grades given here, once the page counts them: in the numbers, and in the mean."""
    app = start(folder).enter()
    judged = load_judgments(folder / "judgments.tsv").as_dict()
    assert app.grade("q02", "backup-status-01", "3").status == 200
    judged["q02"]["backup-status-01"] = 3.0
    before = evaluate(judged, folder / "dense.run", "nDCG@10")
    judged["q02"]["errors-fh503-01"] = 3.0
    after = evaluate(judged, folder / "dense.run", "nDCG@10")
    asked = "query=q02&document=errors-fh503-01&grade=3&systems=dense&measure=nDCG%4010&given=yes"
    (side,) = json.loads(app.ask(f"/whatif?{asked}").text)["sides"]
    assert [side["before"], side["after"]] == pytest.approx([each.values("nDCG@10")["q02"] for each in (before, after)])
    assert [side["mean"], side["mean_after"]] == pytest.approx([each["nDCG@10"] for each in (before, after)])


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("grade=x", "got 'x', expected a whole number from 0 to 3"),
        ("grade=nan", "got 'nan', expected a whole number from 0 to 3"),
        ("grade=7", "got '7', expected a whole number from 0 to 3"),
        ("grade=3&measure=", "Next:"),
        ("grade=3&document=", "document '' of query 'q02'"),
        ("grade=3&query=", "query '' is not judged"),
        ("grade=3&systems=x", "there is no ranking 'x' here"),
    ],
)
def test_a_question_what_if_that_cannot_be_answered_says_why(start: Start, folder: Path, asked: str, said: str) -> None:
    usual = "query=q02&document=errors-fh503-01&systems=dense&measure=AP"
    answer = start(folder).enter().ask(f"/whatif?{usual}&{asked}")
    assert (answer.status, said in json.loads(answer.text)["problem"]) == (400, True)


def test_labels_of_the_terminal_in_the_folder_count_too(start: Start, folder: Path) -> None:
    rows = [
        {"query": "q02", "document": document, "who": who, "what": "graded", "grade": 3, "when": "2026-01-01T00:00:00"}
        for document, who in (("errors-fh503-01", "ana"), ("errors-fh503-01", "ben"), ("errors-fh205-01", "ana"))
    ]
    (folder / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    before = (folder / "labels.jsonl").read_bytes()
    app = start(folder).enter()
    app.ask("/who", send={"csrf": app.csrf, "who": "ana"})
    page = app.ask("/judge").text
    assert "2 graded" in page
    assert "ana, ben" in page
    assert f"--labels {folder / LABELS} --labels {folder / 'labels.jsonl'} --qrels" in page
    assert app.grade("q02", "errors-fh205-01", "undo").status == 200
    assert "1 graded" in app.ask("/judge").text
    assert app.grade("q02", "errors-fh503-01", "1").status == 200
    assert "given here: 1" in app.ask("/query?id=q02").text  # the lower one of two
    assert (folder / "labels.jsonl").read_bytes() == before
    assert len(last_labels(read_labels(folder / LABELS))["ana"]) == 1
    with (folder / "labels.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("{}\n")
    until = time.monotonic() + 20
    while time.monotonic() < until and "expected a label" not in app.ask("/").text:
        app.ask("/judge")
        time.sleep(0.1)
    assert "expected a label" in app.ask("/").text
    assert "1 graded" in app.ask("/judge").text


def test_what_is_skipped_is_not_counted_as_graded(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    for document, grade in (("errors-fh101-01", "1"), ("errors-fh205-01", "0"), ("sharing-sync-03", "skip")):
        assert app.grade("q02", document, grade).status == 200
    assert "2 graded, 1 skipped" in app.ask("/judge").text


def test_what_is_left_of_a_pool_is_counted(start: Start, folder: Path) -> None:
    """Without what lies outside the pool, and what others disagree on once."""
    runs = {name: folder / f"{name}.run" for name in ("dense", "keyword")}
    (folder / "pool.jsonl").write_text("".join(pool_lines(pool(runs, depth=20))))
    app = start(folder).enter()
    known = load_judgments(folder / "judgments.tsv").as_dict()
    ranks = read_pool(folder / "pool.jsonl").ranks
    listed = [(query, doc) for query, docs in ranks.items() for doc in docs if doc not in known.get(query, {})]
    heading = f"0 graded, {len(listed):,} left<"
    assert heading in app.ask("/judge").text
    app.grade("q02", "errors-fh101-01", "1")
    for grade, who in (("1", "one"), ("0", "two")):
        app.cookies["rankproof-who"] = who
        app.grade(*listed[3], grade)
    app.cookies["rankproof-who"] = "three"
    assert heading in app.ask("/judge").text
    app.cookies["rankproof-who"] = "one"
    assert f"1 graded, {len(listed) - 1:,} left<" in app.ask("/judge").text
    del app.cookies["rankproof-who"]
    page = app.ask("/judge").text
    assert f"1 graded, {len(listed):,} left<" in page
    files = (folder / LABELS, folder / "judgments.tsv")
    assert f"--labels {files[0]} --qrels corrected.tsv --add-to {files[1]}" in page


def test_calibration_asks_as_the_terminal_does(start: Start, folder: Path) -> None:
    rows = [{"question": "Refund?", "contexts": [f"Within {n} days.", f"{n}."]} for n in range(3)]
    judge(rows, "context_relevance", judge=lambda *_: True, ledger=folder / "verdicts.db")
    app = start(folder).enter()

    def answer(value: str) -> str:
        page = app.ask("/calibration").text
        sent = {name: unescape(re.findall(f'name="{name}" value="([^"]*)"', page)[0]) for name in ("left", "right")}
        app.ask("/calibrate", send={"csrf": app.csrf, "ledger": "verdicts.db", "value": value, **sent})
        return re.findall(
            r'<h2 id="pair-heading">([^<]*) pairs labelled by [^<,]*([^<]*)', app.ask("/calibration").text
        )[0]

    asked, _, answers = QUESTIONS[Relation.STATEMENT_BEARS].partition("? ")
    page = app.ask("/calibration").text
    assert asked in page
    assert re.findall(r">([^<]+)</button>", page)[1:] == [*answers.split(", "), "skip", "undo the last"]
    assert answer("0") == ("1 of 6", "")
    assert answer("skip") == ("1 of 6", ", 1 skipped")
    assert answer("undo") == ("1 of 6", "")
    assert answer("undo") == ("0 of 6", "")
    assert answer("1") == ("1 of 6", "")


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR@10"])
def test_formulas_are_shown_without_the_marks_of_code(start: Start, folder: Path, measure: str) -> None:
    app = start(folder).enter()
    assert "`" not in app.ask(f"/explain?id=q02&s=dense&m={quote(measure)}").text
    assert "`" not in describe_measure(parse(measure))


def test_the_first_page_names_the_folder(start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for place in (".", "../runs", "./"):
        assert "<h1>What is in runs</h1>" in start(Path(place)).enter().ask("/").text


def test_a_damaged_file_is_an_error_on_its_own_card(start: Start, folder: Path) -> None:
    for n in range(100):
        content = (b"", b"SQLite format 3\x00junk", b"q1 Q0 d1 1 x r\n" * 3, bytes(range(256)) * n)[n % 4]
        (folder / f"damaged{n:03}.{('run', 'db', 'run', 'jsonl')[n % 4]}").write_bytes(content)
    (folder / "twice.run").write_text("q02 Q0 d 1 0.5 r\nq02 Q0 d 2 0.5 r\n")
    app = start(folder).enter()
    for _ in range(200):
        home = app.ask("/")
        if "Reading" not in home.text:
            break
        time.sleep(0.1)
    assert home.status == 200
    assert home.text.count('class="card"') >= 50
    assert "dense" in home.text
    assert app.ask("/compare?a=dense&b=fused").status == 200
    assert app.ask("/compare?a=dense&b=twice").status == 400


def test_one_bad_file_takes_no_page_away(start: Start, folder: Path) -> None:
    (folder / "aaa.run").write_text("q02 Q0 d 1 0.5 r\nq02 Q0 d 2 0.5 r\n")
    (folder / "log.csv").write_text("when,who,query,results,clicked\n2026-10-01,u0,why?,d1|d2,\n" * 2)
    (folder / "two.json").write_text(json.dumps([{"question": "why?", "gold": "d1", "expected": "d2"}]))
    (folder / "queries.jsonl").write_text('{"_id": "q02", "text": "why?"}\n{"_id": "q02", "text": "how?"}\n')
    app = start(folder).enter()
    board = app.ask("/leaderboard").text + app.ask("/part?name=leaderboard").text
    assert board.count("comes twice") == 1
    assert "Told apart beyond chance: " in board
    for path in PAGES:
        assert app.ask(path).status == 200, path
    assert "<h1>fused against dense</h1>" in app.ask("/compare").text
    home = app.ask("/").text
    assert re.search(r"Production logs.*?log\.csv", home)
    assert "rankproof convert two.json" in home
    assert "comes twice" in home
    assert "given before" in home  # the queries, which the pages do without


def test_the_name_of_a_file_in_another_encoding_takes_no_page_away(start: Start, folder: Path) -> None:
    os.rename(folder / "dense.run", os.fsencode(folder) + b"/caf\xe9 #1%20 <b>.run")
    app = start(folder).enter()
    link, until = None, time.monotonic() + 20
    while link is None and time.monotonic() < until:
        link = re.search(r'href="(/compare[^"]*caf[^"]*)"', app.ask("/").text)
    assert link is not None
    assert "caf\\udce9 #1%20" in app.ask(unescape(link[1])).text
    for path in PAGES:
        assert app.ask(path).status == 200, path


def test_a_grade_never_goes_beside_a_folder_that_is_gone(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    csrf = app.csrf
    shutil.rmtree(folder)
    refused = app.ask("/grade", send={"csrf": csrf, "query": "q02", "document": "errors-fh503-01", "grade": "1"})
    assert (refused.status, "No such file or directory" in refused.text) == (400, True)
    assert list(folder.parent.iterdir()) == []
    until = time.monotonic() + 20
    while time.monotonic() < until and "is no longer there" not in app.ask("/").text:
        time.sleep(0.1)
    assert "is no longer there" in app.ask("/").text


def test_a_body_of_no_stated_length_is_read_to_the_limit_only(
    start: Start, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    app = start(folder).enter()
    cookie = "; ".join(f"{name}={value}" for name, value in app.cookies.items())
    head = f"POST /who HTTP/1.1\r\nHost: {app.host}\r\nCookie: {cookie}\r\n"
    with socket.create_connection(app.host.split(":")) as sent:
        sent.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(OSError):  # it does not wait for the end
            for _ in range(64):
                sent.sendall(b"10000\r\n" + bytes(1 << 16) + b"\r\n")
        assert sent.recv(99).startswith(b"HTTP/1.1 413 ")
    with socket.create_connection(app.host.split(":")) as sent:  # and one who hangs up
        sent.sendall(f"{head}Content-Length: 9\r\n\r\nabc".encode())
    assert app.ask("/").status == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_page_that_waits_for_its_reader_hears_that_he_left() -> None:
    heard: list[str] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        heard.append((await receive())["body"])
        heard.append((await receive())["type"])

    parts = [
        {"type": "http.request", "body": b"a=", "more_body": True},
        {"type": "http.request", "body": b"1"},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return parts.pop(0)

    headers = [(b"host", b"here:1"), (b"cookie", b"rankproof-1=secret"), (b"origin", b"http://here:1")]
    scope = {"type": "http", "method": "POST", "headers": headers, "query_string": b"", "path": "/"}
    asyncio.run(Guard(page, "secret", ["here:1"])(scope, receive, receive))
    assert heard == [b"a=1", "http.disconnect"]


def test_a_new_run_shows_up_by_itself(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    assert "newest" not in app.ask("/").text
    version = app.ask("/state").text.split()[0]
    (folder / "newest.run").write_bytes((folder / "dense.run").read_bytes())
    until = time.monotonic() + 20
    while time.monotonic() < until and app.ask("/state").text.split()[0] == version:
        time.sleep(0.1)
    assert "newest" in app.ask("/").text


@pytest.mark.slow
def test_a_page_that_waits_for_numbers_is_loaded_again_however_soon_they_come(start: Start, folder: Path) -> None:
    """They may be there before the browser first asks, or be an error: it was compared with that first answer, and the
    page said for ever that rankings are being read."""
    rows = "".join(f"q{i:04} Q0 d{j} {j} {900 - j} t\n" for i in range(1, 61) for j in range(3000))
    (folder / "long.run").write_text(rows)
    (folder / "damaged.run").write_text(rows + "q1 Q0 d1 1 x t\n")
    app = start(folder).enter()
    pages, waited = [app.ask("/").text], False
    until = time.monotonic() + 60
    while "Reading " in pages[-1] and time.monotonic() < until:
        waited = True
        known = re.search(r'data-state="([^"]+)"', pages[-1])
        assert known
        while app.ask("/state").text == known[1] and time.monotonic() < until:
            time.sleep(0.05)
        pages.append(app.ask("/").text)
    assert waited
    assert "Reading " not in pages[-1]
    assert "long" in pages[-1]
    assert f'data-state="{app.ask("/state").text}"' in pages[-1]


HOSTILE = "<img src=x onerror=alert(1)>\"'&\u202eabc"


@pytest.mark.slow
def test_texts_of_others_are_never_markup(start: Start, tmp_path: Path) -> None:
    inside = tmp_path / "<b>runs"
    inside.mkdir()
    (inside / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": HOSTILE}) + "\n")
    document = {"_id": "d1", "title": HOSTILE, "text": HOSTILE * 500}
    (inside / "documents.jsonl").write_text(json.dumps(document) + "\n")
    (inside / "judgments.json").write_text(json.dumps({"q1": {"d1": 1, HOSTILE: 2}}))
    for name in ("a<i>", "b\"onload='x'"):
        (inside / f"{name}.json").write_text(json.dumps({"q1": {HOSTILE: 0.75, "d1": 0.5}}))
    app = start(inside).enter()
    for path in (
        "/",
        "/compare",
        "/query?id=q1",
        "/gate",
        "/queries",
        "/judge",
        "/audit",
        "/part?name=verdict",
    ):
        page = app.ask(path)
        assert page.status == 200, page.text
        assert "<img" not in page.text
        assert "<i>" not in page.text
        assert "\u202e" not in page.text
    assert "<img" not in app.ask(f"/query?id={quote(HOSTILE)}").text


@pytest.mark.slow
def test_a_page_is_saved_as_one_file_by_its_last_link(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    for path in ("/compare?a=dense&b=fused", "/query?id=q02", "/gate", "/"):
        links = re.findall(r'<a href="([^"]+)">Save this page as one file</a>', app.ask(path).text)
        assert len(links) == 1, path
        saved = app.ask(unescape(links[0]))
        assert saved.text.partition("<h1>")[2].partition("</h1>")[0] in app.ask(path).text
        assert "attachment" in saved.headers["content-disposition"]
        assert "<script" not in saved.text
        assert 'rel="stylesheet"' not in saved.text
        assert 'href="/' not in saved.text
        assert "action=" not in saved.text
        assert "Computing ..." not in saved.text


@pytest.fixture(scope="module")
def saved_grid() -> Grid:
    return grid({"benchmark": "sample", "k": [5, 10], "retrievers": {"words": "keyword", "dense": "lsa"}})


def test_a_saved_grid_is_shown_as_bench_says_it(start: Start, folder: Path, saved_grid: Grid) -> None:
    app = start(folder).enter()
    assert 'href="/grid"' not in app.ask("/").text
    assert "there is no saved grid here" in app.ask("/grid").text
    saved_grid.save(folder / "first.json")
    app = start(folder).enter()
    assert 'href="/grid"' in app.ask("/").text
    page = app.ask("/grid").text
    assert part_of_page(saved_grid._document()) in page
    for name in (
        *saved_grid.front,
        *(level.name for effect in saved_grid.effects for level in effect.levels),
    ):
        assert name in page
    (folder / "second.json").write_text(json.dumps({**saved_grid.to_dict(), "rows": [{"name": "x"}]}))
    app = start(folder).enter()
    answer = app.ask("/grid?g=second")
    assert (answer.status, "no grid that was saved" in answer.text) == (400, True)
    assert app.ask("/grid?g=first").status == 200
    refused = app.ask("/grid?g=third").text
    assert all(name in refused for name in ("first", "second", "third"))
    assert "as one file" not in refused


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("page", ["audit?s=dense", "part?name=diagnosis&s=dense&m=AP"])
def test_queries_that_are_named_are_one_click_away(start: Start, folder: Path, page: str, alone: bool) -> None:
    judgments = folder / "judgments.tsv"
    judgments.write_text(judgments.read_text().replace("q57", "q <57>'&"))
    if alone:
        (folder / "keyword.run").unlink()
        (folder / "fused.run").unlink(missing_ok=True)
    app = start(folder).enter()
    named = re.findall(r'<a href="(/query[^"]+)">(?:<[^>]+>)*([^<]+)', app.ask("/" + page).text)
    assert "q <57>'&" in {unescape(name) for _, name in named}
    for address, name in named:
        opened = app.ask(unescape(address))
        assert (opened.status, name in opened.text) == (200, True), address


@pytest.mark.slow
def test_twenty_browsers_at_once_get_what_one_gets(start_process: Start, folder: Path) -> None:
    app = start_process(folder, "--by", f"{folder}/queries.jsonl:kind").enter()
    paths = [
        *(page for page in PAGES if page not in ("/", "/live", "/judge")),
        *(f"/query?id=q{n:02}" for n in range(2, 12)),
        *(f"/part?name={name}&a=dense&b=fused" for name in ("verdict", "gate", "outcome")),
        *("/part?name=leaderboard", "/part?name=diagnosis"),
    ]

    def shown(path: str) -> tuple[int, str]:
        answer = app.ask(path)
        return answer.status, answer.text

    for path in paths:
        shown(path)  # what is worked out once is there now
    alone = {path: shown(path) for path in paths}
    with ThreadPoolExecutor(20) as browsers:
        asked = [path for n in range(20) for path in (*paths[n:], *paths[:n])]
        for path, answer in zip(asked, browsers.map(shown, asked), strict=True):
            assert answer == alone[path], path
    assert {status for status, _ in alone.values()} == {200}


@pytest.mark.slow
def test_ctrl_c_ends_it_cleanly(start_process: Start, folder: Path) -> None:
    process = start_process(folder).enter().process
    assert process is not None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert "Traceback" not in said


def test_wrong_settings_leave_the_port_free(folder: Path) -> None:
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
    with pytest.raises(UsageError) as kept:  # whose frames keep what is open
        make_server(Settings((str(folder),), measures="nope"), port=port)
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))
    assert "nope" in str(kept.value)


def test_a_port_that_is_taken_is_named(start: Start, folder: Path) -> None:
    port = start(folder).host.rpartition(":")[2]
    with pytest.raises(DataError, match=rf"port {port} of 127\.0\.0\.1 cannot be used.* Next:"):
        make_server(Settings((str(folder),)), port=int(port))
    with pytest.raises(DataError, match=r"^192\.0\.2\.1 cannot be used.* --host"):
        make_server(Settings((str(folder),)), host="192.0.2.1")
    with pytest.raises(UsageError, match=r"no ranking 'x' here\. Next: choose one of dense, fused, keyword\."):
        Workspace(Settings((str(folder),), baseline="x"))


ODD = (
    *("1", "-", "--5", "²", "٣", "9" * 5000, "nan", "1e400", "\x00", "a" * 20_000, "../..", "<b>", "nDCG@0"),
    *("q02", "\r\nX: y", "http://["),
)


@pytest.mark.slow
@pytest.mark.parametrize("page", [*PAGES, "/calibration", "/grid", "/part", "/whatif", "/state", "/nothing"])
def test_no_parameter_of_an_address_is_an_error_of_the_inside(start: Start, folder: Path, page: str) -> None:
    """Names that functions behind the pages have, those that pages know, and one that nobody knows."""
    judge([{"question": "q", "contexts": ["c d"], "answer": "c d"}], "faithfulness", ledger=folder / "v.db")
    app, path = start(folder).enter(), page.partition("?")[0]
    others, names = (
        "page self site choices words part key x",
        "name a b m s g id systems from value judge relation text ledger",
    )
    assert app.ask(f"{path}?{'&'.join(f'{name}=1&{name}=2&{name}' for name in others.split())}").status < 500
    for name in names.split():
        for query in (f"{name}=1&{name}=2&{name}", *(f"{name}={quote(value)}" for value in ODD)):
            assert app.ask(f"{path}?{query}").status < 500, query[:40]


@pytest.mark.parametrize("page", ["/queries", "/gate?a=dense", "/verdicts", "/"])
@pytest.mark.parametrize("name", ["page", "self", "x"])
def test_an_unknown_parameter_is_ignored(start: Start, folder: Path, page: str, name: str) -> None:
    app = start(folder).enter()
    found = app.ask(f"{page}{'&' if '?' in page else '?'}{name}=1")
    assert found.status == 200
    assert f"{name}=1&amp;save=yes" in found.text


@pytest.mark.slow
def test_nothing_that_a_form_sends_is_an_error_of_the_inside(start: Start, folder: Path) -> None:
    judge([{"question": "q", "contexts": ["c d"], "answer": "c d"}], "faithfulness", ledger=folder / "v.db")
    app = start(folder).enter()
    sent = {"csrf": app.csrf, "query": "q02", "document": "x", "why": "so", "value": "1", "grade": "1"}
    for path in ("/grade", "/override", "/calibrate", "/who"):
        for name in ("grade", "query", "document", "back", "value", "pair", "left", "ledger", "who"):
            for value in ODD:
                assert app.ask(path, send={**sent, name: value}).status < 500, (path, name, value[:20])
    assert app.ask("/who", send=sent, headers={"Origin": "http://["}).status == 403


def test_an_error_that_nobody_foresaw_is_told_in_the_place_of_what_failed(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("<b>by nothing")

    app = start(folder).enter()
    csrf = app.csrf
    monkeypatch.setitem(pages.PAGES, "audit", broken)
    monkeypatch.setitem(pages.PARTS, "verdict", broken)
    page, part = app.ask("/audit"), app.ask("/part?name=verdict")
    for each in (page, part):
        assert each.status == 500
        assert "ZeroDivisionError: &lt;b&gt;by nothing" in each.text
        assert "Next: " in each.text
    assert ('<nav aria-label="Pages">' in page.text, "<html" in part.text) == (True, False)
    assert "frame-ancestors" in page.headers["content-security-policy"]
    for path in ("/a/b", "/static/a/b", "/nothing"):
        found = app.ask(path)
        assert (found.status, '<nav aria-label="Pages">' in found.text) == (404, True), path
    assert app.ask("/%E6%97%A5?save=yes").status == 404
    assert app.ask("/grade", send={"csrf": csrf, "grade": "1"}).status == 400


@pytest.mark.parametrize("wrong", [{"total": "x"}, {"failed": 1e400}, {"done": None}, {"at": "now"}, {"total": [1]}])
def test_a_line_of_progress_that_says_something_else_is_passed_over(
    start: Start, folder: Path, wrong: dict[str, Any]
) -> None:
    line = {"what": "run", "done": 5, "total": 12, "failed": 0, "at": time.time()}
    lines = [line, line | wrong]
    (folder / "x.progress.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    shown = start(folder).enter().ask("/live")
    assert (shown.status, "5 of 12" in shown.text) == (200, True)


@pytest.mark.parametrize("wrong", [{"chosen_on": {}}, {"chosen_on": "x"}, {"rows": [{"name": 5}]}, {"held_out": []}])
def test_a_grid_with_something_else_in_its_fields_is_an_error_of_the_file(
    start: Start, folder: Path, saved_grid: Grid, wrong: dict[str, Any]
) -> None:
    saved_grid.save(folder / "grid.json")
    whole = json.loads((folder / "grid.json").read_text())
    (folder / "grid.json").write_text(json.dumps(whole | wrong))
    shown = start(folder).enter().ask("/grid")
    assert shown.status in (200, 400), shown.text


def test_choosing_no_ranking_by_name_is_choosing_none(start: Start, folder: Path) -> None:
    app = start(folder).enter()
    assert 'select name="a"' in app.ask("/query?id=q02&systems=%0A").text


def test_a_query_that_is_not_judged_has_no_derivation(start: Start, folder: Path) -> None:
    answer = start(folder).enter().ask("/explain?id=q2")
    assert (answer.status, "Did you mean" in answer.text) == (400, True)
