"""Print the oldest versions that pyproject.toml allows, one `name==version` a line, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

FORM = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\d.]+)")


def lower_bounds() -> dict[str, str]:
    """Every package that has a lower bound, those of the extras and of the tests included."""
    page = Path(__file__).resolve().parents[1] / "pyproject.toml"
    data = tomllib.loads(page.read_text(encoding="utf-8"))
    lists = [
        data["project"]["dependencies"],
        *data["project"]["optional-dependencies"].values(),
        *data["dependency-groups"].values(),
    ]
    found = [FORM.match(line) for lines in lists for line in lines]
    return {match["name"]: match["version"] for match in found if match}


if __name__ == "__main__":
    for name, version in sorted(lower_bounds().items()):
        print(f"{name}=={version}")
