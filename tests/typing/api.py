"""How users call rankproof, with types: mypy reads this page strictly, and a test runs it."""

from __future__ import annotations

from collections.abc import Mapping

from rankproof import (
    Benchmark,
    Comparison,
    Diagnosis,
    Explanation,
    Gate,
    History,
    Interval,
    Judge,
    JudgedScores,
    Judgments,
    Leaderboard,
    Report,
    Run,
    ScoreRow,
    Scores,
    ScoresLike,
    Standings,
    audit,
    calibrate,
    chat,
    compare,
    compare_scores,
    diagnose,
    evaluate,
    explain,
    gate,
    gate_scores,
    judge,
    judge_drift,
    kinship,
    leaderboard,
    mirage,
    prepare,
    report,
    sample,
    stress,
    trial,
)
from rankproof.functional import value

relevant: dict[str, dict[str, int]] = sample.judgments()
rankings: Mapping[str, Mapping[str, Mapping[str, float]]] = sample.rankings()


def scored() -> tuple[float, float, Interval, ScoreRow]:
    judgments: Judgments = prepare(relevant)
    scores: Scores = evaluate(judgments, rankings["keyword"], ["nDCG@10", "RR"], missing="skip")
    low, high = scores.interval("RR")
    return scores["nDCG@10"], high - low, scores.uncertainty("RR"), scores.row("RR")


def compared() -> tuple[str | None, str, float]:
    found: Comparison = compare(relevant, rankings, ["nDCG@10"], baseline="keyword")
    answer: Gate = gate(relevant, rankings["keyword"], rankings["dense"], measures="nDCG@10")
    order: Leaderboard = leaderboard(relevant, rankings, "nDCG@10")
    return found.winner, answer.outcome, order.means["dense"]


def shown() -> tuple[str, str]:
    why: Explanation = explain(relevant, rankings["keyword"], "q03", "nDCG@10")
    page: Report = report(relevant, rankings, ["nDCG@10"])
    return str(why), page.html()


def diagnosed() -> str:
    found: Diagnosis = diagnose(relevant, rankings["keyword"], "nDCG@10")
    return found.format("markdown")


def benched() -> Standings:
    def nothing(text: str, k: int) -> list[str]:
        return [text][:k]

    bench = Benchmark(queries=sample.queries(), judgments=relevant)
    run: Run = bench.run("nothing", nothing)
    assert run.scores["nDCG@10"] == 0
    bench.run("keyword", lambda text: ["restore-member-01"])
    return bench.compare("nDCG@10", baseline="nothing")


def judged() -> float:
    scores: JudgedScores = judge(
        [{"question": "How long?", "contexts": ["Refunds are paid within 30 days."], "answer": "30 days."}],
        "faithfulness",
    )
    return scores.coverage["faithfulness"]


def deepest(scores: ScoresLike) -> tuple[str, float]:
    return scores.worst(1)[0]


def of_either_kind() -> tuple[str | None, str, str]:
    rows = [{"id": "a", "question": "How long?", "contexts": ["30 days."]}, {"id": "b", "question": "Who?"}]
    first = judge(rows, "P@1", judge=lambda relation, left, right: 3)
    second: ScoresLike = judge(rows, "P@1", judge=lambda relation, left, right: 3)
    evaluated = evaluate(relevant, rankings["keyword"], "RR")
    deepest(first), deepest(evaluated)
    found = compare_scores({"one": first, "two": second})
    return (
        found.winner,
        gate_scores(first, second).outcome,
        leaderboard({"one": first, "two": second}).measure,
    )


def with_conventions() -> tuple[float, float, str, str, float]:
    keyword, dense = rankings["keyword"], rankings["dense"]
    found = compare(relevant, rankings, "RR", baseline="keyword", missing="skip", corpus_size=1_000)
    answer = gate(relevant, keyword, dense, "RR", profile="trec_eval-10", unjudged="skip")
    order = leaderboard(relevant, rankings, "RR", ties="id", context_k=5)
    why = explain(relevant, keyword, "q03", "RR", duplicates="first", profile="trec_eval-10")
    odd = audit(relevant, keyword, "Accuracy", corpus_size=1_000)
    page = diagnose(relevant, keyword, "RR", no_relevant="skip", corpus_size=1_000)
    kin = kinship(relevant, relevant, rankings, "RR", unjudged_grade=2.0, unjudged="relevant")
    return (
        order.means["dense"],
        why.value or 0.0,
        answer.outcome + found.names[0] + str(kin),
        str(odd),
        page.mean,
    )


def refused() -> None:
    """Never called: mypy must find the mistake of every line, or else the comment on it is one."""
    keyword, history = rankings["keyword"], History("none.db")
    bench = Benchmark(queries=sample.queries(), judgments=relevant)
    evaluate(relevant, keyword, "RR", mising="skip")  # type: ignore[call-arg]
    evaluate(relevant, keyword, "RR", corpus=1_000)  # type: ignore[call-arg]
    evaluate(relevant, keyword, "RR", corpus_size="many")  # type: ignore[arg-type]
    audit(relevant, keyword, "RR", mising="skip")  # type: ignore[call-arg]
    compare(relevant, rankings, "RR", mising="skip")  # type: ignore[call-arg]
    compare(relevant, rankings, "RR", missing=True)  # type: ignore[arg-type]
    gate(relevant, keyword, keyword, "RR", tie="id")  # type: ignore[call-arg]
    leaderboard(relevant, rankings, "RR", profil="trec_eval")  # type: ignore[call-arg]
    kinship(relevant, relevant, rankings, "RR", contextk=5)  # type: ignore[call-arg]
    explain(relevant, keyword, "q03", "RR", duplicate="first")  # type: ignore[call-arg]
    diagnose(relevant, keyword, "RR", size=5)  # type: ignore[call-arg]
    report(relevant, rankings, "RR", mising="skip")  # type: ignore[call-arg]
    value("RR", ["a"], ["a"], mising="skip")  # type: ignore[call-arg]
    history.compare("old", "new", alfa=0.05)  # type: ignore[call-arg]
    history.gate("old", "new", margins=0.05)  # type: ignore[call-arg]
    bench.compare("RR", mising="skip")  # type: ignore[call-arg]
    bench.diagnose("nothing", worts=3)  # type: ignore[call-arg]
    bench.run("nothing", lambda text: []).evaluate("RR", mising="skip")  # type: ignore[call-arg]
    judge([], "P@1", judge="openai:x", temprature=0.1)  # type: ignore[call-arg]
    judge([], "P@1", judge="openai:x", max_money="two")  # type: ignore[arg-type]
    judge([], "P@1", ledgr="v.db")  # type: ignore[call-arg]
    Judge("openai:x", concurency=2)  # type: ignore[call-arg]
    calibrate("v.db", judge="openai:x", bugdet_tokens=5)  # type: ignore[call-arg]
    judge_drift("v.db", judge="openai:x", sead=5)  # type: ignore[call-arg]
    mirage([], judge="openai:x", paris=5)  # type: ignore[call-arg]
    stress([], judge="openai:x", topp=0.5)  # type: ignore[call-arg]
    trial("openai:x", tris=5)  # type: ignore[call-arg]
    chat(len, name="x", verison="2")  # type: ignore[call-arg]
