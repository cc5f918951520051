"""Says so, once, before the engine compiles for the first time on a machine."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from tonk_env.kernels.bits import COMPILED

_said = False


def is_cold(kernel: Any) -> bool:
    """Whether a kernel that Python calls is neither compiled nor on disk, so that its first call has to wait for it."""
    cache_file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if not COMPILED or cache_file is None or kernel.signatures:
        return False
    return not cache_file._load_index()


def announce(kernel: Any) -> None:
    """When compiling lies ahead, print one line to the error stream and compile everything at once, not bit by bit."""
    global _said
    if not _said and is_cold(kernel):
        print("tonk_env: compiling the engine, once for this installation (half a minute) …", file=sys.stderr, flush=True)  # noqa: T201
        _said = True
        import_module("tonk_env.warmup").compile_engine()  # it builds tables itself, hence not imported above


def announce_part(kernel: Any, what: str) -> None:
    """When a part that few need is still to be compiled, print one line that says so, and what it is."""
    if is_cold(kernel):
        print(f"tonk_env: compiling {what}, once for this installation …", file=sys.stderr, flush=True)  # noqa: T201
