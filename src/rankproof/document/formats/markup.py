"""A document as markdown, for issues, pull requests and notebooks; its tables in LaTeX, for papers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import PAGE, PAPER, Block, Bullets, Cell, Code, Document, Heading, Paragraph, Table
from rankproof.document.terminal import clean

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_BEGINS = re.compile(r"^([-+]|\d+[.)])(?= )")
MARK = r"\*"


def as_markdown(document: Document) -> str:
    """Headings, paragraphs, tables and lists with an empty line between."""
    return "\n\n".join(filter(None, map(_block, document.blocks(PAGE)))) + "\n"


def escape(text: str) -> str:
    """The text as markdown shows it unchanged.

    >>> escape("a|b_c*")
    'a\\\\|b\\\\_c\\\\*'
    """
    return _SPECIAL.sub(r"\\\1", clean(text))


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _line(block.text)
    if isinstance(block, Heading):
        return " ".join(filter(None, ("#" * block.level, block.mark, _line(block.text))))
    if isinstance(block, Bullets):
        return "\n".join(_listed(block))
    if isinstance(block, Code):
        fence = "`" * (3 + block.text.count("```"))
        return f"{fence}\n{clean(block.text)}\n{fence}"
    if isinstance(block, Table) and block.columns:
        caption = [f"**{_line(block.caption)}**", ""] if block.caption else []
        headings = [escape(each.heading.replace("\n", " ")) for each in block.columns]
        rows = [list(map(_cell, row)) for row in block.rows]
        rule = ["---:" if each.right else "---" for each in block.columns]
        lines = ("| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows))
        legend = ["", _line(block.marked_legend("*"))] if block.marked_legend() else []
        return "\n".join([*caption, *lines, *legend])
    return ""


def _listed(block: Bullets) -> Iterator[str]:
    """Lines of an item are separated by a backslash; entries under it are a nested list."""
    for n, (label, item, more, under) in enumerate(block.parts(), 1):
        mark = f"{n}." if block.numbered else "-"
        lines = [f"{label}: {item}" if label else item, *more]
        yield f"{mark} " + f"\\\n{' ' * len(mark)} ".join(map(_line, lines))
        yield from (f"{' ' * len(mark)} - {_line(each)}" for each in under)


def _line(text: str) -> str:
    """Running text in one line; text that would begin a list is escaped too.

    >>> _line("- a 1. b"), _line("12. May")
    ('\\\\- a 1. b', '12\\\\. May')
    """
    return _BEGINS.sub(lambda m: f"{m[1][:-1]}\\{m[1][-1]}", escape(" ".join(text.split())))


def _cell(cell: str) -> str:
    mark, under = (MARK if cell.best else "", escape(cell.under)) if isinstance(cell, Cell) else ("", "")
    return f"{escape(cell)}{mark} {under}".rstrip()


NEEDS = "needs: booktabs, textcomp"
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{char: f"{{{char}}}" for char in "[]"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
}
"""Square brackets too: after a line's end LaTeX would take one as an argument."""
_RAISED = {"†": r"\dagger", "‡": r"\ddagger"}


def as_latex(document: Document) -> str:
    """Comments, then each table as a tabular; a table with a heading above it becomes a float with this caption."""
    every = list(document.blocks(PAPER))
    said, tables = [NEEDS], []
    for above, block, below in zip([None, *every], every, [*every[1:], None], strict=False):
        if isinstance(block, Table) and block.columns:
            caption = rf"\caption{{{escape_latex(above.text)}}}" if isinstance(above, Heading) else ""
            around = [r"\begin{table}", r"\centering", caption, _tabular(block), r"\end{table}"]
            tables.append("\n".join(around) if caption else _tabular(block))
        if not (isinstance(block, Heading) and isinstance(below, Table)):
            said += _comments(block)
    said = list(dict.fromkeys(said))
    return "\n".join([*(f"% {clean(each)}" for each in said if each), "\n\n".join(tables)]) + "\n"


def escape_latex(text: str) -> str:
    r"""The text as LaTeX sets it unchanged.

    >>> escape_latex("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(_LATEX.get(char, char) for char in clean(text))


def _comments(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph | Heading | Code):
        yield block.text
    if isinstance(block, Bullets):
        for label, item, more, under in block.parts():
            yield from (f"{label}: {item}" if label else item, *more, *under)
    if isinstance(block, Table):
        yield block.marked_legend()


def _tabular(block: Table) -> str:
    headings = [escape_latex(each.heading.replace("\n", " ")) for each in block.columns]
    sides = [each.right for each in block.columns]
    rows = [line for row in block.rows for line in _rows(row, sides)]
    caption = [f"% {clean(block.caption)}"] if block.caption else []
    spec = "".join("r" if right else "l" for right in sides)
    opening = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _latex_row(headings), r"\midrule"]
    return "\n".join([*caption, *opening, *map(_latex_row, rows), r"\bottomrule", r"\end{tabular}"])


def _rows(cells: tuple[str, ...], numbers: Sequence[bool]) -> Iterator[list[str]]:
    """A row, and a second one for the text under its cells."""
    yield [_latex_cell(each, number) for each, number in zip(cells, numbers, strict=True)]
    under = [each.under if isinstance(each, Cell) else "" for each in cells]
    if any(under):
        yield [rf"\scriptsize {_number(each)}" if each else "" for each in under]


def _number(text: str) -> str:
    """Numbers with minus signs, where LaTeX would set a hyphen.

    >>> print(_number("-0.5 [-.022, +.101]"))
    $-$0.5 {[}$-$.022, +.101{]}
    """
    return re.sub(r"(?<![\w.-])-(?=\.?\d)", "$-$", escape_latex(text))


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(cell: str, number: bool) -> str:
    made = _number(cell) if number else escape_latex(cell)
    if not isinstance(cell, Cell):
        return made
    made = rf"\textbf{{{made}}}" if cell.best else made
    return f"{made}$^{{{_RAISED.get(cell.raised) or escape_latex(cell.raised)}}}$" if cell.raised else made


register(OutputFormat("markdown", as_markdown, (".md", ".markdown")), OutputFormat("latex", as_latex, (".tex",)))
