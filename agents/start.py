"""Starts the command line; where it cannot start, a sentence says what to install."""

from __future__ import annotations

import sys
from typing import NoReturn

from agents.extras import missing_package
from agents.process import end_well_on_sigterm, prepare_streams

USAGE_ERROR = 2  # the exit status


def main() -> NoReturn:
    """Run the command line; the entry point of `tonk`."""
    prepare_streams()
    end_well_on_sigterm()
    try:
        from agents.cli import main as run
    except ModuleNotFoundError as error:
        sentence = missing_package(error)
        if sentence is None:
            raise
        print(f"tonk: {sentence}", file=sys.stderr)  # noqa: T201
        sys.exit(USAGE_ERROR)
    run()
