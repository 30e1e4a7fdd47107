"""A ranking in many files gives, to the bit, what it gives in memory: however it is parted, whatever the files are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankproof import Scores, compare, evaluate
from rankproof.cli import run
from rankproof.core import join as core_join
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io import columns, frames
from rankproof.io.frames import judgments_in_parquet
from rankproof.io.trec import chunks, collect, index

pytestmark = pytest.mark.cover

MEASURES = "nDCG@10, AP, RR, P@3, R@5, Bpref, Judged@10, GMAP, num_rel_ret, ERR@10, RBP(p=0.8), Success@1"
Rows = list[tuple[str, str, float]]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every boundary between pieces is met with little data."""
    for module, name, value in (
        (columns, "ROWS", 40),
        (frames, "LARGE", 1),
        (frames, "BATCH", 97),
        (chunks, "SIZE", 1 << 11),
        (index, "CACHED", 20),
        (core_join, "COMPARED", 90),
    ):
        monkeypatch.setattr(module, name, value)


def world(seed: int, queries: int = 60) -> tuple[dict[str, dict[str, int]], Rows]:
    """Judgments and a ranking with ties, queries that nobody judged or that nobody answered, and long names."""
    rng = np.random.default_rng(seed)
    judged, rows = {}, []
    for number in range(queries):
        query = f"{'é' if number % 7 == 0 else 'q'}{number}"
        docs = [f"d{i:03d}{'-long-name-' if i % 5 == 0 else ''}" for i in rng.permutation(60)]
        if number % 11:
            judged[query] = {doc: int(rng.integers(0, 4)) for doc in docs[:6] + docs[50:52]}
        if number % 13:
            rows += [(query, doc, float(rng.integers(0, 9)) / 4) for doc in rng.permutation(docs[3:40]).tolist()]
    return judged, rows


def in_memory(rows: Rows) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        found.setdefault(query, {})[doc] = score
    return found


def numbers(scores: Scores, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Everything of scores that parts must leave as it is, to the bit; of these measures alone whole rows, which cost most."""
    rows = {name: scores.row(name).to_dict() for name in (scores if names is None else names)}
    return {
        "means": {name: mean.hex() for name, mean in scores.means.items()},
        "values": {name: each.values.tobytes() for name, each in scores.columns.items()},
        "rows": {name: {k: v for k, v in row.items() if k != "method"} for name, row in rows.items()},
        "facts": scores.facts,
        "findings": [(each.kind, each.count) for each in scores.audit if each.kind != "read-as"],
    }


def test_a_piece_is_looked_up_among_the_judgments_of_its_queries_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many judgments there are: what a row takes must not grow with them."""
    judged, rows = world(5, queries=200)
    sizes: list[int] = []
    of = index.Keys.of

    def noted(keys: Any, *more: Any) -> Any:
        sizes.append(len(keys))
        return of(keys, *more)

    monkeypatch.setattr(index.Keys, "of", noted)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES))
    by_query = as_parquet(tmp_path / "by_query.parquet", rows)
    by_doc = as_parquet(tmp_path / "by_doc.parquet", sorted(rows, key=lambda row: row[1]))
    every = sum(map(len, judged.values()))
    for path in (by_query, by_doc):
        sizes.clear()
        assert numbers(evaluate(judged, path, MEASURES)) == expected
        assert len(sizes) > 10 or path == by_doc
        assert max(sizes) < every / 10 or path == by_doc
    monkeypatch.setattr(index, "OTHERS", 0)
    sizes.clear()
    assert numbers(evaluate(judged, by_query, MEASURES)) == expected
    assert sizes == [every]


def as_parquet(path: Path, rows: Rows) -> Path:
    names = ("query_id", "doc_id", "score")
    table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])
    pq.write_table(pa.table(table, schema=schema), path, row_group_size=500)
    return path


def as_lists(path: Path, rows: Rows) -> Path:
    held = in_memory(rows)
    table = pa.table(
        {
            "query_id": list(held),
            "doc_ids": [list(docs) for docs in held.values()],
            "scores": [list(docs.values()) for docs in held.values()],
        }
    )
    pq.write_table(table, path)
    return path


