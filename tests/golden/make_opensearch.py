"""Golden values of OpenSearch's search-relevance workbench, from its own classes compiled by javac.

    python make_opensearch.py CHECKOUT

Needs `metrics/calculator/Evaluation.java` and `JudgmentThresholdCalculator.java` of opensearch-project/search-relevance.
"threshold" is the grade from which on it takes a document as relevant for that query (since 3.6); measures that end in
", any grade above 0" were asked with a threshold of 0, as it did before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import cases, ordered, shared_queries, write

PACKAGE = "org/opensearch/searchrelevance/metrics/calculator"
CUTS = (1, 3, 5, 8, 10)

DRIVER = """
package org.opensearch.searchrelevance.metrics.calculator;

import java.util.*;

public class Driver {
    public static void main(String[] cuts) {
        Scanner in = new Scanner(System.in, "UTF-8").useDelimiter("\\n");
        while (in.hasNext()) {
            List<String> docs = words(in.next());
            Map<String, String> judged = new LinkedHashMap<>();
            List<String> pairs = words(in.next());
            for (int i = 0; i < pairs.size(); i += 2) judged.put(pairs.get(i), pairs.get(i + 1));
            double threshold = JudgmentThresholdCalculator.computeThreshold(judged);
            StringBuilder out = new StringBuilder("threshold=" + threshold);
            for (String cut : cuts) {
                int k = Integer.parseInt(cut);
                out.append("\\tDCG@" + k + "=" + Evaluation.calculateDCGAtK(docs, judged, k));
                out.append("\\tNDCG@" + k + "=" + Evaluation.calculateNDCGAtK(docs, judged, k));
                for (String how : new String[] {"", ", any grade above 0"}) {
                    double t = how.isEmpty() ? threshold : 0.0;
                    out.append("\\tPrecision@" + k + how + "=" + Evaluation.calculatePrecisionAtK(docs, judged, k, t));
                    out.append("\\tRecall@" + k + how + "=" + Evaluation.calculateRecallAtK(docs, judged, k, t));
                    out.append("\\tMAP@" + k + how + "=" + Evaluation.calculateMAPAtK(docs, judged, k, t));
                    out.append("\\tMRR@" + k + how + "=" + Evaluation.calculateReciprocalRank(docs, judged, k, t));
                }
            }
            System.out.println(out);
        }
    }

    static List<String> words(String line) {
        return line.isEmpty() ? List.of() : Arrays.asList(line.split("\\t"));
    }
}
"""


def compiled(checkout: Path, into: Path) -> None:
    driver = into / "Driver.java"
    driver.write_text(DRIVER, encoding="utf-8")
    folder = checkout / "src/main/java" / PACKAGE
    sources = [driver, folder / "Evaluation.java", folder / "JudgmentThresholdCalculator.java"]
    subprocess.run(["javac", "-encoding", "UTF-8", "-d", str(into), *map(str, sources)], check=True)


def ran(classes: Path, pairs: list[tuple[dict[str, int], dict[str, float]]]) -> list[dict[str, float]]:
    lines = []
    for judged, run in pairs:
        lines += ["\t".join(ordered(run)), "\t".join(f"{doc}\t{grade}" for doc, grade in judged.items())]
    command = [
        "java",
        "-Dfile.encoding=UTF-8",
        "-cp",
        str(classes),
        PACKAGE.replace("/", ".") + ".Driver",
        *map(str, CUTS),
    ]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8", check=True)
    cells = [dict(cell.rsplit("=", 1) for cell in line.split("\t")) for line in done.stdout.splitlines()]
    return [{name: float(value) for name, value in each.items()} for each in cells]


def evaluated(case: dict[str, Any], classes: Path) -> dict[str, Any]:
    queries = list(shared_queries(case))
    results = ran(classes, [(judged, run) for _, judged, run in queries])
    values = {
        name: {query: each[name] for (query, _, _), each in zip(queries, results, strict=True)} for name in results[0]
    }
    return {
        "per_query": values,
        "mean": {name: sum(each.values()) / len(each) for name, each in values.items()},
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        compiled(Path(sys.argv[1]), Path(folder))
        write("opensearch", version="opensearch-project/search-relevance at 0b75cf8 (3.6 to 3.9)",
              made="its classes run on each query; each value is rounded by it, the mean over the queries run is not",
              cases={case["name"]: evaluated(case, Path(folder)) for case in cases()})  # fmt: skip
