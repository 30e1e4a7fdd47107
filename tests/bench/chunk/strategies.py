"""Texts and chunkers of all kinds, for laws that hold for each."""

from __future__ import annotations

from hypothesis import strategies as st

from rankproof.bench.chunk import Chunker, fixed, markdown, recursive, sentences, sliding

CLUSTERS = [
    *(
        "a",
        "B",
        "7",
        ".",
        ",",
        "!",
        " ",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "#",
        "|",
        "-",
        "*",
        "`",
        "\u00a0",
        "\u3000",
    ),
    *(
        "e\u0301",
        "o\u0302\u0301",
        "n\u0303",
        "\u05e9\u05bc\u05c1",
        "\u0628\u0651\u064e",
    ),  # letters with marks
    *("か\u3099", "\uff76\uff9e", "한", "\u1112\u1161\u11ab", "中", "文", "。", "、"),
    *(
        "\u0915\u094d\u0937\u093f",
        "\u0e01\u0e33",
        "\u0e17\u0e35\u0e48",
        "\u1000\u103b\u1031",
    ),  # syllables of India and beyond
    *("👍🏽", "👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e007f"),
    *("🇩🇪", "🇨🇭"),
    "\ud83d\udc4d",  # two halves of one character, as broken decoders leave them
]
"""What a reader sees as one character each; whatever stands beside it, none joins with its neighbour."""

texts = st.lists(st.sampled_from(CLUSTERS), max_size=120)
"""Texts as lists of such characters."""

PARAGRAPHS = [
    "Refunds are paid within 30 days. Write to us first! Is that clear?",
    "Dr. Smith paid $3.50 in the U.S. in 2024.",
    "返金は30日以内です。「はい」と言った。",
    "one two three four five six seven eight nine ten eleven twelve",
    "a | b without a table",
]
PROTECTED = [
    "# Fees",
    "### Deep heading ###",
    "Title\n=====",
    "- one\n- two is longer\n  and goes on\n- three",
    "1. first\n2. second\n\n   still second\n3. third",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "a | b\n--|:-:\n1 | 2",
    "```python\n# no heading\n- no list\n\n\nx = 1\n```",
    "~~~\n| no | table |\n~~~",
    "    indented = 1\n\n    code = 2",
]
blocks = st.lists(st.tuples(st.booleans(), st.sampled_from(PARAGRAPHS), st.sampled_from(PROTECTED)), max_size=12).map(
    lambda drawn: [(protected if kept else plain, kept) for kept, plain, protected in drawn]
)
"""The blocks of a page, each with whether it must never be cut."""

_sizes = st.integers(1, 40)
_units = st.sampled_from(["words", "characters"])


@st.composite
def _windows(draw: st.DrawFn) -> Chunker:
    size = draw(_sizes)
    return fixed(size, draw(st.integers(0, size - 1)), draw(_units))


@st.composite
def _sliding(draw: st.DrawFn) -> Chunker:
    size = draw(_sizes)
    return sliding(size, draw(st.integers(1, size)), draw(st.sampled_from(["sentences", "words", "characters"])))


@st.composite
def _recursive(draw: st.DrawFn) -> Chunker:
    size = draw(_sizes)
    own = draw(st.sampled_from([(), ("\n\n", ".")]))
    return recursive(size, draw(st.integers(0, size - 1)), draw(_units), own)


chunkers = st.one_of(
    _windows(),
    _sliding(),
    _recursive(),
    st.builds(sentences, _sizes, st.integers(0, 3), _units),
    st.builds(markdown, _sizes, _units),
)
