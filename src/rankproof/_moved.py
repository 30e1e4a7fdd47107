"""Old names that the docs named, of modules and functions: they work for one more release, with a warning."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

# The old paths that the docs named, and the new ones.
MOVED = {
    f"rankproof.{old}": f"rankproof.{new}"
    for old, new in {
        "api.export": "scoring.scores",
        "core.derivation.registry": "core.derive",
        "core.derivation.steps": "core.derive",
        "core.paper": "core.derive",
        "core.parameters": "core.measure",
        "core.preferences": "core.judgments",
        "core.rules": "core.conventions",
        "io.spans": "io.judgments",
        "judging.lexical.judge": "judging.lexical_judge",
        "judging.lexical.support": "judging.lexical_judge",
        "scoring.export": "scoring.scores",
        "stats.flips": "stats.paired",
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
        new = MOVED[module.__name__]
        import_module("rankproof.errors").warn_of(module.__name__, new, "import it from there")
        inside = vars(import_module(new))
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