def as_structs(path: Path, rows: Rows) -> Path:
    held = in_memory(rows)
    lists = [[{"doc_id": doc, "score": score} for doc, score in docs.items()] for docs in held.values()]
    kind = pa.list_(pa.struct([("doc_id", pa.string()), ("score", pa.float64())]))
    pq.write_table(pa.table({"query_id": list(held), "results": pa.array(lists, kind)}), path)
    return path


def as_trec(path: Path, rows: Rows) -> Path:
    path.write_text("".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in rows))
    return path


def as_jsonl(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps({"query_id": q, "doc_id": d, "score": s}) + "\n" for q, d, s in rows))
    return path


WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "parquet": as_parquet,
    "lists": as_lists,
    "structs": as_structs,
    "trec": as_trec,
    "jsonl": as_jsonl,
}


def partings(rows: Rows, seed: int) -> Iterator[tuple[str, list[Rows]]]:
    """Ways to part rows: by query, at any row, every fifth row, at random, all in one, with an empty part."""
    rng = np.random.default_rng(seed)
    queries = list(dict.fromkeys(row[0] for row in rows))
    place = {query: i % 4 for i, query in enumerate(queries)}
    yield "by query", [[row for row in rows if place[row[0]] == i] for i in range(4)]
    cuts = sorted(rng.integers(1, len(rows), 4).tolist())
    yield "at any row", [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    yield "every fifth row", [rows[i::5] for i in range(5)]
    mixed = [rows[i] for i in rng.permutation(len(rows)).tolist()]
    yield "at random", [mixed[i::3] for i in range(3)]
    yield "in one", [rows]


def two_of(partings: Iterable[Any], number: int) -> list[Any]:
    """Two of the five ways. For a kind of file or an engine, `number` is its own and one more for each rule for ties:
    with three rules it meets every way, and under every rule each way is met by some kind.
    """
    every = list(partings)
    return [every[number % 5], every[(number + 2) % 5]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("ties", ["trec", "id", "expected"])
def test_parts_give_the_bits_that_memory_gives(kind: str, ties: str, tmp_path: Path) -> None:
    judged, rows = world(3, queries=30)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES, ties=ties))
    number = list(WRITERS).index(kind) + ["trec", "id", "expected"].index(ties)
    for name, parts in two_of(partings(rows, 5), number):
        folder = tmp_path / name
        folder.mkdir()
        for i, part in enumerate(parts):
            WRITERS[kind](folder / f"part-{i:05d}.{kind}", part)
        (folder / "_SUCCESS").write_text("")
        (folder / ".part.crc").write_bytes(b"\1\2")
        ways: list[Any] = [folder, f"{folder}/part-*", sorted(folder.glob("part-*"))]
        for way in ways if name == "by query" else ways[:1]:
            found = numbers(evaluate(judged, way, MEASURES, ties=ties))
            assert found == expected, (kind, name, way)


def test_rows_with_their_own_order_keep_it_across_parts(tmp_path: Path) -> None:
    judged, rows = world(4)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES, ties="input"))
    for i in range(3):
        as_parquet(tmp_path / f"{i}.parquet", rows[i * 400 : (i + 1) * 400 if i < 2 else None])
    assert numbers(evaluate(judged, tmp_path, MEASURES, ties="input")) == expected


@pytest.mark.slow
def test_a_parquet_file_and_a_lazy_frame_give_the_bits_of_memory(tmp_path: Path) -> None:
    judged, rows = world(6)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES))
    one = as_parquet(tmp_path / "one.parquet", rows)
    assert numbers(evaluate(judged, one, MEASURES)) == expected
    lists = as_lists(tmp_path / "lists.parquet", rows)
    for given in (
        lists,
        pl.read_parquet(lists),
        pl.scan_parquet(one),
        pl.scan_parquet(lists),
        pq.read_table(lists),
    ):
        assert numbers(evaluate(judged, given, MEASURES)) == expected


