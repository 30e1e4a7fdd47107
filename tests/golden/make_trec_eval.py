"""Golden values of trec_eval 9.0.x, by way of pytrec_eval-terrier.

    python -m venv env && env/bin/pip install pytrec_eval-terrier && env/bin/python make_trec_eval.py

Each case runs in a process of its own: some kill the interpreter, and that is recorded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from typing import Any

from common import cases, write

MEASURES = {
    "map", "gm_map", "map_cut.1,3,5,10,100", "ndcg", "ndcg_cut.1,3,5,10,100", "recip_rank", "P.1,3,5,10,100",
    "recall.1,3,5,10,100", "success.1,3,5,10", "Rprec", "Rprec_mult.0.5,1.0,2.0", "bpref", "infAP", "11pt_avg",
    "iprec_at_recall", "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "relative_P.1,3,5,10,100", "G", "binG",
    "ndcg_rel", "Rndcg", "utility", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
}  # fmt: skip


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(case["judgments"], MEASURES)
    found: dict[str, dict[str, float]] = evaluator.evaluate(case["run"])
    names = sorted({name for values in found.values() for name in values})
    return {
        "per_query": {name: {query: values[name] for query, values in found.items()} for name in names},
        "mean": {
            name: pytrec_eval.compute_aggregated_measure(name, [values[name] for values in found.values()])
            for name in names
        },
    }


def apart(case: dict[str, Any]) -> dict[str, Any]:
    ran = subprocess.run([sys.executable, __file__, "-"], input=json.dumps(case), capture_output=True, text=True)
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"error": f"process ended with {ran.returncode}: {last[0]}"}
    return json.loads(ran.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        print(json.dumps(evaluated(json.load(sys.stdin))))
    else:
        made = "through pytrec_eval-terrier; without -c, so queries missing from the run are not in the mean"
        write("trec_eval", version=f"pytrec_eval-terrier {version('pytrec_eval-terrier')} (trec_eval 9)", made=made,
              cases={case["name"]: apart(case) for case in cases()})  # fmt: skip
