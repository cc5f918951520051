"""The compiled engine and the same files run uncompiled play the same games, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from digests import digests

from tonk_env.kernels.bits import COMPILED


@pytest.mark.skipif(not COMPILED, reason="compares compiled with interpreted code")
def test_compiled_equals_interpreted(root: Path) -> None:
    script = root / "tests" / "digests.py"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == digests()