@pytest.mark.slow
def test_systems_in_parts_are_compared(tmp_path: Path) -> None:
    judged, rows = world(7)
    better = [(q, d, s + judged.get(q, {}).get(d, 0)) for q, d, s in rows]
    for name, each in (("old", rows), ("new", better)):
        (tmp_path / name).mkdir()
        for i in range(3):
            as_parquet(tmp_path / name / f"{i}.parquet", each[i::3])
    found = compare(judged, {"old": tmp_path / "old", "new": f"{tmp_path}/new/*.parquet"}, "nDCG@10")
    whole = compare(judged, {"old": in_memory(rows), "new": in_memory(better)}, "nDCG@10")
    assert found.to_dict()["rows"] == whole.to_dict()["rows"]


# --- what can be wrong ---------------------------------------------------------------------------


def refused(judged: Any, given: Any, kind: type[RankproofError] = DataError, **settings: Any) -> str:
    with pytest.raises(kind) as error:
        evaluate(judged, given, "RR", **settings)
    assert "Next:" in str(error.value)
    return str(error.value)


@pytest.mark.slow
def test_a_corrupt_part_is_named_and_left_out_only_if_asked_for(tmp_path: Path) -> None:
    judged, rows = world(8)
    parts = list(dict(partings(rows, 1))["by query"])
    for i, part in enumerate(parts):
        as_parquet(tmp_path / f"{i}.parquet", part)
    whole = (tmp_path / "2.parquet").read_bytes()
    half = bytearray(whole)
    half[60:160] = b"\0" * 100
    for broken in (whole[: len(whole) // 2], b"", b"PAR1", bytes(half), b"\x1f\x8b\x08junk"):
        (tmp_path / "2.parquet").write_bytes(broken)
        assert "2.parquet" in refused(judged, tmp_path)
        scores = evaluate(judged, tmp_path, "RR", damaged="skip")
        assert scores["RR"] == evaluate(judged, in_memory([*parts[0], *parts[1], *parts[3]]), "RR")["RR"]
        left_out = scores.audit.of_kind("left-out")
        assert left_out is not None
        assert "2.parquet" in str(left_out)
        assert left_out.severity == "error"
    for i in range(4):
        (tmp_path / f"{i}.parquet").write_bytes(b"PAR1")
    assert "no other file" in refused(judged, tmp_path, damaged="skip")
    assert "damaged" in refused(judged, tmp_path, UsageError, damaged="maybe")


def test_links_are_followed_and_one_that_leads_nowhere_is_no_part_less(tmp_path: Path) -> None:
    judged, rows = world(8)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES))
    parts, runs = [tmp_path / name for name in ("1", "2", "3")], tmp_path / "runs"
    for at, folder in enumerate([*parts, runs]):
        folder.mkdir()
        as_parquet(folder / "rows.parquet", rows[at::4])
    (runs / "file").symlink_to(parts[0] / "rows.parquet")
    (runs / "folder").symlink_to(parts[1])
    (parts[1] / "loop").symlink_to(parts[1])
    (runs / "_hidden").symlink_to(parts[2])
    lost = runs / "lost"
    lost.symlink_to(parts[2] / "gone")
    assert "lost: cannot be opened" in refused(judged, runs)
    assert "lost: cannot be opened" in str(evaluate(judged, runs, "RR", damaged="skip").audit)
    lost.unlink()
    lost.symlink_to(parts[2] / "rows.parquet")
    for given in (runs, f"{runs}/*", f"{tmp_path}/run*"):
        assert numbers(evaluate(judged, given, MEASURES)) == expected


