"""Pictures of an evaluation: payoff matrix, payoffs with intervals, how hands were won and lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.report import ladder, title, ways
from agents.wording import short_names
from tonk_env.files import atomic_writer

if TYPE_CHECKING:
    from agents.evaluate import Evaluation

FORMATS = (".png", ".pdf", ".svg")
PALETTE = "tab20"  # a colour for each way in which a hand ends for a player


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
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower right", ncols=6, fontsize=8)
    with atomic_writer(path, "wb") as stream:
        figure.savefig(stream, format=picture, dpi=120)


def plot_drops(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Draw, for each agent, at which counts it drops or tunks and how often it is caught there."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = check_format(path)
    players = len(evaluation.names)
    figure = Figure(figsize=(8, 1.2 + 1.5 * players), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(players, 1, sharex=True))
    last = 1 + max([int(np.flatnonzero(at.sum(axis=1)).max(initial=0)) for at in evaluation.outcomes.calls_at], default=0)
    for player, axis in enumerate(axes):
        safe, caught = evaluation.outcomes.calls_at[player, : last + 1].T
        hands = max(1, evaluation.outcomes.played(player))
        axis.bar(range(last + 1), safe / hands, color="tab:blue", label="not caught")
        axis.bar(range(last + 1), caught / hands, bottom=safe / hands, color="tab:red", label="caught")
        axis.set_ylabel(short_names(evaluation.names)[player], rotation=0, ha="right", va="center")
    axes[0].legend()
    axes[-1].set_xlabel("count at the drop or tunk (heights: share of the agent's hands)")
    figure.suptitle(title(evaluation))
    with atomic_writer(path, "wb") as stream:
        figure.savefig(stream, format=picture, dpi=120)


def plot_ladder(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Draw the ratings of the agents, the best on top, with twice their uncertainty."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = check_format(path)
    order = ladder(evaluation)
    figure = Figure(figsize=(7, 1.2 + 0.4 * len(order)), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    ratings = [evaluation.ratings[player] for player in order]
    axis.errorbar([one.mu for one in ratings], range(len(order)), xerr=[2 * one.sigma for one in ratings], fmt="o", capsize=4)
    axis.set_yticks(range(len(order)), [short_names(evaluation.names)[player] for player in order])
    axis.invert_yaxis()
    axis.set(title=title(evaluation), xlabel="OpenSkill rating, twice its uncertainty")
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
    names = short_names(evaluation.names)
    places = range(len(names))
    axis.set_xticks(places, names, rotation=30, ha="right")
    axis.set_yticks(places, names)
    field = "opponent" if evaluation.num_players == 2 else f"field of {evaluation.num_players - 1}"
    axis.set(title=f"{evaluation.unit.reward} (brackets: inconclusive)", xlabel=field, ylabel="agent")
    figure.colorbar(image, ax=axis, shrink=0.8)


def _bars(evaluation: Evaluation, axis: Any) -> None:
    """Draw each agent's mean payoff with its interval."""
    for player, entry in evaluation.overall.items():
        half = entry.half_width if np.isfinite(entry.half_width) else 0.0
        axis.barh(player, entry.mean, xerr=half, capsize=4, color="tab:blue" if entry.mean >= 0 else "tab:red")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(evaluation.names)), short_names(evaluation.names))
    axis.invert_yaxis()
    axis.set(title="mean over all opponents, 95 % interval", xlabel=evaluation.unit.reward)


def way_colours() -> dict[str, Any]:
    """Return a colour for each way a hand can end for a player, by its words: catching is not being caught."""
    from matplotlib import colormaps

    names = dict.fromkeys(words for won in (True, False) for words, _, _ in ways(won))
    return {name: colormaps[PALETTE](at % 20) for at, name in enumerate(names)}


def _ending_bars(evaluation: Evaluation, axis: Any) -> None:
    """Draw how each agent's hands ended, wins to the right and the rest to the left, by the way they ended."""
    hands = evaluation.outcomes.hands
    played = np.maximum(hands.sum(axis=(1, 2, 3)), 1)
    places, colours = np.arange(len(hands)), way_colours()
    named: set[str] = set()
    for won in (True, False):
        reach = np.zeros(len(hands))
        for words, ending, called in ways(won):
            part = hands[:, ending, :, int(won)]
            share = (part.sum(axis=1) if called is None else part[:, called]) / played * (1 if won else -1)
            if not share.any():
                continue
            axis.barh(places, share, left=reach, color=colours[words], label=None if words in named else words)
            named.add(words)
            reach = reach + share
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(places, short_names(evaluation.names))
    axis.invert_yaxis()
    axis.set(title="how hands ended", xlabel="share of hands: not won (left), won (right)", xlim=(-1, 1))
