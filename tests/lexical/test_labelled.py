"""How well probabilities order pairs that people have labelled: no worse than the page about this judge says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rankproof.judging.lexical.relations import settle
from rankproof.judging.verdicts import Verdict

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]
SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_lexical_table.py"
FLOORS = {
    "BEGIN: response, knowledge": 0.94,
    "WiCE: claim, whole page (supported)": 0.77,
    "WiCE: claim, whole page (at least": 0.83,
    "CLAPNQ: answer, sentence": 0.88,
    "CLAPNQ: question, passage": 0.80,
    "CLAPNQ: question, sentence": 0.78,
    "CLAPNQ: question, answer": 0.96,
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_lexical_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def labelled(script: ModuleType, shared_data: Path) -> dict:
    return script.labelled(shared_data / "judges")


@pytest.mark.parametrize("start", FLOORS)
def test_the_order_is_as_good_as_said(script: ModuleType, labelled: dict, start: str) -> None:
    (name,) = (name for name in labelled if name.startswith(start))
    pairs = labelled[name]
    scores = [script.probability(pair.ask) for pair in pairs]
    assert script.auroc(scores, [pair.label for pair in pairs]) >= FLOORS[start]


def test_what_it_settles_is_mostly_right(labelled: dict) -> None:
    for start in ("BEGIN", "WiCE: claim, whole page (supported)"):
        (name,) = (name for name in labelled if name.startswith(start))
        settled = [(settle(pair.ask), pair.label) for pair in labelled[name]]
        agree = [(v.value == 1) == label for v, label in settled if isinstance(v, Verdict)]
        assert len(agree) >= 0.15 * len(settled)
        assert sum(agree) >= 0.9 * len(agree)
