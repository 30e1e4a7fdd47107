"""What is remembered: everything, bit for bit; under which names; and what may be compared."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import History, Scores, compare, compare_scores, evaluate, gate, gate_scores, sample
from rankproof.errors import DataError, UsageError
from rankproof.store.answers import git_commit
from tests.database import database

MEASURES = "nDCG@10, RR, AP(denominator='found')"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def scored(name: str = "dense", **settings: Any) -> Scores:
    return evaluate(sample.judgments(), sample.rankings()[name], MEASURES, by=sample.kinds(), **settings)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "results.db")


def test_values_come_back_bit_for_bit(history: History) -> None:
    mine = scored(no_relevant="skip")
    history.save(mine, "a")
    back = history.scores("a")
    assert back.queries == mine.queries
    assert list(back) == list(mine)
    for name in mine:
        one, other = mine.column(name), back.column(name)
        assert one.values.tobytes() == other.values.tobytes()
        assert one.counted is not None
        assert np.array_equal(one.counted, other.counted)
        assert one.measure == other.measure


def test_everything_else_comes_back_too(history: History) -> None:
    mine = scored(ties="id", missing="skip")
    history.save(mine, "a")
    back = history.scores("a")
    assert back.conventions == mine.conventions
    assert json.loads(json.dumps(back.to_dict())) == json.loads(json.dumps(mine.to_dict()))
    assert str(back) == str(mine)
    assert {g: s.means for g, s in back.slices.items()} == {g: s.means for g, s in mine.slices.items()}


def test_an_entry_says_where_it_is_from(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(COMMIT + "\n")
    monkeypatch.chdir(tmp_path)
    history.save(scored(), "a", tags={"model": "small", "größe": "7 b"})
    entry = history.show("a")
    assert entry.commit == COMMIT
    assert entry.python == platform.python_version()
    assert entry.tags == {"model": "small", "größe": "7 b"}
    assert entry.means == scored().means
    assert history.entries() == [entry]


def test_fingerprints_do_not_depend_on_order_or_form(history: History, tmp_path: Path) -> None:
    judged, run = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}, {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 0.5}}
    (tmp_path / "j").write_text("q2 0 c 1\nq1 0 b 1\nq1 0 a 2\n")
    (tmp_path / "r").write_text("q2 Q0 c 1 0.5 x\nq1 Q0 x 2 1 x\nq1 Q0 a 1 2.0 x\n")
    one = history.save(evaluate(judged, run, "RR"), "one")
    other = history.save(evaluate(tmp_path / "j", tmp_path / "r", "RR"), "other")
    assert (one.judgments, one.ranking) == (other.judgments, other.ranking)
    changed = history.save(evaluate({**judged, "q2": {"c": 2}}, {**run, "q2": {"c": 0.6}}, "RR"), "changed")
    assert changed.judgments != one.judgments
    assert changed.ranking != one.ranking


def test_aspects_are_part_of_the_fingerprint(history: History) -> None:
    def fingerprint(*rows: tuple[str, str, int, str]) -> str:
        columns = ("query", "doc", "grade", "aspect")
        frame = [dict(zip(columns, row, strict=True)) for row in rows]
        import pandas

        return evaluate(pandas.DataFrame(frame), {"q": ["a"]}, "RR").fingerprint

    one = fingerprint(("q", "a", 1, "x"), ("q", "b", 1, "y"))
    assert one == fingerprint(("q", "b", 1, "y"), ("q", "a", 1, "x"))
    assert one != fingerprint(("q", "a", 1, "x"), ("q", "b", 1, "x"))


@pytest.mark.parametrize("name", ["müller vor Ort", "検索 2", "a/b:c@d", "🙂", "'; DROP TABLE x; --", "x" * 300])
def test_any_readable_name(history: History, name: str) -> None:
    history.save(scored(), name)
    assert history.show(name).name == name
    history.remove(name)
    assert history.entries() == []


def test_names_that_look_the_same_are_the_same(history: History) -> None:
    history.save(scored(), "caf\u00e9")
    assert history.show("cafe\u0301").name == "caf\u00e9"


@pytest.mark.parametrize("baseline", ["cafe\u0301", "caf\u00e9"])
@pytest.mark.parametrize("name", ["cafe\u0301", "caf\u00e9"])
def test_a_baseline_is_found_however_its_accents_are_typed(history: History, name: str, baseline: str) -> None:
    history.save(scored(), "caf\u00e9")
    history.save(scored("keyword"), "other")
    assert history.compare("other", name, baseline=baseline).baseline == "caf\u00e9"


@pytest.mark.parametrize("name", ["", " a", "a\n", "-a", "a\x00b", "\udc80"])
def test_names_that_nobody_could_type_or_see_are_refused(history: History, name: str) -> None:
    with pytest.raises(UsageError, match="expected printable text"):
        history.save(scored(), name)
    assert not history.path.exists()


def test_a_taken_name_is_kept_unless_replaced(history: History) -> None:
    history.save(scored("keyword"), "a")
    with pytest.raises(UsageError, match="saved as 'a' already, and was kept"):
        history.save(scored("dense"), "a")
    assert history.scores("a").means == scored("keyword").means
    history.save(scored("dense"), "a", replace=True)
    assert history.scores("a").means == scored("dense").means
    assert len(history.entries()) == 1


def test_removing_is_all_or_nothing(history: History) -> None:
    for name in ("monday", "tuesday"):
        history.save(scored(), name)
    with pytest.raises(UsageError, match=r"nothing is saved as 'tusday'. Did you mean 'tuesday'"):
        history.remove("monday", "tusday")
    assert [each.name for each in history.entries()] == ["monday", "tuesday"]
    history.remove("monday", "tuesday")
    with database(history.path) as connection:
        assert connection.execute("SELECT count(*) FROM measured").fetchone() == (0,)
    connection.close()


def test_no_history_is_not_made_by_asking(history: History) -> None:
    for ask in (history.entries, lambda: history.show("a"), lambda: history.remove("a")):
        with pytest.raises(UsageError, match="there is no history"):
            ask()
    assert not history.path.exists()
    history.path.mkdir()
    with pytest.raises(UsageError, match="a folder, expected a history"):
        history.entries()


def test_a_file_holds_them_all_or_some(history: History, tmp_path: Path) -> None:
    for name in ("keyword", "dense"):
        history.save(scored(name, no_relevant="skip"), name, tags={"kind": name})
    other = History(tmp_path / "other.db")
    for target, names in (("all.json", ()), ("one.json.gz", ("dense",))):
        history.export_to(tmp_path / target, *names)
    assert (tmp_path / "one.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert other.import_from(tmp_path / "one.json.gz") == ["dense"]
    assert other.entries() == history.entries()[1:]
    with pytest.raises(UsageError, match="saved as 'dense' already"):
        other.import_from(tmp_path / "all.json")
    assert len(other.entries()) == 1
    other.import_from(tmp_path / "all.json", replace=True)
    for name in ("keyword", "dense"):
        mine, back = history.scores(name), other.scores(name)
        assert mine.column("RR").values.tobytes() == back.column("RR").values.tobytes()
        assert mine.to_dict() == back.to_dict()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "version 1: ''"),
        (b"[1]", "not the first line of an exported history"),
        (b"\x1f\x8b broken", "broken archive"),
        (
            b'{"format": "rankproof history", "version": 9}',
            'version 1: \'{"format": "rankproof history", "version": 9}',
        ),
        (b'{"format": "rankproof history", "version": 1, "experiments": [\n{"name": "a"}]}', "lacks something"),
        (b'{"format": "rankproof history", "version": 1, "experiments": [\n{"name":]}', "not valid JSON"),
    ],
)
def test_a_file_that_is_no_export_brings_nothing(history: History, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match=f"{says}.*nothing was imported"):
        history.import_from(tmp_path / "x.json")
    assert not history.path.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda content: content.removesuffix(b"]}\n"), "cut off, the list of experiments has no end"),
        (lambda content: content + b"{}\n", "text after the end of the list of experiments"),
    ],
)
def test_an_export_that_was_cut_off_or_goes_on_is_refused(
    history: History, tmp_path: Path, change: Any, says: str
) -> None:
    history.save(scored(), "a")
    history.export_to(tmp_path / "x.json")
    content = (tmp_path / "x.json").read_bytes()
    (tmp_path / "x.json").write_bytes(change(content))
    with pytest.raises(DataError, match=f"x.json: {says}, expected a file written by"):
        History(tmp_path / "other.db").import_from(tmp_path / "x.json")


# --- comparing what was saved ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_comparison_of_saved_scores_is_the_comparison_of_the_rankings(history: History) -> None:
    names = ("keyword", "dense", "fused")
    for name in names:
        history.save(scored(name), name)
    rankings = {name: sample.rankings()[name] for name in names}
    direct = compare(sample.judgments(), rankings, MEASURES, by=sample.kinds(), margin=0.02)
    saved = history.compare(*names, margin=0.02)
    assert saved.rows == direct.rows
    assert str(saved) == str(direct)
    decided = gate(
        sample.judgments(), rankings["dense"], rankings["keyword"], MEASURES, by=sample.kinds(), coverage=0.9
    )
    assert history.gate("dense", "keyword", coverage=0.9).to_dict() == decided.to_dict()


JUDGED = {f"q{i}": {"good": 1} for i in range(20)}
RUN = {query: ["x", "good"] for query in JUDGED}
FEWER = {query: JUDGED[query] for query in list(JUDGED)[:15]}


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (lambda: evaluate(FEWER, RUN, "RR"), r"different queries \(15 and 20, 15 in common\)"),
        (lambda: evaluate({**JUDGED, "q3": {"x": 1}}, RUN, "RR"), "different judgments"),
        (lambda: evaluate(JUDGED, RUN, "RR", ties="id"), r"conventions \(ties=id and trec\)"),
        (lambda: evaluate(JUDGED, RUN, "RR, AP"), "do not both have AP"),
    ],
)
def test_what_was_not_made_alike_is_refused_and_named_unless_wanted(history: History, other: Any, says: str) -> None:
    history.save(evaluate(JUDGED, RUN, "RR"), "one")
    history.save(other(), "other")
    for ask in (history.compare, history.gate):
        with pytest.raises(UsageError, match=says):
            ask("one", "other")
    found = history.compare("one", "other", anyway=True)
    assert found.row("other", "RR").n == len(set(JUDGED) & set(other().queries))
    assert "not made in the same way" in str(found)
    assert history.gate("one", "other", anyway=True).notes


def test_compared_anyway_means_and_differences_are_over_the_same_queries() -> None:
    judged = {**JUDGED, "q19": {"good": 0}}
    one, other = (evaluate(judged, RUN, "RR", no_relevant=word) for word in ("zero", "skip"))
    found = compare_scores({"one": one, "other": other}, anyway=True)
    row = found.row("other", "RR")
    assert (row.n, row.mean, row.difference) == (19, 0.5, 0.0)
    assert found.scores["one"]["RR"] == 0.5
    assert one["RR"] == pytest.approx(0.475)


def test_a_definition_that_has_changed_since_is_a_difference() -> None:
    plain = evaluate(JUDGED, RUN, "RR").to_dict()
    plain["definition"]["measures"]["RR"]["params"] = {"rel": 7}
    with pytest.raises(UsageError, match="define RR differently"):
        compare_scores({"old": Scores.from_dict(plain), "new": evaluate(JUDGED, RUN, "RR")})


def test_what_was_saved_is_compared_with_what_is_measured_now() -> None:
    """A mapping of gains is the same in JSON; neither a title in other words nor a newer parameter changes it."""
    now = evaluate(JUDGED, RUN, "nDCG(gain={1: 2, 2: 3.5})@5, RR")
    plain = json.loads(json.dumps(now.to_dict()))
    assert Scores.from_dict(plain).definition == now.definition
    plain["definition"]["measures"]["RR"]["title"] = "As an older version called it."
    del plain["definition"]["measures"]["RR"]["params"]["rel"]
    found = compare_scores({"old": Scores.from_dict(plain), "new": now}, baseline="old")
    assert {row.difference for row in found.rows if row.system == "new"} == {0.0}


def test_named_measures_settle_which_are_compared(history: History) -> None:
    history.save(evaluate(JUDGED, RUN, "RR"), "one")
    history.save(evaluate(JUDGED, RUN, "AP, RR"), "other")
    assert history.compare("one", "other", measures="MRR").names == ["RR"]
    with pytest.raises(UsageError, match="'one' has no AP, only RR"):
        history.compare("one", "other", measures="AP")


def test_queries_in_another_order_are_matched_by_their_ids() -> None:
    run = {**RUN, "q0": ["good"], "q1": ["x", "y", "good"]}
    turned = dict(reversed(JUDGED.items()))
    one, other = evaluate(JUDGED, run, "RR"), evaluate(turned, run, "RR")
    assert compare_scores({"one": one, "other": other}).rows[0].ties == 20
    assert gate_scores(one, other).rows[0].difference == 0


def parity(query: str) -> str:
    return "even" if int(query[1:]) % 2 == 0 else "odd"


def test_groups_are_compared_where_all_have_the_same(history: History) -> None:
    history.save(evaluate(JUDGED, RUN, "RR", by=parity), "one")
    history.save(evaluate(FEWER, RUN, "RR", by=parity), "fewer")
    history.save(evaluate(JUDGED, RUN, "RR"), "plain")
    found = history.compare("one", "fewer", anyway=True)
    assert {row.slice: row.n for row in found.rows} == {"": 15, "even": 8, "odd": 7}
    found = history.compare("one", "plain")
    assert {row.slice for row in found.rows} == {""}
    assert "scored in different groups of queries, which are left out" in " ".join(str(found).split())
    found = history.compare("one", "plain", by=parity)
    assert {row.slice for row in found.rows} == {"", "even", "odd"}
    live = evaluate(JUDGED, RUN, "RR", by=parity)
    assert {row.slice for row in compare_scores({"a": live, "b": evaluate(JUDGED, RUN, "RR")})} == {""}


def test_nothing_in_common_cannot_be_compared_at_all() -> None:
    one = evaluate({"a": {"good": 1}}, {"a": ["good"]}, "RR")
    other = evaluate({"b": {"good": 1}}, {"b": ["good"]}, "RR")
    with pytest.raises(DataError, match="no query that all of them have"):
        compare_scores({"one": one, "other": other}, anyway=True)
    with pytest.raises(UsageError, match="no measure that all have"):
        compare_scores({"one": one, "other": evaluate({"a": {"x": 1}}, {"a": ["x"]}, "AP")}, anyway=True)


# --- git ------------------------------------------------------------------------------------------


def repository(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "commit"),
    [
        ({".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": COMMIT}, COMMIT),
        ({".git/HEAD": f"{COMMIT}\n"}, COMMIT),
        (
            {".git/HEAD": "ref: refs/heads/a/b", ".git/packed-refs": f"# pack\n{COMMIT} refs/heads/a/b\n"},
            COMMIT,
        ),
        (
            {
                ".git": "gitdir: store/worktrees/w\n",
                "store/worktrees/w/HEAD": "ref: refs/heads/side",
                "store/worktrees/w/commondir": "../..\n",
                "store/refs/heads/side": COMMIT,
            },
            COMMIT,
        ),
        ({".git/HEAD": "ref: refs/heads/unborn\n"}, None),
        ({".git/HEAD": "nonsense"}, None),
        ({".git": "gitdir: gone"}, None),
    ],
)
def test_the_commit_is_read_from_gits_own_files(tmp_path: Path, files: dict[str, str], commit: str | None) -> None:
    repository(tmp_path, files)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    assert git_commit(tmp_path / "deep" / "er") == commit
