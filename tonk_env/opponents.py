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
    begin, ``seed(seed)``, ``compiled``, a pair (kind, parameter) for players that ``Batch`` runs by itself, and
    ``check_game(rules, num_players)``, which raises ValueError if the player is made for another game.
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
    seats. Raises ValueError for a wrong number of opponents, for what is no opponent and for an opponent made for
    another game, RuntimeError for a spec without a library of agents to look it up in.
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
            answer = self.players[place].act(observations[mine], masks[mine], rows)
            actions[mine] = self._checked(place, answer, masks[mine])
        return actions

    def _checked(self, place: int, answer: Any, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """An opponent's actions. Raises ValueError, naming it, unless there is one legal whole number a row."""
        name = getattr(self.players[place], "name", type(self.players[place]).__name__)
        given = np.asarray(answer)
        if given.shape != (len(masks),) or given.dtype.kind not in "iu":
            raise ValueError(
                f"opponent {name!r}: act() must return {len(masks)} whole numbers, not {given.dtype} of shape {given.shape}"
            )
        for number, mask in zip(given.tolist(), masks, strict=True):
            if not 0 <= number < mask.size or not mask[number]:
                raise ValueError(f"opponent {name!r}, {place + 1} to the learner's left, chose action {number}: not legal")
        return given.astype(np.int64)

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
        verb = "sits" if count == 1 else "sit"
        raise ValueError(f"opponents: {len(given)} given, but {count} {verb} at this table beside the learner")
    return list(given)


def _resolve(given: Any, rules: RuleSet, num_players: int) -> Opponent:
    if isinstance(given, str):
        return RandomOpponent() if given == "random" else _from_spec(given, rules, num_players)
    if callable(getattr(given, "act", None)):
        check_game(given, rules, num_players)
        return cast("Opponent", given)
    raise ValueError(f"opponents: {given!r} is no opponent: give a spec such as 'greedy', or an object with act()")


def check_game(player: Any, rules: RuleSet, num_players: int) -> None:
    """Let a player that can tell refuse a game it is not made for: ValueError, naming what differs."""
    check = getattr(player, "check_game", None)
    if callable(check):
        check(rules, num_players)


def _from_spec(spec: str, rules: RuleSet, num_players: int) -> Opponent:
    """The agent of a spec, from whatever library of agents is installed."""
    makers = list(entry_points(group=ENTRY_POINTS, name=MAKER))
    if not makers:
        raise RuntimeError(
            f"opponents: {spec!r} needs the agents that come with tonk-env, and none are installed "
            f"(entry point {MAKER!r} in group {ENTRY_POINTS!r}): install the project, or give an object with act()"
        )
    return cast("Opponent", makers[0].load()(spec, rules, num_players))
