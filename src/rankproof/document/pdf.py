"""A page printed to PDF by an installed browser, as a reader would print it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rankproof.errors import MissingExtra, RankproofError, UsageError, reason

ENVIRONMENT = "RANKPROOF_CHROMIUM"
"""The environment variable that names the browser, if none is found."""
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
USUAL = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
"""The paths of browsers that are not on the search path."""
PATIENCE = 120
"""The time limit of a browser in seconds."""
QUIET = (
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--no-pdf-header-footer",
)


def print_page(html: str) -> bytes:
    """The page as PDF, printed by Chromium, Chrome or Edge; nothing is fetched."""
    browser = find_browser()
    try:
        with tempfile.TemporaryDirectory(prefix="rankproof-", ignore_cleanup_errors=True) as folder:
            return _printed(browser, html, folder)
    except OSError as error:  # the error is not about the requested file: nothing was written there yet
        raise UsageError(
            f"{error.filename or tempfile.gettempdir()}: the page that a PDF is printed from cannot be written: "
            f"{error.strerror or error}. Next: make room there, or name another folder in TMPDIR."
        ) from error


def _printed(browser: str, html: str, folder: str) -> bytes:
    page, paper = Path(folder, "page.html"), Path(folder, "page.pdf")
    page.write_text(html, encoding="utf-8", errors="backslashreplace")
    own = [f"--user-data-dir={folder}/profile"]  # its own profile lets several browsers print at once
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        own.append("--no-sandbox")  # root has no sandbox
    words = [browser, *QUIET, *own, f"--print-to-pdf={paper}", page.as_uri()]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RankproofError(f"{words[0]} could not print: {reason(error)}. Next: write .html and print it.") from error
    said = done.stderr.decode("utf-8", "replace")
    printed = paper.read_bytes() if paper.exists() else b""
    if not printed.rstrip().endswith(b"%%EOF"):  # a full disk leaves a truncated file
        raise RankproofError(
            f"{browser} printed {'a part' if printed else 'nothing'}: {said[-300:].strip()}. "
            "Next: make room for it, or write .html and print it by hand."
        )
    return printed


def find_browser() -> str:
    """The path of a browser that prints: the one named in the environment, an installed one, or Playwright's."""
    named = os.environ.get(ENVIRONMENT)
    if named and not shutil.which(named):
        raise UsageError(f"{ENVIRONMENT}: got {named!r}, which is not a program. Next: name the program of a browser.")
    usual = (path for path in USUAL if os.path.exists(path))
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None) or next(usual, None) or _playwrights()
    if found is None:
        raise MissingExtra(
            "PDF is printed by a browser (Chromium, Chrome or Edge), and none was found. Next: install one (apt "
            "install chromium), or pip install 'rankproof[figures]' && playwright install chromium, or write .html."
        )
    return found


def _playwrights() -> str | None:
    """The browser that Playwright has fetched, if it is installed and has."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as running:
        path = running.chromium.executable_path
    return path if os.path.exists(path) else None
