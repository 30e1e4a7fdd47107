"""How users call rankproof, with types: mypy reads this page strictly, and a test runs it."""

from __future__ import annotations

from collections.abc import Mapping

from rankproof import (
    Benchmark,
    Comparison,
    Diagnosis,
    Explanation,
    Gate,
    Interval,
    JudgedScores,
    Judgments,
    Leaderboard,
    Report,
    Run,
    ScoreRow,
    Scores,
    Standings,
    compare,
    diagnose,
    evaluate,
    explain,
    gate,
    judge,
    leaderboard,
    prepare,
    report,
    sample,
)

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
