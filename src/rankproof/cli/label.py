"""`rankproof pool` and `label`: which documents to judge, and judging them, one key per document."""

from __future__ import annotations

import getpass
import os
import sys
import textwrap
from codecs import getincrementaldecoder
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_one_stdin, named_paths
from rankproof.cli.output import Output, check_not_read, end, may_replace, tell_progress, tell_written, write
from rankproof.document.disk import STDOUT
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, shorten

if sys.platform != "win32":
    import select
    import termios
    import tty

if TYPE_CHECKING:
    from rankproof.bench.testset.labels import Labels, LabelSession
    from rankproof.bench.testset.pool import Item, Pool
    from rankproof.core.corpus import Corpus
    from rankproof.store.answers import LabellingSession

KEYS = "0-{highest} grade   s skip   u undo   m whole text   q quit"
SHOWN = 1200
WIDTH = 78


@click.command("label")
@click.argument("pool", required=False)
@options.value("--who", "NAME", "Whose labels these are. [your login]")
@options.value(
    "-o --labels", "FILE", "Where they are kept; given again, other files too.", "labels.jsonl", multiple=True
)
@options.value("--queries", "FILE", "The texts of the queries.")
@options.value("--corpus", "FILE", "The documents: file or folder.")
@options.highest
@options.value("--judgments", "FILE", "Judgments whose documents are not asked about again.")
@options.value("--qrels", "FILE", "Write the result of all labels as judgments, and end.")
@options.value("--add-to", "FILE", "Judgments to write together with the labels.")
@options.force
@options.flag("--agreement", "Say how far people agree, and end.")
@options.form()
def command(
    pool: str | None,
    who: str | None,
    labels: tuple[str, ...],
    queries: str | None,
    corpus: str | None,
    highest: int,
    judgments: str | None,
    qrels: str | None,
    add_to: str | None,
    agreement: bool,
    form: str | None,
) -> None:
    """Judge the documents of a pool, one key per document.

    Every label is on the disk before the next document is shown: end when you
    like, and the same command continues where you stopped. Several people can
    write to one file under their own names.

    \b
    rankproof label pool.jsonl --who ana --queries q.jsonl --corpus docs/
    rankproof label --labels labels.jsonl --agreement
    rankproof label --labels labels.jsonl --qrels new.tsv --add-to old.tsv
    """
    from rankproof.bench.testset.labels import LabelAgreement, LabelSession, last_labels, read_labels, write_label
    from rankproof.bench.testset.pool import read_pool, unjudged_pool
    from rankproof.io.corpora import load_corpus, load_questions_with_words
    from rankproof.io.files import check_path
    from rankproof.io.load import load_judgments

    force = _check(judgments, qrels, add_to)
    if pool is None and qrels is None and not agreement:
        raise UsageError("label: got no pool, expected one to judge. Next: make it with 'rankproof pool RUN...'.")
    if pool is not None and (agreement or qrels is not None):  # which need none, but it may be misspelt
        check_path(pool)
    for other in (path for path in labels[1:] if not os.path.exists(path)):
        raise UsageError(f"--labels: there is no file {other}, and only the first may be new. Next: check its name.")
    given = last_labels(label for path in labels for label in read_labels(path))
    if agreement:
        Output(form or "table", None).write_result(LabelAgreement.of(given))
        return
    if qrels is not None:
        _write_judgments(given, qrels, add_to, force)
        return
    made = read_pool(str(pool))
    if judgments is not None:
        known = load_judgments(judgments)
        _check_meeting(made, known.queries, judgments)
        made = unjudged_pool(made, known.as_dict())
    who = who or getpass.getuser()
    texts = {} if queries is None else load_questions_with_words(queries)
    documents = None if corpus is None else load_corpus(corpus)
    _check_meeting(made, texts, queries or "")
    session = LabelSession(
        *(made, who, given.get(who, {}), partial(write_label, labels[0]), highest),
        lambda: datetime.now(UTC).isoformat(timespec="seconds"),
    )
    go_through(
        session,
        lambda item: _card(session, item, texts, documents),
        lambda item, key: int(key) if key in map(str, range(highest + 1)) else None,
        lambda item, key: f"{key!r} does nothing here: {KEYS.format(highest=highest)}",
        name_of=lambda item: f": {item.query} {item.document}",
        more=lambda item: _body(item, documents, None),
    )
    click.echo(f"{session.done} of {made.work} judged by {who}.")


