"""The other players of an environment with one learner: from specs or objects to who sits where."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tonk_env import batch
from tonk_env.rules import RuleSet

ENTRY_POINTS = "tonk_env.agents"
MAKER = "make_agent"


class Opponent(Protocol):
    """What an object must have to play: legal actions int64[B] for observations int8[B, O] and masks int8[B, A].

    ``rows`` int64[B] numbers the games, one number for each seat of each table. Optional: ``reset(rows)`` when games
    begin, ``seed(seed)``, and ``compiled``, a pair (kind, parameter) for players that ``Batch`` runs by itself.
    """

    def act(
        self, observations: NDArray[np.int8], masks: NDArray[np.int8], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Choose one legal action a row."""
        ...


Given: TypeAlias = "str | Opponent"


class RandomOpponent:
    """Chooses evenly among the legal actions, from its own generator."""

    name = "random"
    compiled = (batch.RANDOM, 0)

    def __init__(self) -> None:
        self._generator = np.random.default_rng()

    def act(
        self, observations: NDArray[np.int8], masks: NDArray[np.int8], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """One legal action a row, int64[B]."""
        lots = np.where(masks, self._generator.random(masks.shape), -1.0)
        return np.asarray(lots.argmax(axis=1), dtype=np.int64)

    def seed(self, seed: int) -> None:
        """Start the generator anew."""
        self._generator = np.random.default_rng(seed)


class Opponents:
    """The players of all seats but the learner's, in order from the learner's left.

    ``given`` is one spec or object for all of them, or a sequence of one for each. One object may sit at several
    seats. Raises ValueError for a wrong number of opponents and for what is no opponent, RuntimeError for a spec
    without a library of agents to look it up in.
    """

    def __init__(self, given: Given | Sequence[Given], rules: RuleSet, num_players: int) -> None:
        self.num_players = num_players
        self.players = [_resolve(one, rules, num_players) for one in _one_each(given, num_players - 1)]
        different = {id(player): player for player in self.players}.values()
        self._resetting: list[Any] = [player for player in different if hasattr(player, "reset")]

    def seed(self, seed: int) -> None:
        """Seed every player that can be seeded, each differently."""
        for place, player in enumerate(self.players):
            if hasattr(player, "seed"):
                words = np.random.SeedSequence([seed, place]).generate_state(2)
                player.seed(int(words[0]))

    def reset(self, tables: NDArray[np.int64]) -> None:
        """Tell players that remember that new games begin at these tables."""
        if self._resetting:
            rows = (tables[:, None] * self.num_players + np.arange(self.num_players)).ravel()
            for player in self._resetting:
                player.reset(rows)

    def act(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.int8],
        tables: NDArray[np.int64],
        seats: NDArray[np.int64],
        learners: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """One action a row, int64[B], for the seats on turn at some tables; ``learners`` are the learners' seats there."""
        places = (seats - learners - 1) % self.num_players
        actions = np.empty(len(tables), dtype=np.int64)
        for place in np.unique(places):
            mine = np.flatnonzero(places == place)
            rows = tables[mine] * self.num_players + seats[mine]
            actions[mine] = self.players[place].act(observations[mine], masks[mine], rows)
        return actions

    def compiled(self) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
        """Kind and parameter of every seat for ``Batch.set_players``, both [learner's seat, seat]."""
        kinds = np.full((self.num_players, self.num_players), batch.EXTERNAL, dtype=np.int8)
        params = np.zeros((self.num_players, self.num_players), dtype=np.int16)
        for learner in range(self.num_players):
            for place, player in enumerate(self.players):
                pair = getattr(player, "compiled", None)
                if pair is not None:
                    seat = (learner + 1 + place) % self.num_players
                    kinds[learner, seat], params[learner, seat] = pair
        return kinds, params


def _one_each(given: Given | Sequence[Given], count: int) -> list[Given]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return [given] * count
    if len(given) != count:
        raise ValueError(f"opponents: {len(given)} given, but {count} sit at this table beside the learner")
    return list(given)


def _resolve(given: Any, rules: RuleSet, num_players: int) -> Opponent:
    if isinstance(given, str):
        return RandomOpponent() if given == "random" else _from_spec(given, rules, num_players)
    if callable(getattr(given, "act", None)):
        return cast("Opponent", given)
    raise ValueError(f"opponents: {given!r} is no opponent: give a spec such as 'greedy', or an object with act()")


def _from_spec(spec: str, rules: RuleSet, num_players: int) -> Opponent:
    """The agent of a spec, from whatever library of agents is installed."""
    makers = list(entry_points(group=ENTRY_POINTS, name=MAKER))
    if not makers:
        raise RuntimeError(
            f"opponents: {spec!r} needs the agents that come with tonk-env, and none are installed "
            f"(entry point {MAKER!r} in group {ENTRY_POINTS!r}): install tonk-env, or give an object with act()"
        )
    return cast("Opponent", makers[0].load()(spec, rules, num_players))
