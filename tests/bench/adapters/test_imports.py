"""Code of the user's by its name or its file."""

from __future__ import annotations

import json
from pathlib import Path

from rankproof.bench.adapters.imports import imported, loaded


def test_a_file_is_known_by_its_path_though_another_module_has_its_name(tmp_path: Path) -> None:
    file = tmp_path / "json.py"
    file.write_text("def find(text):\n    return ['d1']\n")
    assert loaded(str(file)) is None
    assert imported(f"{file}:find", "retriever")("a question") == ["d1"]
    module = loaded(str(file))
    assert module is not None
    assert module.__file__ == str(file)
    assert loaded("json") is json
