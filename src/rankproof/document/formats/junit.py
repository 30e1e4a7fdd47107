"""The test cases of a document as JUnit XML, as CI reads it."""

from __future__ import annotations

from xml.etree import ElementTree

from rankproof.document.formats import OutputFormat, register
from rankproof.document.model import Cases, Document
from rankproof.document.terminal import clean

COUNTED = {"failures": "failure", "skipped": "skipped", "errors": "error"}


def text(document: Document) -> str:
    """A test suite for each list of cases; XML holds no control characters, so these are written out."""
    suites = [_suite(each) for each in document.cases()]
    root = suites[0] if len(suites) == 1 else ElementTree.Element("testsuites")
    root.extend(suites if len(suites) != 1 else [])
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


register(OutputFormat("junit", text, (".xml",), general=False))


def _suite(listed: Cases) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=clean(listed.name), tests=str(len(listed.cases)))
    for attribute, kind in COUNTED.items():
        suite.set(attribute, str(sum(each.outcome == kind for each in listed.cases)))
    for each in listed.cases:
        said = clean(each.said)
        case = ElementTree.SubElement(suite, "testcase", classname=clean(each.group), name=clean(each.name))
        if each.outcome in COUNTED.values():
            ElementTree.SubElement(case, each.outcome, message=said).text = said
        ElementTree.SubElement(case, "system-out").text = said
    ElementTree.SubElement(suite, "system-out").text = "\n".join(map(clean, listed.about.split("\n")))
    return suite
