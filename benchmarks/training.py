"""Measures self-play training beside the same learner on an environment that costs nothing, and beside bare torch.

`python benchmarks/training.py`. Two threads of torch need two idle cores: measure on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded: waiting threads leave the core to the engine

import torch
from learners import Bare, Learner, library_learner
from measuring import Effort, Row, alternating, console, machine, ratios, show, write_section

from agents.config import TrainConfig, parse_config, read_yaml

NAMES = {
    "selfplay": "self-play, the pool of opponents of the configuration",
    "compiled": "self-play against compiled opponents alone",
    "free": "the same learner, an environment that costs nothing",
    "library": "the library's own MaskablePPO with two networks of these sizes, the same environment",
    "bare": "bare torch, the same forward and backward passes",
}
COMPARED = (  # one, another, the share that the one should reach
    ("selfplay", "free", 0.9),
    ("compiled", "free", None),
    ("selfplay", "bare", 0.8),
    ("free", "bare", None),
    ("free", "library", None),
)
QUICK = ["ppo.num_tables=16", "ppo.steps=4", "ppo.minibatch=32", "network.torso=[8]"]
POOL = ["opponents.snapshot_every=1"]  # so that there are snapshots to play against from the start
COMPILED = ["opponents.current=0", "opponents.snapshots=0"]
SETTLING = 5  # iterations before measuring, in which the pool fills
ROOT = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Measure with each number of threads, print the tables, and write them to a file if one is named."""
    parser = argparse.ArgumentParser(description="Measure training on this machine, in about two minutes.")
    parser.add_argument("config", nargs="?", type=Path, default=ROOT / "configs" / "selfplay.yaml", help="sizes to measure")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="numbers of torch threads to measure with")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only shows that everything works")
    parser.add_argument("--json", type=Path, help="file whose section `training` is written")
    given = parser.parse_args(arguments)
    effort, before, screen = Effort.of(given.quick), machine(), console()
    found: dict[str, Any] = {}
    for threads in given.threads:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library, about a rollout shorter than a minibatch
            rows, shares = measure(given.config, threads, effort, given.quick)
        show(rows, f"Decisions of the learner a second, {threads} thread(s), {given.config.stem}", screen)
        screen.print("self-play spends  " + "  ".join(f"{name} {share:.0%}" for name, share in shares.items()))
        found[str(threads)] = {"rows": [row.to_dict() for row in rows], "shares": shares}
    if given.json:
        write_section(given.json, "training", effort, before, config=given.config.stem, threads=found)
    return 0


def measure(config: Path, threads: int, effort: Effort, quick: bool) -> tuple[list[Row], dict[str, float]]:
    """Return rates and ratios, all measured in turns, and the shares of self-play's time."""
    torch.set_num_threads(threads)
    full = configured(config, threads, quick)
    selfplay, free = Learner(full), Learner(full, free=True)
    compiled = Learner(configured(config, threads, quick, *COMPILED))
    for _ in range(1 if quick else SETTLING):
        selfplay.iterate()
    selfplay.shares()
    learners = {
        "selfplay": selfplay.iterate, "compiled": compiled.iterate, "free": free.iterate,
        "library": library_learner(full, free.env).iterate, "bare": Bare(full, free.env).iterate,
    }  # fmt: skip
    rates = alternating(learners, effort, lambda _: None)
    rows = [Row(key, what, "decisions/s", rates[key]) for key, what in NAMES.items()]
    for one, other, target in COMPARED:
        name = f"{NAMES[one]} / {NAMES[other]}"
        rows.append(Row(f"{one}/{other}", name, "times", ratios(rates[one], rates[other]), target))
    return rows, selfplay.shares()


def configured(config: Path, threads: int, quick: bool, *overrides: str) -> TrainConfig:
    """The sizes that are measured."""
    return parse_config(read_yaml(config), [f"threads={threads}", *POOL, *(QUICK if quick else []), *overrides], str(config))


if __name__ == "__main__":
    sys.exit(main())
