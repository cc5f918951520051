"""Trains an agent by self-play: `python train.py configs/quick.yaml [key.subkey=value ...]`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from agents.process import prepare_streams

USAGE_ERROR, INTERRUPTED = 2, 130
PACKAGES = {  # by the name to import: all that a run needs to its end, so that none is missed hours later
    "numpy": "numpy",
    "numba": "numba",
    "gymnasium": "gymnasium",
    "pettingzoo": "pettingzoo",
    "torch": "torch",
    "stable_baselines3": "stable-baselines3",
    "sb3_contrib": "sb3-contrib",
    "tensorboard": "tensorboard",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "pydantic": "pydantic",
    "yaml": "pyyaml",
    "rich": "rich",
    "matplotlib": "matplotlib",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; every mistake is one sentence on the error stream and exit status 2."""
    prepare_streams()
    options = _parser().parse_intermixed_args(arguments)
    # Read when torch is loaded. Threads that wait by spinning are several times slower beside any other busy process.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    missing = next((name for name in PACKAGES if importlib.util.find_spec(name) is None), None)
    if missing is not None:
        advice = 'install it with  pip install ".[train]"  in the project\'s folder'
        return _say(f"training needs the package {PACKAGES[missing]}: {advice}", USAGE_ERROR)
    from agents.base import AgentSpecError
    from agents.checkpoint import CheckpointError
    from agents.claim import InUseError
    from agents.config import ConfigError
    from agents.runs import RunError
    from tonk_env.rules import RuleSetError

    try:
        _run(options)
    except KeyboardInterrupt:
        return _say("interrupted; go on from the last checkpoint with --resume", INTERRUPTED)
    except (AgentSpecError, CheckpointError, ConfigError, FloatingPointError, InUseError, RuleSetError, RunError) as error:
        return _say(str(error), USAGE_ERROR)
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else str(error), USAGE_ERROR)
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
