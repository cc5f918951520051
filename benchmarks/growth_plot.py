"""Draws the cost of a decision against the number of tables."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from measuring import Row

mpl.use("agg")
from matplotlib import pyplot as plt

PREFIX = "size_"
COLOUR = "#1f5fa8"


def plot(rows: list[Row], path: Path) -> None:
    """Write a picture of the rows ``size_N``: the median of every size, the least and the most as a band."""
    sizes = {int(row.key.removeprefix(PREFIX)): row for row in rows if row.key.startswith(PREFIX)}
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    tables = list(sizes)
    least, most = ([end(row.runs) for row in sizes.values()] for end in (min, max))
    axes.fill_between(tables, least, most, color=COLOUR, alpha=0.2)
    axes.plot(tables, [row.median for row in sizes.values()], "o-", color=COLOUR)
    axes.set_xscale("log", base=2)
    axes.set_xticks(tables, [f"{size:,}" for size in tables])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("tables in the batch")
    axes.set_ylabel("nanoseconds a decision")
    axes.set_title("Cost of a decision, two players, random legal play, one core", fontsize=10)
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