@pytest.mark.slow
def test_every_verb_that_scores_or_writes_rankings_leaves_damaged_files_out_if_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged, rows = world(15)
    lines = "".join(f"{q} 0 {d} {grade}\n" for q, docs in judged.items() for d, grade in docs.items())
    (tmp_path / "judged.qrels").write_text(lines)
    parts = list(dict(partings(rows, 1))["by query"])
    folder = tmp_path / ("a long name takes lines of the screen " * 4) / "run"
    folder.mkdir(parents=True)
    for i, part in enumerate(parts):
        as_parquet(folder / f"{i}.parquet", part)
    whole = as_trec(tmp_path / "other.run", rows)
    (folder / "2.parquet").write_bytes((folder / "2.parquet").read_bytes()[:900])
    here, query = str(tmp_path / "judged.qrels"), parts[0][0][0]
    verbs = {
        "evaluate": [here, folder, "-m", "RR"],
        "compare": [here, whole, folder, "-m", "RR"],
        "gate": [here, whole, folder, "-m", "RR"],
        "leaderboard": [here, whole, folder, "-m", "RR"],
        "report": [here, folder, "-o", tmp_path / "report.html"],
        "audit": [here, folder],
        "explain": [here, folder, query, "-m", "RR"],
        "diagnose": [here, folder, "-m", "RR"],
        "fuse": [whole, folder, "-o", tmp_path / "fused.run"],
        "pool": [whole, folder, "-o", tmp_path / "pool.jsonl"],
        "rank": [folder, "-o", tmp_path / "ranked"],
    }
    for verb, words in verbs.items():
        plain = run([verb, *map(str, words)])
        said = capsys.readouterr()
        assert plain != 0, verb
        assert "2.parquet" in said.err, verb
        done = run([verb, *map(str, words), "--damaged", "skip"])
        said = capsys.readouterr()
        page = (tmp_path / "report.html").read_text() if verb == "report" else ""
        assert "2.parquet" in said.out + said.err + page, verb
        assert "not valid Parquet" in (said.out + said.err + page).replace("\n", " "), (verb, done)
    kept = [*parts[0], *parts[1], *parts[3]]
    assert evaluate(judged, tmp_path / "ranked", "RR")["RR"] == evaluate(judged, in_memory(kept), "RR")["RR"]
    assert run(["convert", str(folder), str(tmp_path / "x.run"), "--as", "ranking", "--damaged", "skip"]) == 2
    assert "--damaged" in capsys.readouterr().err


def test_a_bad_line_in_a_part_is_told_with_its_file_and_line(tmp_path: Path) -> None:
    judged, rows = world(9)
    as_trec(tmp_path / "a.run", rows[:900])
    path = as_trec(tmp_path / "b.run", rows[900:])
    lines = path.read_text().splitlines()
    lines[700] = "q1 Q0 d1 1 high t"
    path.write_text("\n".join(lines))
    assert "b.run, line 701" in refused(judged, tmp_path)
    as_parquet(tmp_path / "c.parquet", rows)
    assert "one kind" in refused(judged, [tmp_path / "a.run", tmp_path / "c.parquet"])


def test_a_part_without_the_column_is_named(tmp_path: Path) -> None:
    judged, rows = world(10)
    as_parquet(tmp_path / "a.parquet", rows[:500])
    plain = pq.read_table(as_parquet(tmp_path / "b.parquet", rows[500:]))
    pq.write_table(plain.rename_columns(["query_id", "doc_id", "weight"]), tmp_path / "b.parquet")
    assert "b.parquet" in refused(judged, tmp_path)
    pq.write_table(plain.append_column("rank", pa.array(range(len(plain)))), tmp_path / "b.parquet")
    assert "same columns" in refused(judged, tmp_path)


@pytest.mark.slow
def test_empty_parts_are_no_matter_and_empty_folders_an_error(tmp_path: Path) -> None:
    judged, rows = world(11)
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES))
    as_parquet(tmp_path / "a.parquet", [])
    as_parquet(tmp_path / "b.parquet", rows)
    as_parquet(tmp_path / "c.parquet", [])
    assert numbers(evaluate(judged, tmp_path, MEASURES)) == expected
    (tmp_path / "runs").mkdir()
    assert "no file in the folder" in refused(judged, tmp_path / "runs", UsageError)
    assert "no file matches" in refused(judged, f"{tmp_path}/*.run", UsageError)
    (tmp_path / "runs" / "0.run").write_text("")
    as_trec(tmp_path / "runs" / "1.run", rows)
    assert numbers(evaluate(judged, tmp_path / "runs", MEASURES)) == expected


