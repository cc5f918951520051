"""Measures players against each other: the same decks for all, seats rotated, every deal one cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, AgentSpecError
from agents.control import Control, combined, controlled
from agents.outcomes import Outcomes
from agents.playing import play_deals
from agents.ratings import Rating, rate
from agents.seatings import LineUp, cluster_means, line_ups
from agents.specs import make_agent
from agents.statistics import Estimate, SignTest, deals_needed, estimate, estimate_two_stage, sign_test
from tonk_env.rules import RuleSet, make_rules
from tonk_env.warmup import compile_batch

if TYPE_CHECKING:
    import os

    from rich.console import Group

Progress = Callable[[int, int], None]
Mode = Literal["pairs", "together"]
BATCH_TABLES = 2048  # tables in play at once: memory, and how many observations an agent is asked about in one call


FEWEST_FIRST = 100  # deals of a first stage
MAX_DEALS = 1_000_000  # to which a wished precision may lead
MOST_DEALS = 1_000_000_000  # each has a number in memory for each pair


class EvaluationError(ValueError):
    """An evaluation that cannot be played as asked; the message is one sentence."""


@dataclass(frozen=True)
class Unit:
    """What a payoff is counted in. ``raw_factor`` turns reward units into ``raw`` ones, None where places pay."""

    episode: str
    reward: str
    raw: str
    raw_factor: float | None


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation and everything it depends on.

    ``estimates`` maps (player, opponent) to the player's mean reward against that opponent (opponent -1: the whole
    table); ``overall`` is each player's mean over all its opponents, deal by deal.
    ``samples`` holds the cluster means behind ``estimates``, float64[D] each, in deal order. ``first_stage`` is the number
    of deals that decided, by their spread, how many there are in all to reach ``precision``; None for a number given.
    ``controls`` says for each pair by how much control variates reduced the variance, where they were asked for.
    """

    names: tuple[str, ...]
    specs: tuple[str, ...]
    rules: RuleSet
    num_players: int
    deals: int
    seed: int
    mode: Mode
    batch_tables: int
    line_ups: tuple[LineUp, ...]
    samples: dict[tuple[int, int], NDArray[np.float64]]
    estimates: dict[tuple[int, int], Estimate]
    overall: dict[int, Estimate]
    outcomes: Outcomes
    ratings: dict[int, Rating]
    seconds: float
    modes: tuple[str, ...]
    precision: float | None = None
    first_stage: int | None = None
    controls: dict[tuple[int, int], Control] = field(default_factory=dict)

    @property
    def unit(self) -> Unit:
        """What the numbers are counted in."""
        return unit_of(self.rules)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """float64[P, P]: mean reward of the row's player against the column's; NaN where they did not meet."""
        return self._square(lambda entry: entry.mean)

    @property
    def intervals(self) -> NDArray[np.float64]:
        """float64[P, P, 2]: low and high end of each entry's 95 % interval; NaN where they did not meet."""
        return np.stack([self._square(lambda entry: entry.low), self._square(lambda entry: entry.high)], axis=-1)

    @property
    def endings(self) -> dict[str, dict[str, dict[str, int]]]:
        """For each player, by ending: hands won and not won, and of these the ones it called itself."""
        return {name: self.outcomes.endings(player) for player, name in enumerate(self.names)}

    @property
    def episodes(self) -> int:
        """Hands or matches played, all seatings counted."""
        return self.deals * sum(len(line_up.seatings) for line_up in self.line_ups)

    def signs(self, player: int, opponent: int) -> SignTest:
        """Return on how many deals a player came out ahead of another; ``KeyError`` if they did not meet."""
        return sign_test(self.samples[player, opponent])

    def against(self, player: int, opponent: int) -> Estimate:
        """Return the mean reward of one player against another; ``KeyError`` if they did not meet."""
        return self.estimates[player, opponent]

    def table(self) -> Group:
        """Return the result as tables for a rich console."""
        from agents.report import tables

        return tables(self)

    def text(self, width: int = 120) -> str:
        """Return the tables as plain text."""
        from agents.report import plain_text

        return plain_text(self.table(), width)

    def to_dict(self) -> dict[str, Any]:
        """Return the result and all its inputs as plain data for JSON."""
        from agents.report import evidence

        return evidence(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return ``to_dict`` as JSON text, and write it to ``path`` if there is one."""
        import json

        from tonk_env.files import atomic_writer

        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        if path is not None:
            with atomic_writer(path) as stream:
                stream.write(text)
        return text

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the payoff matrix and each player's payoff and endings to a picture file (.png, .pdf or .svg)."""
        from agents.plots import plot_evaluation

        plot_evaluation(self, path)

    def write_report(self, folder: str | os.PathLike[str]) -> None:
        """Write everything into a folder: JSON, text, CSV tables and pictures."""
        from agents.report_folder import write_folder

        write_folder(self, folder)

    def _square(self, read: Callable[[Estimate], float]) -> NDArray[np.float64]:
        square = np.full((len(self.names), len(self.names)), np.nan)
        for (player, opponent), entry in self.estimates.items():
            if opponent >= 0:
                square[player, opponent] = read(entry)
        return square


def evaluate(
    specs: Sequence[str | Agent],
    rules: str | RuleSet = "points",
    num_players: int | None = None,
    deals: int = 1000,
    seed: int = 1_000_000,
    progress: Progress | None = None,
    *,
    together: bool = False,
    pairs: Sequence[tuple[int, int]] | None = None,
    batch_tables: int = BATCH_TABLES,
    ratings: bool = False,
    precision: float | None = None,
    max_deals: int = MAX_DEALS,
    control: bool = False,
) -> Evaluation:
    """Play ``deals`` deals for every line-up of the players and return their mean rewards with intervals.

    By default each player meets each other one: with two seats head to head, with more seats as the only one of its
    kind in a field of the other. ``pairs`` names the (player, opponent) pairs to play instead of all; ``together``
    seats all of them at one table. Deal d is the deck (seed, d) in every line-up, and is played in all seatings.
    ``progress`` is called with the episodes finished and to be played, first with 0 when the engine is ready.
    ``batch_tables`` tables are in play at once; for agents that draw at random it decides, with ``seed``, what they
    draw. With ``precision`` the deals are a first stage, whose spread decides how many follow until every interval is that
    narrow (half of it, in reward units), at most ``max_deals`` in all. ``control`` reduces the variance by what simple
    players earn on the same deals, see ``agents.control``. Raises ``EvaluationError``, ``AgentSpecError`` or ``RuleSetError``.
    """
    rules = make_rules(rules)
    num_players = rules.check_players(num_players)
    _check(specs, num_players, deals, seed, together, pairs, batch_tables)
    _check_stages(deals, precision, max_deals, control)
    agents = _seeded(specs, rules, num_players, seed)
    plan = line_ups(len(agents), num_players, pairs, together)
    compile_batch()  # before the clock starts
    started = time.perf_counter()
    play = _Play(agents, plan, rules, seed, batch_tables, progress)
    samples = play.staged(deals, precision, max_deals)
    first_stage = None if precision is None else deals
    controls = controlled(samples, plan, rules, num_players, seed) if control else {}
    return Evaluation(
        names=_labels([agent.name for agent in agents]),
        specs=tuple(spec if isinstance(spec, str) else f"<{spec.name}>" for spec in specs),
        rules=rules,
        num_players=num_players,
        deals=len(next(iter(samples.values()))),
        seed=seed,
        mode="together" if together else "pairs",
        batch_tables=batch_tables,
        line_ups=tuple(plan),
        samples=samples,
        estimates={pair: _judge(values, first_stage, controls.get(pair)) for pair, values in samples.items()},
        overall=_overall(samples, first_stage, controls),
        outcomes=play.outcomes,
        ratings=rate(samples, len(agents), seed) if ratings else {},
        seconds=time.perf_counter() - started,
        modes=tuple(_mode(agent) for agent in agents),
        precision=precision,
        first_stage=first_stage,
        controls=controls,
    )


def unit_of(rules: RuleSet) -> Unit:
    """Return what a payoff under these rules is counted in (R40)."""
    units = {
        "points": "points ahead of the others",  # the mean of their penalty points minus one's own
        "stakes": "stakes won",
        "difference": "count points won",
    }
    if rules.single_hand:
        return Unit("hand", "reward units a hand", f"{units[rules.settlement]} a hand", rules.scale)
    if rules.match_reward == "hands":
        return Unit("match", "reward units a match", f"{units[rules.settlement]} a match", rules.scale)
    return Unit("match", "places a match (first +1, last -1)", "", None)


def _seeded(specs: Sequence[str | Agent], rules: RuleSet, num_players: int, seed: int) -> list[Agent]:
    """Return the agents, each with a generator of its own."""
    agents = [make_agent(spec, rules, num_players, seed=_agent_seed(seed, at)) for at, spec in enumerate(specs)]
    for at, agent in enumerate(agents):
        agent.seed(_agent_seed(seed, at))
    return agents


class _Play:
    """The deals of an evaluation: all line-ups play them, in chunks, and the hands are counted."""

    def __init__(
        self,
        agents: Sequence[Agent],
        plan: Sequence[LineUp],
        rules: RuleSet,
        seed: int,
        batch_tables: int,
        progress: Progress | None,
    ) -> None:
        self.agents, self.plan, self.rules, self.seed = agents, plan, rules, seed
        self.batch_tables, self.progress = batch_tables, progress
        self.outcomes = Outcomes(len(agents))
        self.done = self.total = 0

    def deals(self, deals: range) -> dict[tuple[int, int], NDArray[np.float64]]:
        """Play these deals in every line-up; return the cluster means float64[D] of each (player, opponent)."""
        self.total += len(deals) * sum(len(line_up.seatings) for line_up in self.plan)
        self._finished(0)
        samples: dict[tuple[int, int], NDArray[np.float64]] = {}
        for line_up in self.plan:
            step = max(1, self.batch_tables // len(line_up.seatings))
            chunks = [range(first, min(first + step, deals.stop)) for first in range(deals.start, deals.stop, step)]
            returns = np.concatenate([self._chunk(line_up, chunk) for chunk in chunks])
            for player, opponent in line_up.entries:
                samples[player, opponent] = cluster_means(returns, line_up.seatings, player)
        return samples

    def staged(self, deals: int, precision: float | None, most: int) -> dict[tuple[int, int], NDArray[np.float64]]:
        """Play ``deals`` deals, and where a precision is wished as many more as their spread asks for."""
        samples = self.deals(range(deals))
        wanted = 0 if precision is None else max(deals_needed(values, precision) for values in samples.values())
        if min(wanted, most) <= deals:
            return samples
        more = self.deals(range(deals, min(wanted, most)))
        return {pair: np.concatenate([samples[pair], values]) for pair, values in more.items()}

    def _chunk(self, line_up: LineUp, chunk: range) -> NDArray[np.float64]:
        return play_deals(self.agents, line_up.seatings, self.rules, chunk, self.seed, self.outcomes, self._finished)

    def _finished(self, episodes: int) -> None:
        self.done += episodes
        if self.progress is not None:
            self.progress(self.done, self.total)


def overall_of(samples: dict[tuple[int, int], NDArray[np.float64]]) -> dict[int, NDArray[np.float64]]:
    """Return each player's mean over its opponents; the deals are the same for all, so they stay the clusters."""
    rows: dict[int, list[NDArray[np.float64]]] = {}
    for (player, _), values in samples.items():
        rows.setdefault(player, []).append(values)
    return {player: np.mean(values, axis=0) for player, values in sorted(rows.items())}


def _overall(
    samples: dict[tuple[int, int], NDArray[np.float64]], first_stage: int | None, controls: dict[tuple[int, int], Control]
) -> dict[int, Estimate]:
    """Return each player's mean over its opponents, with the luck taken off that was taken off its payoffs."""
    judged = {}
    for player, values in overall_of(samples).items():
        own = [control for (one, _), control in controls.items() if one == player]
        judged[player] = _judge(values, first_stage, combined(own) if own else None)
    return judged


def _judge(values: NDArray[np.float64], first_stage: int | None, control: Control | None = None) -> Estimate:
    """Return the mean of a sample with the interval that fits how its size was chosen, or its control variates."""
    if control is not None:
        return control.widened(estimate(control.values))
    return estimate(values) if first_stage is None else estimate_two_stage(values, first_stage)


def _check_stages(deals: int, precision: float | None, max_deals: int, control: bool) -> None:
    """Refuse a precision that cannot be reached for, in one sentence."""
    if precision is None:
        return
    if isinstance(precision, bool) or not isinstance(precision, int | float) or not 0 < precision < float("inf"):
        raise EvaluationError(f"precision is {precision!r}; a half-width above 0 in reward units is needed, as in 0.01")
    if deals < FEWEST_FIRST:
        raise EvaluationError(f"{deals} deals are too few for a first stage; at least {FEWEST_FIRST} must show the spread")
    if max_deals > MOST_DEALS:
        raise EvaluationError(f"max_deals is {max_deals:,}: at most {MOST_DEALS:,} deals are kept track of")
    if max_deals < deals:
        raise EvaluationError(f"max_deals is {max_deals}, less than the {deals} deals of the first stage")
    if control:
        raise EvaluationError("control variates are for a number of deals that is given: leave out either precision or control")


def _check(
    specs: Sequence[str | Agent],
    num_players: int,
    deals: int,
    seed: int,
    together: bool,
    pairs: Sequence[tuple[int, int]] | None,
    batch_tables: int,
) -> None:
    """Refuse what cannot be played, in one sentence."""
    if isinstance(specs, str) or len(specs) < 2:
        raise EvaluationError("an evaluation needs at least two agents, as in `greedy random` (or twice the same)")
    for name, number, least in (("deals", deals, 1), ("seed", seed, 0), ("batch_tables", batch_tables, 1)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
            raise EvaluationError(f"{name} is {number!r}; a whole number of at least {least} is needed")
    if deals > MOST_DEALS:
        raise EvaluationError(f"{deals:,} deals are too many: at most {MOST_DEALS:,} are kept track of")
    if together and len(specs) != num_players:
        raise EvaluationError(f"{len(specs)} agents cannot sit together at a table of {num_players}; name one a seat")
    for pair in pairs or ():
        if len(set(pair)) != 2 or not all(0 <= player < len(specs) for player in pair):
            raise EvaluationError(f"the pair {tuple(pair)} is not two different players out of 0 to {len(specs) - 1}")


def _mode(agent: Agent) -> str:
    """Return how an agent comes to its actions: compiled, the likeliest one, or drawn from its policy."""
    if agent.compiled is not None:
        return "compiled"
    greedy = getattr(agent, "greedy", None)
    return "act" if greedy is None else "likeliest" if greedy else "sampled"


def _agent_seed(seed: int, player: int) -> int:
    """Return a seed of its own for each player, so that two copies of one agent do not draw alike."""
    return int(np.random.SeedSequence([seed, player]).generate_state(1, np.uint32)[0])


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, a repeated one with its number: greedy, greedy (2)."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(labels)


__all__ = ["AgentSpecError", "Evaluation", "EvaluationError", "Unit", "evaluate", "overall_of", "unit_of"]
