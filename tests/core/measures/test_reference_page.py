"""docs/measures.md says what the registry says."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_page_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "make_measures.py"))["page"]()
    written = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert written == made, "run: python docs/make_measures.py"
