"""An evaluation as a folder: the whole evidence as JSON, tables as CSV for other programs, pictures for people."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonk_env.files import atomic_writer

if TYPE_CHECKING:
    from agents.evaluate import Evaluation

REPORT_WIDTH = 120  # columns of the text


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder, unless it is there, and return it. Raises ``OSError`` with a sentence if that cannot be."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"cannot write a report to {path}: it is a file; give the name of a folder")
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_folder(evaluation: Evaluation, folder: str | os.PathLike[str]) -> None:
    """Write ``evaluation.json``, ``evaluation.txt``, five CSV tables and the pictures; each file appears whole."""
    from agents.plots import plot_drops, plot_evaluation, plot_ladder

    path = make_folder(folder)
    evaluation.to_json(path / "evaluation.json")
    with atomic_writer(path / "evaluation.txt") as stream:
        stream.write(evaluation.text(REPORT_WIDTH))
    for name, table in (
        ("agents.csv", _agents(evaluation)),
        ("payoffs.csv", _payoffs(evaluation)),
        ("endings.csv", _endings(evaluation)),
        ("drops.csv", _drops(evaluation)),
        ("deals.csv", _deals(evaluation)),
    ):
        write_csv(path / name, *table)
    plot_evaluation(evaluation, path / "evaluation.png")
    plot_drops(evaluation, path / "drops.png")
    if evaluation.ratings:
        plot_ladder(evaluation, path / "ladder.png")


def write_csv(path: Path, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; what is not known is an empty cell."""
    with atomic_writer(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(heading)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])


Table = tuple[Sequence[str], list[Sequence[Any]]]


def _agents(evaluation: Evaluation) -> Table:
    heading = "agent spec mean low high hands win_share calls mean_count share_caught mu sigma".split()
    rows: list[Sequence[Any]] = []
    for player, name in enumerate(evaluation.names):
        overall, rating = evaluation.overall.get(player), evaluation.ratings.get(player)
        mean = overall.to_dict() if overall else dict.fromkeys(("mean", "low", "high"))
        outcomes, calls = evaluation.outcomes, evaluation.outcomes.calls(player)
        rows.append((
            name, evaluation.specs[player], mean["mean"], mean["low"], mean["high"], outcomes.played(player),
            outcomes.win_share(player), calls["made"], calls["mean_count"], calls["share_caught"],
            rating and rating.mu, rating and rating.sigma,
        ))  # fmt: skip
    return heading, rows


def _payoffs(evaluation: Evaluation) -> Table:
    heading = "agent against mean low high error deals verdict ahead behind level sign_test_p".split()
    rows: list[Sequence[Any]] = []
    for (player, opponent), entry in evaluation.estimates.items():
        numbers, signs = entry.to_dict(), evaluation.signs(player, opponent)
        against = evaluation.names[opponent] if opponent >= 0 else "the table"
        measured = [numbers[key] for key in ("mean", "low", "high", "error", "clusters", "verdict")]
        rows.append((evaluation.names[player], against, *measured, signs.ahead, signs.behind, signs.level, signs.p))
    return heading, rows


def _endings(evaluation: Evaluation) -> Table:
    heading = ("agent", "ending", "won", "not_won", "called_won", "called_not_won")
    rows = [
        (name, ending, *(counts.get(key) for key in heading[2:]))
        for name, endings in evaluation.endings.items()
        for ending, counts in endings.items()
    ]
    return heading, list(rows)


def _drops(evaluation: Evaluation) -> Table:
    rows = [
        (name, entry["count"], entry["made"], entry["caught"])
        for player, name in enumerate(evaluation.names)
        for entry in evaluation.outcomes.calls_by_count(player)
    ]
    return ("agent", "count", "made", "caught"), list(rows)


def _deals(evaluation: Evaluation) -> Table:
    """Every deal's mean over its seatings: the clusters themselves, for other statistics than these."""
    names = evaluation.names
    heading = ["deal", *(f"{names[a]} against {names[b]}" if b >= 0 else names[a] for a, b in evaluation.samples)]
    columns = [values.round(6).tolist() for values in evaluation.samples.values()]
    return heading, [(deal, *cells) for deal, cells in enumerate(zip(*columns, strict=True))]