@pytest.mark.first_is_quick
@pytest.mark.parametrize("kind", ["parquet", "trec", "jsonl"])
def test_a_document_twice_is_told_with_both_files(kind: str, tmp_path: Path) -> None:
    judged, rows = world(12)
    WRITERS[kind](tmp_path / f"a.{kind}", rows)
    WRITERS[kind](tmp_path / f"b.{kind}", [*rows[:40], ("q1", rows[5][1], 9.0)])
    said = refused(judged, tmp_path)
    assert "twice" in said
    if kind == "trec":
        assert "b.trec, lines 6 and 41" in said  # both in one file
    once = evaluate(judged, tmp_path, "RR", duplicates="best")["RR"]
    best: dict[str, dict[str, float]] = in_memory(rows)
    best["q1"][rows[5][1]] = 9.0
    assert once == evaluate(judged, best, "RR")["RR"]
    WRITERS[kind](tmp_path / f"b.{kind}", rows[5:6])
    said = refused(judged, tmp_path)
    assert "Next: if these are two rankings, name each file by itself; else keep one of them" in said
    assert not re.search(r"\d{6}", said.replace(str(tmp_path), ""))  # the place in a file, not among all rows


@pytest.mark.slow
def test_too_many_rows_apart_are_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, rows = world(13)
    monkeypatch.setattr(collect, "GATHERED", 300)
    for i in range(3):
        as_parquet(tmp_path / f"{i}.parquet", rows[i::3])
    expected = numbers(evaluate(judged, in_memory(rows), MEASURES))
    assert numbers(evaluate(judged, tmp_path, MEASURES)) == expected  # in several passes
    monkeypatch.setattr(collect, "PASSES", 2)
    assert "partitioned by query" in refused(judged, tmp_path)


MANY = (
    "nDCG@5, nDCG, nDCG(gain='exp')@10, DCG@10, AP, AP@10, AP(rel=2), RR, RR@5, RR(rel=2), P@1, P@5, P@10, R@5, R@20, "
    "R@100, F@10, Success@1, Success@10, Rprec, Bpref, infAP, RBP(p=0.5), RBP(p=0.95), ERR@10, ERR@20, Judged@5, "
    "Judged@20, GMAP, num_rel, num_rel_ret, num_ret"
)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("ties", ["trec", "expected", "best"])
def test_thirty_measures_have_the_same_bits_in_every_form(ties: str, tmp_path: Path) -> None:
    judged, rows = world(100, queries=26)
    scores = evaluate(judged, in_memory(rows), MANY, ties=ties)
    expected, few = numbers(scores), numbers(scores, ["AP", "RR"])
    for number, (kind, writer) in enumerate(WRITERS.items(), start=["trec", "expected", "best"].index(ties)):
        for name, parts in two_of(partings(rows, 1), number):
            folder = tmp_path / kind / name
            folder.mkdir(parents=True)
            for i, part in enumerate(parts):
                writer(folder / f"{i}.{kind}", part)
            found = evaluate(judged, folder, MANY, ties=ties)
            if name == "by query":
                assert numbers(found) == expected, (kind, name)
            else:
                assert numbers(found, few["rows"]) == few, (kind, name)
    whole = as_parquet(tmp_path / "whole.parquet", rows)
    for given in (whole, pl.read_parquet(whole), pq.read_table(whole)):
        assert numbers(evaluate(judged, given, MANY, ties=ties)) == expected


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("ties", ["trec", "expected", "best"])
def test_thirty_measures_have_the_same_bits_in_every_engine(ties: str) -> None:
    from tests.io.counted.engines import ENGINES

    judged, rows = world(101, queries=26)
    scores = evaluate(judged, in_memory(rows), MANY, ties=ties)
    for number, (engine, make) in enumerate(ENGINES.items(), start=["trec", "expected", "best"].index(ties)):
        for name, parts in two_of(partings(rows, 2), number):
            measured = None if name == "by query" else ["AP", "RR"]
            expected = numbers(scores, measured)
            ordered = [row for part in parts for row in part]
            found = numbers(evaluate(judged, make(ordered), MANY, ties=ties), measured)
            for what in ("means", "values", "rows", "facts"):
                assert found[what] == expected[what], (engine, name, what)


