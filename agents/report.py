"""An evaluation as tables for people and as data for machines."""

from __future__ import annotations

import math
import platform
import string
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from agents.wording import counted, rules_title, short_names
from tonk_env.state import ending_name

if TYPE_CHECKING:
    from agents.evaluate import Evaluation
    from agents.statistics import Estimate

EVIDENCE_FORMAT = 2
PACKAGES = ("tonk-env", "numpy", "numba", "onnxruntime", "openskill")
COLOURS = {"better": "green", "worse": "red", "even": "cyan", "inconclusive": "dim"}
LETTERS = string.ascii_uppercase
LONGEST_LABEL = 12  # with longer names, or more agents than MOST_NAMED, the tables have letters, to fit in 80 columns
MOST_NAMED = 4


def tables(evaluation: Evaluation) -> Group:
    """Return title, payoffs, ways of winning and losing, and the verdicts in words."""
    parts: list[Any] = [Text(title(evaluation), style="bold"), Text(design(evaluation), style="dim")]
    labels = column_labels(evaluation.names)
    named = zip(labels, evaluation.names, strict=True)
    parts += [Text(f"{label} = {name}", overflow="fold") for label, name in named if label != name]
    parts.append(_payoffs(evaluation, labels))
    if evaluation.ratings:
        parts.append(_ladder(evaluation))
    parts.append(_ways(evaluation, labels, won=True))
    parts.append(_ways(evaluation, labels, won=False))
    if evaluation.outcomes.uncounted:
        missing = f"settled on the deal, or just before, and in neither table: {counted(evaluation.outcomes.uncounted, 'hand')}"
        parts.append(Text(missing, style="dim"))
    parts += [Text(line, style=COLOURS[verdict]) for verdict, line in verdicts(evaluation)]
    return Group(*parts)


def column_labels(names: Sequence[str]) -> list[str]:
    """Return what stands for the agents in the tables: their names where these are short, else A, B, C and so on."""
    short = short_names(names)
    if max(map(len, short)) <= LONGEST_LABEL and len(names) <= MOST_NAMED:
        return short
    return [LETTERS[at] if at < len(LETTERS) else str(at + 1) for at in range(len(names))]


