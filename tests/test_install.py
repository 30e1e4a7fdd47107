"""The wheel as a user gets it: small, complete, and working without anything else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_PACKAGES, MOST_MEGABYTES = 13, 100
CODE = """
from rankproof import evaluate, nDCG, sample
print(round(evaluate({"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "y", "b"]}, [nDCG @ 4])["nDCG@4"], 4))
print(len(sample.corpus()))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no wheel could be built here (no package registry?): {made.stderr[-300:]}")
    return next(folder.glob("rankproof-*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"rankproof/py.typed", "rankproof/sample/documents.jsonl", "rankproof/core/hits.py"} <= set(names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"rankproof"}


@pytest.mark.slow
def test_a_fresh_environment_runs_it_and_stays_small(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    install = ["pip", "--python", python, "install", "--quiet", "--no-compile", wheel]
    subprocess.run([sys.executable, "-m", *install], check=True)
    installed = packages(python)
    assert len([path for path in installed if path.suffix == ".dist-info"]) <= MOST_PACKAGES
    size = sum(
        file.stat().st_size
        for path in installed
        for file in path.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    )
    assert size / 1e6 <= MOST_MEGABYTES
    out = subprocess.run([python, "-I", "-c", CODE], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert out == "0.6399\n156\n"
    shell = subprocess.run([python.with_name("rankproof"), "--version"], capture_output=True, text=True, check=True)
    assert "0.1.0" in shell.stdout


def packages(python: Path) -> list[Path]:
    return [path for path in (python.parents[1] / "lib").glob("python*/site-packages/*") if path.is_dir()]