@pytest.mark.parametrize("large", [1, 1 << 40], ids=["streamed", "as a whole"])
def test_bytes_that_changed_on_the_way_are_noticed_where_the_file_has_checksums(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "LARGE", large)
    judged, rows = world(4)
    query, doc, score = zip(*rows, strict=True)
    table = pa.table({"query_id": query, "doc_id": doc, "score": score})
    path = tmp_path / "run.parquet"
    pq.write_table(
        table,
        path,
        compression="none",
        use_dictionary=False,
        write_page_checksum=True,
        write_statistics=False,
    )
    assert evaluate(judged, path, "RR").means == evaluate(judged, in_memory(rows), "RR").means
    whole = path.read_bytes()
    changed = bytearray(whole)
    at = whole.index(b"d007")
    changed[at + 3] ^= 1  # another document, and nothing else that is odd
    path.write_bytes(bytes(changed))
    for ranking in (path, tmp_path):
        with pytest.raises(DataError, match=r"run\.parquet: not valid Parquet.*verify"):
            evaluate(judged, ranking, "RR")


def read_batches(path: Path, source: str) -> int:
    streamed = frames.stream_parquet(path, source)
    return 0 if streamed is None else sum(batch.num_rows for batch in streamed.batches())


@pytest.mark.slow
def test_whatever_bits_of_a_part_change_it_is_read_or_named(tmp_path: Path) -> None:
    """A broken footer ended the process, text that is none was a trace, and a column cut short was an empty file."""
    judged, rows = world(8, queries=20)
    lists: dict[str, Any] = {"query_id": [], "doc_id": [], "score": []}
    for query, docs in in_memory(rows).items():
        for name, value in zip(lists, (query, list(docs), list(docs.values())), strict=True):
            lists[name].append(value)
    bad, whole = tmp_path / "parts" / "bad.parquet", tmp_path / "whole.parquet"
    bad.parent.mkdir()
    names, values = (
        ("query_id", "doc_id", "relevance"),
        [(q, d, g) for q in judged for d, g in judged[q].items()],
    )
    graded = pa.table(dict(zip(names, map(list, zip(*values, strict=True)), strict=True)))
    as_parquet(whole, rows)
    tables = {"rows": pq.read_table(whole), "lists": pa.table(lists), "judgments": graded}
    outcomes = set()
    for kind, table in tables.items():
        pq.write_table(table, bad, store_schema=False, write_statistics=False)
        content = bad.read_bytes()
        footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        for at in (*range(4, footer, footer // 10), *range(footer, len(content), 2)):
            changed = bytearray(content)
            changed[at] ^= 1 << at // 2 % 8
            bad.write_bytes(changed)
            wanted = judgments_in_parquet if kind == "judgments" else read_batches
            try:
                wanted(bad, "bad.parquet")
                outcomes.add((kind, "read"))
            except DataError as error:
                outcomes.add((kind, str(error)[:11]))
    assert {what for _, what in outcomes} == {"read", "bad.parquet"}
    assert len(outcomes) == 6
    table = tables["rows"]
    texts = table.column("doc_id").combine_chunks()
    raw = texts.buffers()[2].to_pybytes().replace(b"d003", b"d\xff03")
    broken = pa.StringArray.from_buffers(len(texts), texts.buffers()[1], pa.py_buffer(raw))
    pq.write_table(table.set_column(1, "doc_id", broken), bad)
    with pytest.raises(DataError, match=r"bad\.parquet: not valid Parquet .*sequence at string index"):
        evaluate(judged, bad.parent, "RR")
