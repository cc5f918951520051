"""Writes the tables and the plot of docs/performance.md from docs/performance.json: `python benchmarks/report.py`.

A table stands between the lines ``<!-- measured: NAME -->`` and ``<!-- end -->``; whatever is there is replaced.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import Row, number, sign, verdict
from reasons import WHY

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
RESULTS = ROOT / "docs" / "performance.json"
PLOT = ROOT / "docs" / "images" / "cost_growth.png"
MARKED = re.compile(r"(<!-- measured: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
Results = dict[str, Any]


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first ``left`` columns are text, the others figures."""
    under = ["---"] * left + ["--:"] * (len(headings) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, under, *rows))


def figures(rows: Sequence[Row]) -> str:
    """Rows with median, spread, target and verdict."""
    return grid(("what", "median", "least – most", "unit", "target", ""), [_cells(row) for row in rows])


def _cells(row: Row) -> tuple[str, ...]:
    spread = f"{number(min(row.runs))} – {number(max(row.runs))}" if len(row.runs) > 1 else ""
    median = f"**{number(row.median)}**" if row.runs else "–"
    target = "" if row.target is None else f"{sign(row)} {number(row.target)}"
    what = f"{row.what} ({row.note})" if row.note else row.what
    return what, median, spread, row.unit, target, verdict(row)


def group(results: Results, *names: str) -> list[Row]:
    """Rows of some groups of `throughput`."""
    groups = results["throughput"]["groups"]
    return [Row.from_dict(row) for name in names for row in groups.get(name, [])]


def peers(results: Results, part: str) -> list[Row]:
    """Rows of `peers`: ``rates`` or ``ratios``."""
    return [Row.from_dict(row) for row in results.get("peers", {}).get(part, [])]


def training(results: Results, threads: str) -> list[Row]:
    """Rows of `training` with that many threads."""
    return [Row.from_dict(row) for row in results.get("training", {}).get("threads", {}).get(threads, {}).get("rows", [])]


def shares(results: Results) -> str:
    """Where self-play's time goes, for each number of threads."""
    found = results.get("training", {}).get("threads", {})
    names = ("env", "opponents", "policy", "update")
    rows = [(threads, *(f"{one['shares'][name]:.0%}" for name in names)) for threads, one in found.items()]
    return grid(("threads", *names), rows)


def machines(results: Results) -> str:
    """On what, and with which versions, each part was measured."""
    rows = []
    for part in ("throughput", "peers", "training"):
        if part not in results:
            continue
        one, here = results[part], results[part]["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in here["versions"].items())
        runs = f"{one['repeats']} runs of {one['seconds']:g} s{' (quick: no care was taken)' if one['quick'] else ''}"
        where = f"{here['processor']}, {here['cores']} cores, load {here['load']:g}, Python {here['python']}"
        rows.append((part, where, runs, f"{here['date']}, `{here['commit']}`", versions))
    return grid(("part", "machine", "runs", "date, commit", "versions"), rows, left=5)


def all_rows(results: Results) -> list[Row]:
    """Every row of every part; those of training once for each number of threads."""
    rows = [*group(results, *results["throughput"]["groups"]), *peers(results, "ratios")]
    for threads in results.get("training", {}).get("threads", {}):
        rows += [replace(row, what=f"{row.what}, torch threads: {threads}") for row in training(results, threads)]
    return rows


def misses(results: Results) -> str:
    """Every target that is not reached, and why."""
    missed = [row for row in all_rows(results) if row.target is not None and not row.met]
    rows = [(row.what, *_cells(row)[1:2], _cells(row)[4], why(row)) for row in missed]
    return grid(("what", "measured", "target", "why"), rows, left=4) if rows else "None: every target is reached."


def why(row: Row) -> str:
    """The reason why a row misses its target."""
    return row.note if not row.runs and row.note else WHY.get(row.key, "no reason is known yet")


TABLES: dict[str, Callable[[Results], str]] = {
    "machines": machines,
    "batch": lambda results: figures(group(results, "batch")),
    "doors": lambda results: figures(group(results, "doors")),
    "where": lambda results: figures(group(results, "where")),
    "growth": lambda results: figures(group(results, "growth")),
    "players": lambda results: figures(group(results, "heuristics", "exported")),
    "starting": lambda results: figures(group(results, "starting")),
    "peers": lambda results: figures(peers(results, "rates")),
    "ratios": lambda results: figures(peers(results, "ratios")),
    "training, one thread": lambda results: figures(training(results, "1")),
    "training, two threads": lambda results: figures(training(results, "2")),
    "shares": shares,
    "misses": misses,
}


def rebuilt(text: str, results: Results) -> str:
    """The page with all its tables written anew."""
    return MARKED.sub(lambda found: f"{found.group(1)}{TABLES[found['name']](results)}\n{found.group(3)}", text)


def read(path: Path = RESULTS) -> Results:
    """What was measured."""
    results: Results = json.loads(path.read_text(encoding="utf-8"))
    return results


def main(arguments: list[str] | None = None) -> int:
    """Write page and plot, or with --check only say whether the page would change (exit status 1)."""
    parser = argparse.ArgumentParser(description="Write the tables and the plot of docs/performance.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the page is not up to date")
    check = parser.parse_args(arguments).check
    results, text = read(), PAGE.read_text(encoding="utf-8")
    new = rebuilt(text, results)
    if not check:
        from growth_plot import plot

        PAGE.write_text(new, encoding="utf-8")
        plot(group(results, "growth"), PLOT)
    return int(check and new != text)


if __name__ == "__main__":
    sys.exit(main())