def plain_text(renderable: Any, width: int) -> str:
    """Return what a rich object looks like on a console of that width, without colours."""
    console = Console(width=width, no_color=True, highlight=False, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def title(evaluation: Evaluation) -> str:
    """Return rules, players, deals and seed in one line."""
    deals = counted(evaluation.deals, "deal")
    return f"{rules_title(evaluation.rules)} · {evaluation.num_players} players · {deals} · seed {evaluation.seed}"


def design(evaluation: Evaluation) -> str:
    """Return in words what was played and what the numbers are."""
    unit = evaluation.unit
    seatings = len(evaluation.line_ups[0].seatings)
    field = (
        "all agents at one table"
        if evaluation.mode == "together"
        else "head to head"
        if evaluation.num_players == 2
        else f"one of the row's agent against {evaluation.num_players - 1} of the column's"
    )
    return (
        f"{field}; every deal in {counted(seatings, 'seating')}, {counted(evaluation.episodes, unit.episode)} in all; mean "
        f"{unit.reward} with its 95 % interval, each deal one cluster{_stages(evaluation)}{_controls(evaluation)}"
    )


def _stages(evaluation: Evaluation) -> str:
    """Return in words how a wished precision was reached, or missed."""
    if evaluation.precision is None:
        return ""
    widest = max(entry.half_width for entry in evaluation.estimates.values())
    missed = f", missed: the widest is ± {widest:.4f}" if widest > evaluation.precision * (1 + 1e-9) else ""
    return f"; deals chosen for ± {evaluation.precision:g} by a first stage of {evaluation.first_stage:,}{missed}"


def _controls(evaluation: Evaluation) -> str:
    """Return in words what control variates did."""
    if not evaluation.controls:
        return ""
    reductions = [control.reduction for control in evaluation.controls.values() if control.used]
    if not reductions:
        return "; control variates did not help and are left out"
    least, most = f"{100 * min(reductions):.0f}", f"{100 * max(reductions):.0f}"
    share = f"{least} %" if least == most else f"{least} to {most} %"
    return f"; control variates take {share} off the variance where they help"


def verdicts(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return (verdict, sentence) for every comparison; with two seats each pair once."""
    lines = []
    for (player, opponent), entry in evaluation.estimates.items():
        if evaluation.num_players == 2 and player > opponent and (opponent, player) in evaluation.estimates:
            continue
        other = _opponent(evaluation, opponent)
        words = {
            "better": f"{evaluation.names[player]} is better than {other}",
            "worse": f"{evaluation.names[player]} is worse than {other}",
            "even": f"{evaluation.names[player]} and {other} are exactly even on every deal",
            "inconclusive": f"inconclusive: {evaluation.names[player]} against {other}",
        }[entry.verdict]
        signs = evaluation.signs(player, opponent)
        lines.append((entry.verdict, f"{words}: {entry} {evaluation.unit.reward}{_raw(evaluation, entry)}; {signs}"))
    return lines


def _raw(evaluation: Evaluation, entry: Estimate) -> str:
    """Return the payoff in the rule set's own units, where it has any that say more."""
    factor = evaluation.unit.raw_factor
    if factor is None or factor == 1:
        return ""
    raw = entry.scaled(factor)
    width = f"{raw.half_width:.2f}" if math.isfinite(raw.half_width) else "?"
    return f" ({raw.mean:+.2f} ± {width} {evaluation.unit.raw})"


def _opponent(evaluation: Evaluation, opponent: int) -> str:
    if opponent < 0:
        return "the table"
    many = evaluation.num_players - 1
    return evaluation.names[opponent] if many == 1 else f"{many} x {evaluation.names[opponent]}"


def _payoffs(evaluation: Evaluation, labels: Sequence[str]) -> Grid:
    """Return the payoff matrix with overall mean, share of hands won and rating."""
    grid = _grid("Payoff", "agent")
    together = evaluation.mode == "together"
    opponents = [] if together else sorted({opponent for _, opponent in evaluation.estimates})
    for opponent in opponents:
        grid.add_column(f"against {labels[opponent]}", justify="right", overflow="fold")
    grid.add_column("at the table" if together else "mean", justify="right", overflow="fold")
    grid.add_column("hands won", justify="right", overflow="fold")
    if evaluation.ratings:
        grid.add_column("rating", justify="right", overflow="fold")
    for player, name in enumerate(labels):
        cells = [_cell(evaluation.estimates.get((player, opponent))) for opponent in opponents]
        cells += [_cell(evaluation.overall.get(player)), Text(f"{evaluation.outcomes.win_share(player):.1%}")]
        if evaluation.ratings:
            rating = evaluation.ratings[player]
            cells.append(Text(f"{rating.mu:.1f} ± {2 * rating.sigma:.1f}"))
        grid.add_row(name, *cells)
    return grid


def ladder(evaluation: Evaluation) -> list[int]:
    """Return the players from the best rating to the worst."""
    return sorted(evaluation.ratings, key=lambda player: -evaluation.ratings[player].mu)


def _ladder(evaluation: Evaluation) -> Grid:
    """Return the agents in the order of their ratings, with the rating that is nearly sure."""
    grid = _grid("Ladder", "rung")
    grid.add_column("agent", overflow="fold")
    for heading in ("rating", "nearly sure", "mean payoff"):
        grid.add_column(heading, justify="right", overflow="fold")
    for rung, player in enumerate(ladder(evaluation), 1):
        rating = evaluation.ratings[player]
        numbers = f"{rating.mu:.1f} ± {2 * rating.sigma:.1f}", f"{rating.ordinal:.1f}"
        grid.add_row(str(rung), evaluation.names[player], *numbers, _cell(evaluation.overall.get(player)))
    return grid


def _cell(entry: Estimate | None) -> Text:
    return Text("–", style="dim") if entry is None else Text(_short(entry), style=COLOURS[entry.verdict])


def _short(entry: Estimate) -> str:
    """Return mean and half interval; the only blank is where a narrow column may break the line."""
    return str(entry).replace("± ", "±")


def _ways(evaluation: Evaluation, labels: Sequence[str], won: bool) -> Grid:
    """Return the shares of each agent's hands that it won, or did not win, by ending, and how its calls went."""
    grid = _grid("Hands won by" if won else "Hands not won, by ending", "")
    for label in labels:
        grid.add_column(label, justify="right", overflow="fold")
    players = range(len(labels))
    for way in ways(won):
        hands = [_way(evaluation, player, way, won) for player in players]
        if any(hands):
            played = [max(1, evaluation.outcomes.played(player)) for player in players]
            grid.add_row(way[0], *(f"{part / whole:.1%}" for part, whole in zip(hands, played, strict=True)))
    if won:
        grid.add_section()
        calls = [_calls(evaluation, player) for player in players]
        for at, words in enumerate(("hands called", "mean count at the call", "calls caught")):
            grid.add_row(words, *(call[at] for call in calls))
    return grid


def _grid(title: str, first: str) -> Grid:
    """Return an empty table whose columns take little room, with the heading of its first column."""
    grid = Grid(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    grid.add_column(first, overflow="fold")
    return grid


def ways(won: bool) -> list[tuple[str, int, int | None]]:
    """Return (words, ending, called) for each way of winning or not; called None where nobody calls."""
    from agents.outcomes import CALLED, ENDINGS

    words = {
        ("drop", True, 1): "own drop",
        ("drop", False, 0): "other's drop",
        ("caught", True, 0): "catching",
        ("caught", False, 1): "own drop caught",
        ("caught", False, 0): "other's drop caught",
        ("tunk", True, 1): "own tunk",
        ("tunk", True, 0): "level with tunk",
        ("tunk", False, 0): "other's tunk",
        ("tunk_caught", True, 0): "catching tunk",
        ("tunk_caught", False, 1): "own tunk caught",
        ("tunk_caught", False, 0): "other's tunk caught",
    }
    found: list[tuple[str, int, int | None]] = []
    for ending in ENDINGS:
        name = ending_name(ending)
        if ending not in CALLED:
            found.append((name.replace("_", " "), int(ending), None))
            continue
        found += [(words[name, won, called], int(ending), called) for called in (1, 0) if (name, won, called) in words]
    return found


def _way(evaluation: Evaluation, player: int, way: tuple[str, int, int | None], won: bool) -> int:
    _, ending, called = way
    part = evaluation.outcomes.hands[player, ending, :, int(won)]
    return int(part.sum() if called is None else part[called])


def _calls(evaluation: Evaluation, player: int) -> list[str]:
    """Return share of hands called, mean count at the call and share of calls caught."""
    calls = evaluation.outcomes.calls(player)
    if not calls["made"]:
        return ["0.0%", "–", "–"]
    return [f"{calls['share_of_hands']:.1%}", f"{calls['mean_count']:.1f}", f"{calls['share_caught']:.1%}"]


def evidence(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything that was measured and everything it depends on, as plain data.

    ``timing`` is the only part that differs between two runs of one evaluation on one machine.
    """
    unit = evaluation.unit
    return {
        "evaluation": EVIDENCE_FORMAT,
        "rules": evaluation.rules.to_dict(),
        "rules_fingerprint": evaluation.rules.fingerprint(),
        "players": evaluation.num_players,
        "deals": evaluation.deals,
        "seed": evaluation.seed,
        "mode": evaluation.mode,
        "batch_tables": evaluation.batch_tables,
        "unit": {**asdict(unit), "raw": unit.raw or None},
        "interval": _interval(evaluation),
        "precision": evaluation.precision,
        "first_stage": evaluation.first_stage,
        "seatings": [line_up.seatings.tolist() for line_up in evaluation.line_ups],
        "episodes": evaluation.episodes,
        "hands_without_ending_data": evaluation.outcomes.uncounted,
        "agents": [_agent(evaluation, player) for player in range(len(evaluation.names))],
        "payoffs": [_payoff(evaluation, *pair) for pair in evaluation.estimates],
        "matrix": [[_number(cell) for cell in row] for row in evaluation.matrix.tolist()],
        "versions": versions(),
        "timing": {"seconds": round(evaluation.seconds, 3), "episodes_per_second": _rate(evaluation)},
    }


def _interval(evaluation: Evaluation) -> str:
    """Return in words how the intervals were made."""
    how = "Student's t over deals" if evaluation.precision is None else "Stein's two-stage procedure over deals"
    return f"95 %, {how}; a deal's value is the mean over all its seatings"


def _agent(evaluation: Evaluation, player: int) -> dict[str, Any]:
    rating = evaluation.ratings.get(player)
    return {
        "name": evaluation.names[player],
        "spec": evaluation.specs[player],
        "actions": evaluation.modes[player],
        "overall": evaluation.overall[player].to_dict() if player in evaluation.overall else None,
        **evaluation.outcomes.to_dict(player),
        "rating": rating and {"mu": rating.mu, "sigma": rating.sigma, "games": rating.games, "model": "PlackettLuce"},
    }


def _payoff(evaluation: Evaluation, player: int, opponent: int) -> dict[str, Any]:
    entry = evaluation.estimates[player, opponent]
    factor = evaluation.unit.raw_factor
    control = evaluation.controls.get((player, opponent))
    return {
        "agent": evaluation.names[player],
        "against": evaluation.names[opponent] if opponent >= 0 else None,
        **entry.to_dict(),
        "raw": None if factor is None else entry.scaled(factor).to_dict(),
        "sign_test": evaluation.signs(player, opponent).to_dict(),
        "control": None if control is None else {"used": control.used, "reduction": control.reduction},
    }


def versions() -> dict[str, str]:
    """Return the versions that a measurement depends on; packages that are not installed are left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _rate(evaluation: Evaluation) -> float:
    return round(evaluation.episodes / max(evaluation.seconds, 1e-9), 1)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
