"""Code of the user's by its name or its file."""

from __future__ import annotations

import json
from pathlib import Path

from rankproof.bench.adapters import import_named, loaded_module


def test_a_file_is_known_by_its_path_though_another_module_has_its_name(tmp_path: Path) -> None:
    file = tmp_path / "json.py"
    file.write_text("def find(text):\n    return ['d1']\n")
    assert loaded_module(str(file)) is None
    assert import_named(f"{file}:find", "retriever")("a question") == ["d1"]
    module = loaded_module(str(file))
    assert module is not None
    assert module.__file__ == str(file)
    assert loaded_module("json") is json
