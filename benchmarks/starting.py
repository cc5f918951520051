"""Measures what a fresh process pays: the import, the first hand with a warm cache, the very first compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from measuring import ROOT, Effort, Row

IMPORT = """
import time, numpy, numba
began = time.perf_counter()
import tonk_env
print(time.perf_counter() - began)
"""
HAND = """
from tonk_env.table import Table
table = Table("points", seed=0)
table.reset()
while not table.step(int(table.legal_actions()[0])):
    table.observation(table.seat)
"""
STEP = """
from tonk_env.batch import Batch
batch = Batch("points", num_tables=16, seed=0)
batch.reset()
batch.step(batch.choose_random())
"""
SAID = "compiling"


def rows(effort: Effort) -> list[Row]:
    """All of it; the compilation from an empty cache is left out when it has to be quick."""
    repeats = 1 if effort.quick else max(3, effort.repeats // 2)
    run(HAND)
    run(STEP)
    imports = tuple(float(run(IMPORT)[1].stdout) for _ in range(repeats))
    found = [
        Row("import", "`import tonk_env`, after numpy and numba", "s", imports, 0.5, "less"),
        Row("first_hand", "a whole process that plays one hand, warm cache", "s", _times(HAND, repeats), 2.0, "less"),
        Row("first_step", "a whole process that steps a batch, warm cache", "s", _times(STEP, repeats), 2.0, "less"),
    ]
    return [*found, _cold_row("first_hand_ever", "a whole process that plays one hand, nothing compiled yet", effort)]


def _cold_row(key: str, what: str, effort: Effort) -> Row:
    """A process without any compiled code on disk; the row says whether it announced that it compiles."""
    if effort.quick:
        return Row(key, what, "s", (), 30.0, "less", note="left out: quick")
    with tempfile.TemporaryDirectory() as cache:
        seconds, done = run(HAND, NUMBA_CACHE_DIR=cache)
    note = "it says that it is compiling" if SAID in done.stderr else "it does not say that it is compiling"
    return Row(key, what, "s", (seconds,), 30.0, "less", note=note)


def _times(code: str, repeats: int) -> tuple[float, ...]:
    return tuple(run(code)[0] for _ in range(repeats))


def run(code: str, **environment: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Run a piece of Python in a process of its own: seconds from its start to its end, and what it printed."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return time.perf_counter() - began, done
