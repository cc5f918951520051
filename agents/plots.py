"""Pictures of an evaluation: payoff matrix, payoffs with intervals, how hands were won and lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.outcomes import ENDINGS
from agents.report import title
from tonk_env.files import atomic_writer
from tonk_env.state import ending_name

if TYPE_CHECKING:
    from agents.evaluate import Evaluation

FORMATS = (".png", ".pdf", ".svg")
COLOURS = [f"C{number}" for number in range(10)] + ["black"]  # by ending


class PlotError(ValueError):
    """A picture that cannot be drawn as asked; the message is one sentence."""


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the file name asks for, or raise PlotError."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise PlotError(f"cannot draw {path}: its name must end in one of {', '.join(FORMATS)}")
    return suffix[1:]


def plot_evaluation(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Draw an evaluation to ``path``; the file appears whole or not at all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = check_format(path)
    players = len(evaluation.names)
    matrix = evaluation.mode == "pairs"
    figure = Figure(figsize=(5.5 * (3 if matrix else 2), 2.6 + 0.55 * players), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(np.atleast_1d(figure.subplots(1, 3 if matrix else 2)))
    if matrix:
        _heat_map(evaluation, figure, axes.pop(0))
    _bars(evaluation, axes[0])
    _ending_bars(evaluation, axes[1])
    figure.suptitle(title(evaluation))
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower right", ncols=len(ENDINGS), fontsize=8)
    with atomic_writer(path, "wb") as stream:
        figure.savefig(stream, format=picture, dpi=120)


def _heat_map(evaluation: Evaluation, figure: Any, axis: Any) -> None:
    """Draw the matrix, red for losses and blue for wins; entries whose interval holds 0 are in brackets."""
    matrix = evaluation.matrix
    reach = float(np.nanmax(np.abs(matrix))) if np.isfinite(matrix).any() else 0.0
    image = axis.imshow(matrix, cmap="RdBu", vmin=-(reach or 1.0), vmax=reach or 1.0)
    for (player, opponent), entry in evaluation.estimates.items():
        unsure = entry.verdict == "inconclusive"
        words = f"{entry.mean:+.3f}\n±{entry.half_width:.3f}"
        dark = reach and abs(entry.mean) > 0.6 * reach
        axis.text(
            opponent, player, f"({words})" if unsure else words, ha="center", va="center", fontsize=8,
            color="white" if dark else "black",
        )  # fmt: skip
    places = range(len(evaluation.names))
    axis.set_xticks(places, evaluation.names, rotation=30, ha="right")
    axis.set_yticks(places, evaluation.names)
    field = "opponent" if evaluation.num_players == 2 else f"field of {evaluation.num_players - 1}"
    axis.set(title=f"{evaluation.unit.reward} (brackets: inconclusive)", xlabel=field, ylabel="agent")
    figure.colorbar(image, ax=axis, shrink=0.8)


def _bars(evaluation: Evaluation, axis: Any) -> None:
    """Draw each agent's mean payoff with its interval."""
    for player, entry in evaluation.overall.items():
        half = entry.half_width if np.isfinite(entry.half_width) else 0.0
        axis.barh(player, entry.mean, xerr=half, capsize=4, color="tab:blue" if entry.mean >= 0 else "tab:red")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(evaluation.names)), evaluation.names)
    axis.invert_yaxis()
    axis.set(title="mean over all opponents, 95 % interval", xlabel=evaluation.unit.reward)


def _ending_bars(evaluation: Evaluation, axis: Any) -> None:
    """Draw how each agent's hands ended, wins to the right and the rest to the left, by ending."""
    hands = evaluation.outcomes.hands.sum(axis=2)
    shares = hands / np.maximum(hands.sum(axis=(1, 2), keepdims=True), 1)
    right, left = np.zeros(len(shares)), np.zeros(len(shares))
    places = np.arange(len(shares))
    for ending in ENDINGS:
        lost, won = shares[:, int(ending), 0], shares[:, int(ending), 1]
        if not (lost.any() or won.any()):
            continue
        colour = COLOURS[int(ending) % len(COLOURS)]
        axis.barh(places, won, left=right, color=colour, label=ending_name(ending).replace("_", " "))
        axis.barh(places, -lost, left=-left, color=colour, alpha=0.55)
        right, left = right + won, left + lost
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(places, evaluation.names)
    axis.invert_yaxis()
    axis.set(title="how hands ended", xlabel="share of hands: not won (left), won (right)", xlim=(-1, 1))