def go_through(
    session: LabellingSession[Any],
    card: Callable[[Any], str],
    value_of: Callable[[Any, str], int | None],
    help_of: Callable[[Any, str], str],
    *,
    name_of: Callable[[Any], str] = lambda item: "",
    more: Callable[[Any], str] | None = None,
    err: bool = False,
) -> None:
    """Ask until everything is labelled, or the person quits; each decision is kept at once."""
    last = None
    with _keys(err) as next_key:
        while (item := session.next()) is not None:
            if item != last:
                click.echo(card(item), err=err)
            last = item
            key = next_key()
            value = value_of(item, key)
            if key in ("q", "\x04", ""):
                return
            if value is not None:
                session.grade(value)
            elif key == "s":
                session.skip()
            elif key == "u":
                taken = session.undo()
                click.echo("  nothing to undo" if taken is None else f"  undone{name_of(taken)}", err=err)
            elif key == "m" and more is not None:
                click.echo(more(item), err=err)
            else:
                click.echo(f"  {help_of(item, key)}", err=err)


@contextmanager
def _keys(err: bool) -> Iterator[Callable[[], str]]:
    """Reads one key from a terminal, else one line of standard input; "" at its end.

    The terminal stays with single keys in between, so that one pressed before the next question counts for it.
    """
    if not sys.stdin.isatty():
        yield lambda: (line.strip().lower() or "?") if (line := sys.stdin.readline()) else ""
        return

    def next_key() -> str:
        click.echo("> ", nl=False, err=err)
        key = _pressed().lower()
        click.echo(key if key.isprintable() else "", err=err)
        return key

    if sys.platform == "win32":
        yield next_key
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield next_key
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed() -> str:
    """The next key; the bytes of an arrow and the like are one."""
    if sys.platform == "win32":
        return click.getchar()
    terminal = sys.stdin.fileno()
    tty.setcbreak(terminal, termios.TCSANOW)  # for each key again: a shell may have changed it in between
    decoder, key = getincrementaldecoder("utf-8")("replace"), ""
    while not key or (key[0] == "\x1b" and select.select([terminal], [], [], 0)[0]):
        try:
            byte = os.read(terminal, 1)
        except OSError:  # the terminal was closed
            byte = b""
        if not byte:
            break
        key += decoder.decode(byte)
    return key


def _card(session: LabelSession, item: Item, texts: Mapping[str, str], corpus: Corpus | None) -> str:
    from rankproof.bench.testset.pool import meaning_of_grades

    parts = [
        rule_after(f"{session.done + 1} of {session.pool.work}  {item.query}"),
        *textwrap.wrap(texts.get(item.query, ""), WIDTH),
        f"\n{item.document}",
        _body(item, corpus, SHOWN),
        f"\nGrades: {meaning_of_grades(session.highest)}",
        KEYS.format(highest=session.highest),
    ]
    return "\n".join(parts)


def rule_after(head: str) -> str:
    """The first line of a screen, with a rule behind it."""
    return f"\n{head} {'-' * max(0, WIDTH - len(head) - 1)}"


def lines_of_text(text: str, width: int) -> list[str]:
    """A text of others as lines that fit."""
    from rankproof.document.terminal import clean

    return [clean(line) for each in text.splitlines() for line in (textwrap.wrap(each, width) or [""])]


def _body(item: Item, corpus: Corpus | None, most: int | None) -> str:
    if corpus is None:
        return ""
    if item.document not in corpus:
        return "  (not in the corpus)"
    text = corpus[item.document].whole
    return "\n".join(lines_of_text(text if most is None or len(text) <= most else f"{text[:most]} [...]", WIDTH))


