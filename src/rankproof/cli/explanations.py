"""`rankproof explain`, `diagnose`, `measures` and `profiles`: what numbers and words mean, and why queries fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankproof.cli import options
from rankproof.cli.options import check_single, named_paths, read_groups
from rankproof.cli.output import Output, end, format_of, tell_progress, write
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.errors import UsageError

if TYPE_CHECKING:
    from rankproof.core.judgments import Judgments
    from rankproof.core.measure import Measure
    from rankproof.document.model import Document
    from rankproof.scoring.explain import Explanation


@click.command("explain")
@click.argument("judgments", metavar="JUDGMENTS|TERM", shell_complete=options.complete_terms)
@click.argument("run", required=False)
@click.argument("query", required=False)
@options.measures(DEFAULT_MEASURE)
@options.value("--versus", "PROFILE", "Show beside it how another tool computes the same, and what differs.")
@options.result(about="Write to a file; a page if it ends in .html.")
@options.value("--beside", "RUN", "On a page (.html, .pdf): another ranking side by side.")
@options.value("--queries", "FILE", "Texts of queries, as JSON lines.")
@options.titles
@options.conventions
def explain_number(
    judgments: str,
    run: str | None,
    query: str | None,
    measures: list[str] | None,
    output: Output,
    beside: str | None,
    queries: str | None,
    titles: str | None,
    **settings: Any,
) -> None:
    """Show how a number of one query is computed; or say what a word means.

    Shows the ranked list with scores and grades, what each rank adds, and the
    derivation as one would write it on paper. A page also shows the retrieved
    and the relevant documents as two sets.

    \b
    rankproof explain judgments.tsv my.run q7 -m nDCG@10
    rankproof explain judgments.tsv my.run q7 --versus elasticsearch
    rankproof explain judgments.tsv my.run q7 --beside other.run -o q7.html
    rankproof explain detectable
    """
    from rankproof.document.formats import check

    made = check(output.form)
    if run is None:
        write(made.render(_term(judgments)), output.path)
        return
    from rankproof.document.formats.data import as_json
    from rankproof.reports.content import query_texts
    from rankproof.scoring.explain import explanations

    if beside and output.form not in ("html", "pdf"):
        raise UsageError("--beside is for pages. Next: add -o FILE.html.")
    if query is None:
        raise UsageError(
            "explain: got judgments and a ranking, but no query. Next: name a query after them, or one word alone to "
            "have it explained."
        )
    judged, systems = _explained(judgments, [run, *([beside] if beside else [])], query, measures, settings)
    found = systems[0][1]
    texts = query_texts(queries, judged.queries, {query}) if queries else {}
    if output.form == "json":
        output.write(as_json([each.to_dict() for each in found]))
    else:

        def page() -> str:
            from rankproof.scoring.explain_page import explanation_page  # its pictures are loaded for a page alone

            return explanation_page(dict(systems), queries=texts, corpus=titles)

        write(made.render(explanations(found, texts.get(query, ""), page)), output.path)
    wrong = (f"{name}: {each}" for name, explained in systems for one in explained for each in one.wrong)
    end(wrong, shown=output.path is None)


def _term(word: str) -> Document:
    """The meaning of a word of the output; a measure is described in full."""
    from rankproof.core.names import REGISTRY
    from rankproof.document.page import term_of
    from rankproof.scoring import catalogue

    is_measure = word.partition("@")[0].partition("(")[0] in REGISTRY  # P is a measure, p is none
    found = _measure(word) if is_measure or not term_of(word) else None
    return catalogue.term(word, REGISTRY) if found is None else catalogue.measure_page(found)


def _explained(
    judgments: str, runs: list[str], query: str, measures: list[str] | None, settings: dict[str, Any]
) -> tuple[Judgments, list[tuple[str, list[Explanation]]]]:
    """The judgments, and each run by its name with an explanation for each measure."""
    from rankproof.core.names import parse_all
    from rankproof.io.load import load_judgments, load_ranking
    from rankproof.scoring.explain import explain

    check_single(*runs, beside=[judgments])
    asked = parse_all(measures or DEFAULT_MEASURE)
    found = []
    with tell_progress(f"reading {runs[0]}"):
        judged = load_judgments(judgments)
        for name, path in named_paths(runs).items():
            ranking = load_ranking(path)
            found.append((name, [explain(judged, ranking, query, each, **settings) for each in asked]))
    return judged, found


@click.command("diagnose")
@click.argument("judgments")
@click.argument("run")
@options.measures(DEFAULT_MEASURE)
@options.value("--queries", "FILE", "Texts of the questions: JSON lines, CSV or ID<TAB>TEXT.")
@options.value("--corpus", "FILE", f"{options.CORPUS}.")
@options.value("--corpus-size", "N", f"{options.SIZE}.", type=float)
@options.value("-k", "K", "Documents the user sees. [the measure's cut-off, else 10]", type=int)
@options.value("--worst", "N", "The number of queries that are listed; one screen has as many as fit.", 10)
@options.by
@options.value("--alpha", "A", "Error rate of a claim.", 0.05)
@options.value("--seed", "N", "Seed of the random draws.", 0)
@options.result()
@options.profile
@options.rules
@options.damaged_files
def diagnose_ranking(
    judgments: str,
    run: str,
    measures: list[str] | None,
    by: str | None,
    corpus: str | None,
    corpus_size: float | None,
    output: Output,
    **settings: Any,
) -> None:
    """Say which queries a ranking fails, why, and what to change first.

    If the documents are given, other searches are tried right away, and what
    each would gain is measured. The first measure decides.

    \b
    rankproof diagnose judgments.tsv my.run
    rankproof diagnose judgments.tsv my.run --queries q.jsonl --corpus docs.jsonl
    """
    from rankproof.diagnosing import diagnose

    check_single(run, beside=[judgments])
    documents, size = options.corpus_apart(corpus, corpus_size)
    settings |= {"by": read_groups(by, judgments), "corpus": documents}
    settings |= {} if size is None else {"corpus_size": size}
    with tell_progress("diagnosing"):
        found = diagnose(judgments, run, measure=measures or DEFAULT_MEASURE, **settings)
    worst = settings["worst"] if options.was_written("worst") else None
    output.write_result(found, f"ranking: {run}; judgments: {judgments}", worst=worst)
    end((str(each) for each in found.findings if each.severity == "error"), shown=output.path is None)


@click.command("measures")
@click.argument("name", required=False, shell_complete=options.complete_measures)
@options.flag("--judged", "List the metrics by a judge's verdicts instead.")
@options.form()
def list_measures(name: str | None, judged: bool, form: str | None) -> None:
    """List the measures, or describe one in full.

    NAME is any name a measure goes by, like nDCG, MAP or ndcg_cut_10.

    \b
    rankproof measures nDCG
    rankproof measures --judged
    """
    from rankproof.core.names import JUDGED, REGISTRY, parse
    from rankproof.document.formats import check
    from rankproof.scoring import catalogue

    made = check(form or format_of(None))
    if name is not None:
        write(made.render(catalogue.measure_page(_measure(name, judged) or parse(name))), None)
        return
    if judged:
        import rankproof.judging.metrics.counting  # noqa: F401  (its import declares them all)
    known = list((JUDGED if judged else REGISTRY).values())
    whole, records = catalogue.list_measures(known), [catalogue.record(each) for each in known]
    write(made.render(catalogue.reference("Measures", whole, records, catalogue.names(known))), None)


def _measure(name: str, judged: bool = False) -> Measure | None:
    """The measure of that name, or else the metric by verdicts, which `judged` asks for; None if nothing has it."""
    from rankproof.core.names import find, parse
    from rankproof.judging.metrics.registry import find_ours
    from rankproof.judging.metrics.registry import parse as parse_metric

    plain = name.partition("@")[0].partition("(")[0]
    measure, metric = find(plain), find_ours(plain)
    if judged or measure is None:
        return parse_metric(name) if judged or metric else None
    if metric not in (None, measure):
        click.echo(f"A judge's metric has this name too. Next: rankproof measures --judged {plain}", err=True)
    return parse(name)


@click.command("profiles")
@click.argument("name", required=False, shell_complete=options.complete_profiles)
@options.form()
def profiles(name: str | None, form: str | None) -> None:
    """List the tools whose conventions can be followed.

    With NAME, what that tool does differently, and how that is known.

    \b
    rankproof profiles elasticsearch
    rankproof evaluate judgments.tsv my.run --profile elasticsearch
    """
    from rankproof.core.profiles import BUILT_ON, PROFILES, find
    from rankproof.document.formats import check
    from rankproof.scoring import catalogue

    made = check(form or format_of(None))
    known = [*PROFILES.values(), *BUILT_ON.values()] if name is None else [find(name)]
    text = catalogue.profiles(known) if name is None else catalogue.profile(known[0])
    records = [catalogue.profile_record(each) for each in known]
    write(made.render(catalogue.reference("Profiles", text, records, text if name is None else "")), None)
