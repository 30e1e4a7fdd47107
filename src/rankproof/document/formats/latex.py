"""The tables of a document in LaTeX, in booktabs style, for papers; what is said beside them as comments above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import PAPER, Block, Bullets, Code, Document, Heading, Paragraph, Table
from rankproof.document.terminal import clean

NEEDS = "needs: booktabs, textcomp"
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "'": r"\textquotesingle{}",
}
"""Square brackets too: after a line's end LaTeX would take one as an argument."""
_RAISED = {"†": r"\dagger", "‡": r"\ddagger"}


def text(document: Document) -> str:
    """Comments, then each table as a tabular; one that a heading stands above floats under it as its caption."""
    every = [block for part in document.shown(PAPER) for block in part.blocks]
    said, tables = [NEEDS], []
    for block, above in zip(every, [None, *every], strict=False):
        if isinstance(block, Table) and block.columns:
            tables.append(_float(above.text, block) if isinstance(above, Heading) else _tabular(block))
    for block, below in zip(every, [*every[1:], None], strict=True):
        said += [] if isinstance(block, Heading) and isinstance(below, Table) else _said(block)
    said = list(dict.fromkeys(said))
    return "\n".join([*(f"% {clean(each)}" for each in said if each), "\n\n".join(tables)]) + "\n"


register(OutputFormat("latex", text, (".tex",)))


def escape(text: str) -> str:
    r"""The text as LaTeX sets it unchanged.

    >>> escape("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(_SPECIAL.get(char, char) for char in clean(text))


def _said(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph | Heading | Code):
        yield block.text
    if isinstance(block, Bullets):
        for label, item, more, under in block.parts():
            yield from (f"{label}: {item}" if label else item, *more, *under)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], sides: Sequence[bool] = ()) -> list[str]:
    """A tabular of escaped cells; `sides` say which columns are flush right, else all but the first."""
    spec = "".join("r" if right else "l" for right in sides or [n > 0 for n in range(len(headings))])
    opening = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _row(headings), r"\midrule"]
    return [*opening, *map(_row, rows), r"\bottomrule", r"\end{tabular}"]


def _float(caption: str, block: Table) -> str:
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escape(caption)}}}"]
    return "\n".join([*lines, _tabular(block), r"\end{table}"])


def _tabular(block: Table) -> str:
    headings = [escape(each.heading.replace("\n", " ")) for each in block.columns]
    rows = [line for row in block.rows for line in _rows(row)]
    caption = [f"% {clean(block.caption)}"] if block.caption else []
    return "\n".join([*caption, *table(headings, rows, [each.right for each in block.columns])])


def _rows(cells: tuple[str, ...]) -> Iterator[list[str]]:
    """A row, and below it what stands under its cells."""
    yield [_cell(each) for each in cells]
    under = [getattr(each, "under", "") for each in cells]
    if any(under):
        yield [rf"\scriptsize {escape(each)}" if each else "" for each in under]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: str) -> str:
    made, raised = escape(cell), getattr(cell, "raised", "")
    if getattr(cell, "best", False):
        made = rf"\textbf{{{made}}}"
    return f"{made}$^{{{_RAISED.get(raised) or rf'{escape(raised)}'}}}$" if raised else made
