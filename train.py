"""Trains an agent by self-play: `python train.py configs/quick.yaml [key.subkey=value ...]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

USAGE_ERROR, INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; every mistake is one sentence on the error stream and exit status 2."""
    options = _parser().parse_intermixed_args(arguments)
    # Read when torch is loaded. Threads that wait by spinning are several times slower beside any other busy process.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from agents.base import AgentSpecError
    from agents.checkpoint import CheckpointError
    from agents.config import ConfigError
    from agents.runs import RunError
    from tonk_env.rules import RuleSetError

    try:
        _run(options)
    except KeyboardInterrupt:
        return _say("interrupted; go on from the last checkpoint with --resume", INTERRUPTED)
    except (AgentSpecError, CheckpointError, ConfigError, RuleSetError, RunError) as error:
        return _say(str(error), USAGE_ERROR)
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else str(error), USAGE_ERROR)
    except FloatingPointError as error:
        return _say(str(error), 1)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="train.py", description="Train an agent in Tonk by self-play.")
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="a file such as configs/quick.yaml")
    parser.add_argument("settings", nargs="*", metavar="key.subkey=value", help="changes, as in ppo.epochs=4 seed=1")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with the run in this folder")
    parser.add_argument("--name", help="folder name under runs/ (default: preset, configuration, seed and time)")
    return parser


def _run(options: argparse.Namespace) -> None:
    from agents.config import ConfigError, load_config
    from agents.training import resume, train

    if options.resume is not None:
        changes = [text for text in (options.config, *options.settings) if text is not None]
        wrong = [text for text in changes if "=" not in text]
        if wrong or options.name is not None:
            what = f"the configuration {wrong[0]}" if wrong else "--name"
            raise ConfigError(f"--resume takes its configuration from the run folder: leave out {what}")
        resume(options.resume, changes)
        return
    if options.config is None:
        raise ConfigError("name a configuration, as in  python train.py configs/quick.yaml  (or --resume runs/NAME)")
    train(load_config(options.config, options.settings), Path(options.config).stem, options.name)


def _say(sentence: str, status: int) -> int:
    sys.stderr.write(f"train.py: {sentence}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
