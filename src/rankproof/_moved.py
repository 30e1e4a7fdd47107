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

# What an old module held, in the new one; or in several.
MOVED = {
    f"rankproof.{old}": " ".join(f"rankproof.{each}" for each in new.split())
    for old, new in {
        "api.export": "scoring.scores",
        "arguments": "suggestions",
        "bench.retrieve.words": "text.tokens",
        "cli.reasons": "cli.explanations",
        "compat.trec_eval.program": "compat.trec_eval",
        "compat.trec_eval.results": "compat.trec_eval.columns",
        "core.derivation.registry": "core.derive",
        "core.derivation.steps": "core.derive",
        "core.paper": "core.derive",
        "core.measures.graded": "core.measures.ndcg_and_err",
        "core.measures.incomplete": "core.measures.incomplete_judgments",
        "core.measures.interpolated": "core.measures.interpolated_precision",
        "core.measures.ranked": "core.measures.rr_and_ap",
        "core.merge": "core.mergeable_summaries",
        "core.orders": "core.expected_and_extreme_values",
        "core.parameters": "core.measure scoring.catalogue",
        "core.preferences": "core.judgments",
        "core.rules": "core.conventions",
        "io.roles": "io.column_roles",
        "io.spans": "io.judgments",
        "judging.lexical.judge": "judging.lexical_judge judging.lexical_profile judging.trust",
        "judging.lexical.profile": "judging.lexical_profile",
        "judging.lexical.support": "judging.lexical_judge",
        "judging.metrics.peers": "judging.metrics.other_tools",
        "judging.models.budget": "judging.models judging.models.judge judging.models.calls",
        "judging.models.limits": "judging.models judging.models.judge judging.models.calls",
        "monitoring.change": "monitoring.change_point",
        "monitoring.spans": "monitoring.otel_spans",
        "monitoring.sums": "monitoring.window_sums",
        "monitoring.user_model": "monitoring.simulated_users",
        "scoring.export": "scoring.scores",
        "stats.detection": "stats.detectable_difference",
        "stats.flips": "stats.paired stats.confidence",
        "stats.gate": "comparing.gate_decision",
        "stats.gate_decision": "comparing.gate_decision",
        "stats.power": "stats.significance",
        "stats.rank_correlation": "stats.agreement stats.corrections",
        "stats.rankings": "stats.agreement stats.corrections",
    }.items()
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
        new = MOVED[module.__name__].split()
        import_module("rankproof.errors").warn_of(module.__name__, " and ".join(new), "import it from there")
        for each in reversed(new):
            inside = vars(import_module(each))
            module.__dict__.update({name: there for name, there in inside.items() if not name.startswith("__")})


def old_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a module, so that old names of its functions still work: `{old: new}`, here or elsewhere."""

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import_module("rankproof.errors").warn_of(f"{module}.{name}", names[name])
        place, _, new = names[name].rpartition(".")
        return getattr(import_module(place or module), new)

    return get


def find_old_names() -> None:
    """Install the finder, last and once."""
    if not any(type(each).__name__ == OldNames.__name__ for each in sys.meta_path):
        sys.meta_path.append(OldNames())
