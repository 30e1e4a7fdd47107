"""How much memory a program of its own held at most, as the kernel counts it for that program alone.

`ru_maxrss` begins with what the starting program held: beside a test process of some hundred megabytes, whatever a
script takes comes out as nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
needs_kernel_count = pytest.mark.skipif(not STATUS.exists(), reason=f"there is no {STATUS} here")
MOST_HELD = f"""
import re

def most_held():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("{STATUS}").read())[1]) * 1024
"""
"""The beginning of a script that asks for `most_held()`, in bytes."""
