"""docs/measures.md says what the registry says."""

from __future__ import annotations

import runpy
from pathlib import Path

from rankproof.document.page import read_terms

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_page_is_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "make_measures.py"))["page"]()
    written = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert written == made, "run: python docs/make_measures.py"


def test_the_glossary_is_what_explain_says():
    made = runpy.run_path(str(DOCS / "make_measures.py"))["glossary"]()
    assert (DOCS / "glossary.md").read_text(encoding="utf-8") == made, "run: python docs/make_measures.py"
    meanings, others = read_terms()
    assert all(meanings.values())
    assert set(others.values()) <= set(meanings), "another word leads to a term that is not there"
    assert not {other.lower() for other in others} & {name.lower() for name in meanings}
