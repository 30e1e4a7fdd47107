"""What holds for every chunker and every text."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankproof.bench.chunk import Chunk, Chunker, fixed, markdown, recursive, sentences, sliding
from rankproof.text.tokens import tokens
from tests.each import with_each
from tests.work import check_growth

from .strategies import CLUSTERS, blocks, chunkers, texts

EVERY = [
    fixed(5),
    fixed(5, 2),
    fixed(7, 3, "characters"),
    sliding(3, 1),
    sliding(4, 4, "words"),
    sentences(6, 1),
    sentences(9, 0, "characters"),
    recursive(6),
    recursive(8, 3),
    recursive(9, 2, "characters"),
    markdown(6),
    markdown(12, "characters"),
]


def covered(text: str, chunks: list[Chunk]) -> bool:
    """Whether every character that is not white space is in a chunk."""
    seen = bytearray(len(text))
    for chunk in chunks:
        seen[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    return all(kept or text[place].isspace() for place, kept in enumerate(seen))


@given(texts, chunkers)
@example(["e\u0301"] * 3, fixed(1, unit="characters"))
@example(["\r\n", " ", "e\u0301"], markdown(1))
def test_places_are_exact_nothing_is_lost_no_character_is_cut(parts: list[str], chunker: Chunker) -> None:
    text = "".join(parts)
    chunks = chunker(text)
    whole = {0}
    for part in parts:
        whole.add(max(whole) + len(part))
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert {chunk.start, chunk.end} <= whole, "a character was cut"
    assert covered(text, chunks)
    assert len({(chunk.start, chunk.end) for chunk in chunks}) == len(chunks)
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)


@given(st.text(max_size=200), chunkers)
def test_any_text_at_all(text: str, chunker: Chunker) -> None:
    chunks = chunker(text)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert covered(text, chunks)
    assert chunks == chunker(text)


@given(texts, chunkers)
@example(["a"] * 7 + ["e\u0301"], recursive(8, 7, "characters"))
def test_no_chunk_is_longer_than_asked(parts: list[str], chunker: Chunker) -> None:
    text = "".join(parts)
    unit, size = str(chunker.options["unit"]), int(chunker.options["size"])
    if unit == "sentences" or chunker.name == "markdown":
        return
    # The one thing that is kept whole even so is what a reader sees as one character.
    longest = max(map(len, CLUSTERS)) if unit == "characters" else 0
    for chunk in chunker(text):
        length = len(tokens(chunk.text)) if unit == "words" else len(chunk.text)
        assert length <= max(size, longest)


@given(blocks, st.integers(1, 30))
def test_blocks_of_a_page_are_never_cut(page: list[tuple[str, bool]], size: int) -> None:
    text, places = "", []
    for block, kept in page:
        start = len(text)
        text += block + "\n\n"
        if kept:
            places.append((start, start + len(block)))
    chunks = markdown(size)(text)
    assert covered(text, chunks)
    for start, end in places:
        tight = len(text[start:end]) - len(text[start:end].lstrip())
        assert any(chunk.start <= start + tight and end <= chunk.end for chunk in chunks), text[start:end]


@given(blocks, st.integers(1, 30))
def test_a_chunk_of_a_page_is_within_its_size_or_has_one_thing_that_cannot_be_cut(
    page: list[tuple[str, bool]], size: int
) -> None:
    plain = "\n\n".join(block for block, kept in page if not kept)
    assert all(len(tokens(chunk.text)) <= size for chunk in markdown(size)(plain))


APART = [fixed(5), fixed(7, unit="characters"), sliding(4, 4), sentences(6), recursive(6), markdown(6)]


@pytest.mark.parametrize("chunker", APART, ids=str)
def test_chunks_without_overlap_are_apart(chunker: Chunker) -> None:
    chunks = chunker("One two three. Four five?\n\n- six\n- seven\n\nEight nine ten eleven twelve. " * 9)
    assert len(chunks) > 9
    assert all(one.end <= other.start for one, other in pairwise(chunks))


@pytest.mark.parametrize("chunker", EVERY, ids=str)
@with_each("text", ["", " ", "\n\t\u3000", "\ufeff", "a", "é", "\ud800", "\u0301"])
def test_the_smallest_texts(chunker: Chunker, text: str) -> None:
    chunks = chunker(text)
    assert [chunk.text for chunk in chunks] == ([text] if text.strip() else [])


@pytest.mark.parametrize("chunker", EVERY, ids=str)
def test_a_chunker_is_a_plain_value(chunker: Chunker) -> None:
    again = pickle.loads(pickle.dumps(chunker))
    assert again == chunker
    assert hash(again) == hash(chunker)
    assert again.settings == chunker.settings
    assert again("One two. Three four.") == chunker("One two. Three four.")
    assert sum(chunker == other for other in EVERY) == 1
    assert len({repr(each.settings) for each in EVERY}) == len(EVERY)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chunker", [fixed(40, 4), recursive(40, 4), sentences(40), markdown(40), sliding()], ids=str
)  # many chunks of little text
@pytest.mark.parametrize(
    ("piece", "times"), [("word ", 1_200), ("x", 20_000), ("- item\n", 600), ("One. ", 700), ("中", 1_200)]
)
def test_cutting_four_times_the_text_is_four_times_the_work(chunker: Chunker, piece: str, times: int) -> None:
    check_growth(lambda n: chunker(piece * n), times)
    assert covered(piece * times, chunker(piece * times))
