"""Golden values of Quepid's scorers, run by node from a checkout of o19s/quepid.

    python make_quepid.py CHECKOUT

Needs `db/scorers/*.js` and `lib/scorer_logic.js` of it. Each scorer runs in a context of its own with what Quepid gives it:
`docs` (the hits, with a rating where there is one), `bestDocs` (all rated documents), `max` (the top of its scale).
The scorers have their cut-off in a line marked `@Rank`, which Quepid lets its users change; so does this script.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import cases, ordered, shared_queries, write

SCORERS = ("ndcg", "dcg", "cg", "ap", "p", "rr", "err")
CUTS = (3, 5, 10)
TOP = 4

RUNNER = """
const vm = require('vm');
const [jobs, scripts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const out = jobs.map(job => Object.fromEntries(Object.entries(scripts).map(([name, text]) => {
  const world = vm.createContext({docs: job.docs, bestDocs: job.best, max: job.max, total: job.docs.length, console});
  const value = vm.runInContext(text + '\\ngetScore();', world);
  return [name, Number.isNaN(value) ? 'NaN' : value];
})));
console.log(JSON.stringify(out));
"""


def scripts(checkout: Path) -> dict[str, str]:
    logic = (checkout / "lib/scorer_logic.js").read_text(encoding="utf-8")
    made = {}
    for name in SCORERS:
        text = (checkout / f"db/scorers/{name}@10.js").read_text(encoding="utf-8")
        for cut in CUTS:
            made[f"{name}@{cut}"] = logic + "\n" + re.sub(r"k = 10(?=;?\s*// @Rank)", f"k = {cut}", text)
    return made


def job(judged: dict[str, int], run: dict[str, float]) -> dict[str, Any]:
    hits = [{"id": doc} | ({"rating": judged[doc]} if doc in judged else {}) for doc in ordered(run)]
    best = sorted(({"id": doc, "rating": grade} for doc, grade in judged.items()), key=lambda each: -each["rating"])
    return {"docs": hits, "best": best, "max": TOP}


def ran(jobs: list[dict[str, Any]], texts: dict[str, str]) -> list[dict[str, float]]:
    done = subprocess.run(
        ["node", "-e", RUNNER], input=json.dumps([jobs, texts]), capture_output=True, text=True, check=True
    )
    return [
        {name: math.nan if value == "NaN" else value for name, value in each.items()}
        for each in json.loads(done.stdout)
    ]


def evaluated(case: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    queries = list(shared_queries(case))
    results = ran([job(judged, run) for _, judged, run in queries], texts)
    values = {name: {query: each[name] for (query, _, _), each in zip(queries, results, strict=True)} for name in texts}
    return {
        "per_query": values,
        "mean": {name: sum(each.values()) / len(each) for name, each in values.items()},
    }


if __name__ == "__main__":
    texts = scripts(Path(sys.argv[1]))
    write("quepid", version="o19s/quepid, scorers at 218dcdd, 690c986, 9e48483, d748a39, 1c310b4, ce02cb0; logic at 3bfa92d",
          made="its scorers under node; the mean is over queries with hits and ratings, as scoreAll takes it; null is NaN",
          max=TOP, cases={case["name"]: evaluated(case, texts) for case in cases()})  # fmt: skip
