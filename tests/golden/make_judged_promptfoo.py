"""Golden values of promptfoo's matchers: its own functions run under node on replies that hold the given verdicts.

npm pack promptfoo && tar xzf promptfoo-*.tgz && python make_judged_promptfoo.py package

The three matchers and the functions they call are taken from the package's text; what fetches prompts and calls a
model is replaced by a reply that is given. A context is one text, as promptfoo has it unless it is given a list.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import write

MATCHERS = (
    "matchesContextRecall",
    "matchesContextRelevance",
    "matchesContextFaithfulness",
    "serializeContext",
)
HELPERS = ("splitIntoSentences", "splitTextIntoSentences", "tryParse")
CONSTANTS = (
    *("CONTEXT_RECALL_ATTRIBUTED_TOKEN", "CONTEXT_RECALL_NOT_ATTRIBUTED_TOKEN", "CONTEXT_RELEVANCE_BAD"),
    "ENUMERATION_MARKER_ONLY",
)
STUBS = """
const CONTEXT_RECALL = "", CONTEXT_RELEVANCE = "";
const CONTEXT_FAITHFULNESS_LONGFORM = "", CONTEXT_FAITHFULNESS_NLI_STATEMENTS = "";
let replies = [];
const getAndCheckProvider = async () => ({}), getDefaultProviders = async () => ({});
const loadRubricPrompt = async () => "", renderLlmRubricPrompt = async () => "";
const callProviderWithContext = async () => ({ output: replies.shift() });
const normalizeMatcherTokenUsage = () => ({}), accumulateTokenUsage = () => {};
const invariant = (yes, words) => { if (!yes) throw new Error(words); };
const fail = (words) => { throw new Error(words); };
"""
RUN = """
(async () => {
  const all = {};
  for (const [name, each] of Object.entries(JSON.parse(require("fs").readFileSync(0, "utf8")))) {
    const score = async (f, given) => { replies = given; return (await f()).score; };
    all[name] = {
      context_recall: await score(() => matchesContextRecall(each.context, "", 0), [each.recall]),
      context_relevance: await score(() => matchesContextRelevance("", each.context, 0), [each.relevance]),
      context_faithfulness: await score(() => matchesContextFaithfulness("", "", each.context, 0), each.faithfulness),
    };
  }
  console.log(JSON.stringify(all));
})();
"""
NAMES = ("Anna", "Bert", "Carl", "Dora", "Emil", "Fred")


def program(package: Path) -> str:
    """Their functions, our stubs, and the loop over the cases."""
    index = (package / "dist/src/index.js").read_text()
    graders = (package / "dist/src" / re.findall(r'from "\./(graders-[\w-]+\.js)"', index)[0]).read_text()
    parts = [STUBS, *(_constant(graders, name) for name in CONSTANTS)]
    parts += [_function(index, name) for name in MATCHERS] + [_function(graders, name) for name in HELPERS]
    return "\n".join([*parts, RUN])


def _function(source: str, name: str) -> str:
    found = re.search(rf"^(?:async )?function {name}\(.*?^}}", source, re.MULTILINE | re.DOTALL)
    return found[0] if found else sys.exit(f"no function {name} in this version")


def _constant(source: str, name: str) -> str:
    found = re.search(rf"^const {name} = .*;$", source, re.MULTILINE)
    return found[0] if found else sys.exit(f"no constant {name} in this version")


def replies(case: dict[str, Any]) -> dict[str, Any]:
    """What a model would have replied that judged so."""
    stated = [
        (f"{name} stands in {place}.", bears)
        for place, row in enumerate(case["statements_bear"])
        for name, bears in zip(NAMES, row, strict=False)
    ]
    held = [1 in row for row in case["reference_by_contexts"]]
    words = {True: "[Attributed]", False: "[Not Attributed]"}
    supported = [1 in row for row in case["answer_by_contexts"]]
    verdicts = "\n".join(f"Verdict: {'yes' if yes else 'no'}" for yes in supported)
    return {
        "context": " ".join(text for text, _ in stated),
        "recall": "\n".join(f"{i}. It is so. {words[yes]}" for i, yes in enumerate(held, 1)),
        "relevance": " ".join(text for text, bears in stated if bears) or "Insufficient Information",
        "faithfulness": ["\n".join(f"It is so {i}." for i in range(len(supported))), verdicts],
    }


if __name__ == "__main__":
    package = Path(sys.argv[1])
    cases = json.loads(Path(__file__).with_name("judged_cases.json").read_text())
    asked = json.dumps({name: replies(case) for name, case in cases.items()})
    script = Path(sys.argv[1]) / "run_matchers.cjs"
    script.write_text(program(package))
    ran = subprocess.run(["node", str(script)], input=asked, capture_output=True, text=True, check=True)
    number = json.loads((package / "package.json").read_text())["version"]
    write(
        "judged_promptfoo",
        version=f"promptfoo {number}",
        made="its matchers run under node on replies that hold given verdicts",
        cases=json.loads(ran.stdout),
    )
