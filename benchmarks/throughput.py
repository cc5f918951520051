"""Measures how fast Tonk is through each of its doors, and how its cost grows: `python benchmarks/throughput.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import growth
import ours
import players
import starting
import where
from measuring import Effort, Row, Stepper, alternating, console, machine, rates, ratios, show, write_section

UNIT = "decisions/s"
DOORS: tuple[tuple[str, str, Callable[[], Stepper], float | None], ...] = (
    ("batch_hands", "batch, single hands", lambda: ours.batch(match="hands"), None),
    ("batch_no_drop", "batch, `points` without dropping (long hands)", lambda: ours.batch(drop="never"), None),
    ("batch_six", "batch, six players (`rockets`)", lambda: ours.batch("rockets", 6), 4e6),
    ("batch_tunk", "batch, `tunk`", lambda: ours.batch("tunk"), 1e6),
    ("table", "one `Table` from Python, observation and mask", ours.table, None),
    ("aec", "`tonk_v0.env()`, `last()` and masked random choice", ours.aec, 100_000),
    ("raw_aec", "`tonk_v0.raw_env()`, the same loop", lambda: ours.aec(raw=True), 200_000),
    ("single", "Gymnasium, one learner against `greedy`", ours.single, 100_000),
    ("single_checked", "the same with the checker that `gymnasium.make` adds", lambda: ours.single(checked=True), None),
    ("vector", f"Gymnasium, `make_vec` with {ours.TABLES:,} tables against `greedy`", ours.vector, 2e6),
)


def batch_rows(effort: Effort) -> list[Row]:
    """The batch, and the rate at which the bytes that it shows can merely be written, in turns."""
    found = alternating({"batch": ours.batch(), "writing": ours.bare_writing()}, effort, lambda _: None)
    share = ratios(found["batch"], found["writing"])
    return [
        Row("batch", f"batch of {ours.TABLES:,} tables, mask and observation at every decision", UNIT, found["batch"], 1e7),
        Row("writing", "the same bytes merely written", UNIT, found["writing"]),
        Row("writing_share", "the batch over the bare writing", "times", share, 0.2),
    ]


def door_rows(effort: Effort) -> list[Row]:
    """A row for every door, one after another."""
    return [Row(key, what, UNIT, rates(make(), effort), target) for key, what, make, target in DOORS]


def growth_rows(effort: Effort) -> list[Row]:
    """Number of tables, threads and processes, memory."""
    return [*growth.size_rows(effort), *growth.worker_rows(effort), *growth.memory_rows()]


GROUPS: dict[str, Callable[[Effort], list[Row]]] = {
    "batch": batch_rows,
    "where": where.rows,
    "doors": door_rows,
    "growth": growth_rows,
    "heuristics": players.heuristic_rows,
    "exported": players.exported_rows,
    "starting": starting.rows,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table a group, and write them to a file if one is named."""
    parser = argparse.ArgumentParser(description="Measure how fast Tonk is on this machine, in about two minutes.")
    parser.add_argument("--quick", action="store_true", help="very short runs: only shows that everything works")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), default=list(GROUPS), help="groups to measure")
    parser.add_argument("--json", type=Path, help="file whose section `throughput` is written")
    parser.add_argument("--plot", type=Path, help="picture of the cost growth that is written")
    given = parser.parse_args(arguments)
    effort, before, screen = Effort.of(given.quick), machine(), console()
    groups = {}
    for name in given.only:
        rows = GROUPS[name](effort)
        show(rows, name, screen)
        groups[name] = [row.to_dict() for row in rows]
        if name == "growth" and given.plot:
            from growth_plot import plot

            plot(rows, given.plot)
    if given.json:
        write_section(given.json, "throughput", effort, before, groups=groups)
    return 0


if __name__ == "__main__":
    sys.exit(main())
