"""Pages in Markdown: what belongs together stays together, and every chunk knows its headings."""

from __future__ import annotations

import pytest

from rankproof.bench.chunk import markdown
from rankproof.bench.chunk.headings import blocks

PAGE = """---
title: Refunds
---

Before any heading.

# Refunds

## By card

They take 30 days. Write to us when they take longer.

- first step
- second step

  with a second paragraph

### Abroad

| country | days |
|---------|-----:|
| France  | 40   |
| Peru    | 60   |

## In cash

```sh
# not a heading
pay --now

| not | a table |
```

Contact
-------

Write to us.
"""


def headings(text: str, size: int = 200) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.headings, chunk.text) for chunk in markdown(size)(text)]


def test_sections_and_their_headings() -> None:
    assert [path for path, _ in headings(PAGE)] == [
        (),
        ("Refunds", "By card"),
        ("Refunds", "By card", "Abroad"),
        ("Refunds", "In cash"),
        ("Refunds", "Contact"),
    ]
    assert headings(PAGE)[1][1].startswith("# Refunds\n\n## By card\n\nThey take"), "a heading stays with what follows"


@pytest.mark.parametrize("size", [1, 3, 8, 20])
def test_lists_tables_code_and_headings_are_whole_at_any_size(size: int) -> None:
    chunks = [text for _, text in headings(PAGE, size)]
    for whole in (
        "title: Refunds\n---",
        "- first step\n- second step\n\n  with a second paragraph",
        "| country | days |\n|---------|-----:|\n| France  | 40   |\n| Peru    | 60   |",
        "```sh\n# not a heading\npay --now\n\n| not | a table |\n```",
        "Contact\n-------",
    ):
        assert sum(whole in text for text in chunks) == 1, whole


def test_long_paragraphs_are_cut_between_sentences() -> None:
    text = "# Refunds\n\nThey take 30 days. Write to us when they take longer. Or call.\n"
    assert [text for _, text in headings(text, 8)] == [
        "# Refunds\n\nThey take 30 days.",
        "Write to us when they take longer.",
        "Or call.",
    ]


def test_headings_of_all_kinds() -> None:
    text = "# One #\na\n###### Six\nb\n\n####### not one\n#neither\nTwo\nlines\n===\nc\n   ## Three  ##  \nd\n#\ne"
    found = [(block.level, block.title) for block in blocks(text) if block.kind == "heading"]
    assert found == [(1, "One"), (6, "Six"), (1, "####### not one #neither Two lines"), (2, "Three"), (1, "")]


def kinds(text: str) -> list[str]:
    return [block.kind for block in blocks(text) if block.kind != "blank"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\ncode\n", ["code"]),  # a fence that is never closed
        ("~~~~\n~~~\n```\n~~~~\ntext", ["code", "text"]),  # a fence is closed by its own kind, as long
        ("``` a`b\ntext", ["text"]),  # no fence
        ("text\n```\ncode\n```\ntext", ["text", "code", "text"]),
        ("- a\n\n  ```\n  # code\n  ```\n- b", ["list"]),  # code in a list
        ("- a\nlazy line\n\ntext", ["list", "text"]),
        ("* a\n  * b\n    * c\n\n* d", ["list"]),
        ("1) a\n2) b", ["list"]),
        ("- a\n# Heading", ["list", "heading"]),
        ("* * *\ntext", ["text"]),  # a rule is no list
        ("text\n- a", ["text", "list"]),
        ("-5 degrees", ["text"]),
        ("a | b\n- | -\n1 | 2\n\ntext", ["table", "text"]),
        ("intro\n| a |\n|---|\n| 1 |", ["text", "table"]),
        ("a | b\nc | d", ["text"]),  # no line of strokes, no table
        ("a | b\n--- x | ---", ["text"]),
        ("    code\n\n    code\n\ntext", ["code", "text"]),
        ("text\n    goes on", ["text"]),
        ("---\na: 1\n---\ntext", ["code", "text"]),
        ("---\n\ntext", ["text", "text"]),
        ("> quoted\n> text", ["text"]),
        ("a\r\n\r\n# B\r\n\r\n- c\r\n- d\r\n", ["text", "heading", "list"]),
    ],
)
def test_blocks(text: str, expected: list[str]) -> None:
    found = kinds(text)
    assert found == expected
    assert "".join(text[block.start : block.end] for block in blocks(text)) == text


def test_a_heading_with_nothing_under_it_is_kept() -> None:
    assert headings("# One\n\n# Two\n\ntext\n\n## Three") == [
        (("One",), "# One"),
        (("Two",), "# Two\n\ntext"),
        (("Two", "Three"), "## Three"),
    ]


def test_levels_that_skip_and_come_back() -> None:
    text = "### Deep\na\n# Top\nb\n### Low\nc\n## Mid\nd"
    assert [path for path, _ in headings(text)] == [("Deep",), ("Top",), ("Top", "Low"), ("Top", "Mid")]
