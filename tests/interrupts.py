"""Stops a command as a user would."""

import contextlib
import signal
import subprocess


def interrupted(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, and again if nothing comes of it: Python loses one that falls into a destructor. Returns stderr."""
    try:
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=30)[1]
        raise AssertionError("three interrupts did not stop it")
    finally:
        process.kill()
        process.communicate()
