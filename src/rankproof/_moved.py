"""Old names of modules and functions: they work for one more release, with a warning that names the new one."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

MOVED = {
    "rankproof.api.export": "rankproof.scoring.scores",
    "rankproof.arguments": "rankproof.suggestions",
    "rankproof.bench.retrieve.words": "rankproof.text.tokens",
    "rankproof.compat.trec_eval.program": "rankproof.compat.trec_eval",
    "rankproof.compat.trec_eval.results": "rankproof.compat.trec_eval.columns",
    "rankproof.core.derivation.registry": "rankproof.core.paper",
    "rankproof.core.derivation.steps": "rankproof.core.paper",
    "rankproof.core.measures.graded": "rankproof.core.measures.ndcg_and_err",
    "rankproof.core.measures.incomplete": "rankproof.core.measures.incomplete_judgments",
    "rankproof.core.measures.interpolated": "rankproof.core.measures.interpolated_precision",
    "rankproof.core.measures.ranked": "rankproof.core.measures.rr_and_ap",
    "rankproof.core.orders": "rankproof.core.expected_and_extreme_values",
    "rankproof.core.parameters": "rankproof.core.measure",
    "rankproof.core.preferences": "rankproof.core.judgments",
    "rankproof.core.rules": "rankproof.core.conventions",
    "rankproof.io.spans": "rankproof.io.judgments",
    "rankproof.judging.lexical.judge": "rankproof.judging.lexical_judge",
    "rankproof.judging.lexical.profile": "rankproof.judging.lexical_profile",
    "rankproof.judging.lexical.support": "rankproof.judging.lexical_judge",
    "rankproof.judging.models.budget": "rankproof.judging.models",
    "rankproof.judging.models.limits": "rankproof.judging.models",
    "rankproof.monitoring.user_model": "rankproof.monitoring.simulated_users",
    "rankproof.scoring.export": "rankproof.scoring.scores",
    "rankproof.stats.detection": "rankproof.stats.detectable_difference",
    "rankproof.stats.flips": "rankproof.stats.paired",
    "rankproof.stats.gate": "rankproof.comparing.gate_decision",
    "rankproof.stats.gate_decision": "rankproof.comparing.gate_decision",
    "rankproof.stats.power": "rankproof.stats.significance",
    "rankproof.stats.rank_correlation": "rankproof.stats.agreement",
    "rankproof.stats.rankings": "rankproof.stats.agreement",
    "rankproof.text.cuts": "rankproof.text.tokens",
}
FOLDERS = {name.rsplit(".", 1)[0] for name in MOVED}


class OldNames:
    """Finds modules by their old names, if Python finds none."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module at its new place, or a folder on the way to it."""
        if name not in MOVED and name not in FOLDERS:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=name in FOLDERS)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """A module of its own for the old name."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill it with everything from the new place."""
        if module.__name__ not in MOVED:
            return
        new = MOVED[module.__name__]
        import_module("rankproof.errors").warn_of(module.__name__, new, "import it from there")
        inside = vars(import_module(new))
        module.__dict__.update({name: each for name, each in inside.items() if not name.startswith("__")})


def old_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a module, so that old names of its functions still work: `{old: new}`."""

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import_module("rankproof.errors").warn_of(f"{module}.{name}", names[name])
        return getattr(sys.modules[module], names[name])

    return get


def find_old_names() -> None:
    """Install the finder, last and once."""
    if not any(type(each).__name__ == OldNames.__name__ for each in sys.meta_path):
        sys.meta_path.append(OldNames())