def _check(judgments: str | None, qrels: str | None, add_to: str | None) -> bool:
    """Whether the file to write may replace one; options that would lose judgments, or confuse both, are refused."""
    from rankproof.document.disk import check_free
    from rankproof.io.write import format_of

    if judgments is not None and not os.path.exists(judgments):
        raise UsageError(
            f"--judgments: there is no file {judgments}; it names judgments that are read, never written. "
            f"Next: --qrels {judgments} writes the result of the labels."
        )
    if add_to is not None and qrels is None:
        raise UsageError(
            f"--add-to: adds {add_to} to what is written, and nothing is written without --qrels. "
            f"Next: add --qrels FILE, which may be {add_to} itself."
        )
    if qrels is None:
        return False
    form = "trec" if qrels == STDOUT else format_of(qrels)
    same = add_to is not None and os.path.realpath(qrels) == os.path.realpath(add_to)
    if not same:
        check_not_read(qrels)
    # A file of TREC only gains lines: other formats may hold columns that judgments do not have.
    force = may_replace(qrels) or (same and form == "trec")
    try:
        check_free(qrels, force=force)
    except UsageError:
        if add_to is not None or not os.path.isfile(qrels):
            raise
        raise UsageError(
            f"{qrels}: this file exists, and was left as it is. Next: --add-to {qrels} writes the "
            "labels together with what it holds, another name leaves it alone, --force replaces it."
        ) from None
    return force


def _check_meeting(made: Pool, queries: Collection[str], path: str) -> None:
    """Refuse a file about other queries than the pool's."""
    if made.ranks and queries and made.ranks.keys().isdisjoint(queries):
        raise DataError(
            f"{path}: none of the {len(made.ranks)} queries of the pool is in it: the pool has "
            f"{shorten(next(iter(made.ranks)))}, this file {shorten(next(iter(queries)))}. "
            "Next: check that both spell query ids the same way."
        )


def _write_judgments(given: Labels, path: str, add_to: str | None, force: bool) -> None:
    from rankproof.bench.testset.labels import merge_labels
    from rankproof.io.judgments import with_grades
    from rankproof.io.load import load_judgments
    from rankproof.io.write import write_judgments

    grades = merge_labels(given)
    if not grades:
        raise DataError("there is no label yet, so nothing to write. Next: judge first, without --qrels.")
    together = with_grades(load_judgments({} if add_to is None else add_to), grades)
    notes = write_judgments(together, path, "trec" if path == STDOUT else None, force=force)
    own = sum(map(len, grades.values()))
    tell_written(path, notes, f"{count(len(together.doc_ids), 'judgment')}, {own:,} of them by labels,")


@click.command("pool")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@options.value("--depth", "K", "The K best documents of each run.", 10)
@options.value("--order", "WORD", "The order of judging: see above.", "depth")
@options.value("--budget", "N", "At most N judgments, as many for each query.", type=int)
@options.value("--judgments", "FILE", "Judgments whose documents are left out.")
@options.target("Where to write the pool. [standard output]")
@options.force
@options.damaged_files
def pool_runs(runs: tuple[str, ...], order: str, judgments: str | None, output: str | None, **how: Any) -> None:
    """Collect the documents to judge from several runs.

    The order says which come first: depth (highest in any run), round-robin (the
    runs take turns), informative (what the runs disagree on most), bandit (from
    the run that has been finding relevant documents; fewest labels for most
    relevant documents).

    \b
    rankproof pool bm25.run dense.run --depth 20 --order bandit -o pool.jsonl
    rankproof label pool.jsonl --who ana -o labels.jsonl
    """
    from rankproof.bench.testset.pool import pool, pool_lines

    check_one_stdin(*runs, judgments)
    with tell_progress("reading the runs"):
        made = pool(named_paths(runs), order=order, judgments=judgments, **how)
    write("".join(pool_lines(made)), output)
    click.echo(
        f"{count(len(made.ranks), 'query')}, {count(len(made), 'document')} of {count(len(made.systems), 'run')}, "
        f"{made.work:,} of them to judge, by {order}.",
        err=True,
    )
    if made.work and output not in (None, STDOUT):
        click.echo(f"Next: rankproof label {output} --queries FILE --corpus FILE --who NAME -o labels.jsonl", err=True)
    end(made.wrong)
