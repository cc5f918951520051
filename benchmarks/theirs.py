"""The other side of every comparison: random legal play of card games in the libraries that happen to be installed.

Each library is driven in the fastest way its documentation offers. Moves of chance are made but not counted.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random
from typing import Any

from measuring import Stepper
from ours import CHUNK, aec_loop, masked_action

SAMPLED = 400  # episodes from which the decisions of an episode are counted


def available() -> dict[str, Callable[[], Stepper]]:
    """Return makers of steppers by key, of those libraries that can be imported."""
    makers: dict[str, Callable[[], Stepper]] = {}
    if _has("pyspiel"):
        makers["spiel_gin"] = lambda: spiel("gin_rummy")
        makers["spiel_eights"] = lambda: spiel("crazy_eights")
        makers["spiel_eights_inside"] = lambda: spiel_inside("crazy_eights")
    if _has("rlcard"):
        makers["rlcard_gin"] = rlcard_gin
    if _has("rlcard") and _has("pettingzoo.classic.gin_rummy_v4"):
        makers["pettingzoo_gin"] = pettingzoo_gin
    return makers


def _has(module: str) -> bool:
    with contextlib.suppress(ImportError):
        return importlib.util.find_spec(module) is not None
    return False


def spiel(name: str) -> Stepper:
    """OpenSpiel from Python: observation written into a NumPy array, mask fetched, at every decision."""
    decisions = _decisions(name)

    def step() -> int:
        for _ in range(CHUNK):
            next(decisions)
        return CHUNK

    return step


def _decisions(name: str) -> Iterator[None]:
    """Play for ever; yields before every decision of a player."""
    pyspiel, observing = import_module("pyspiel"), import_module("open_spiel.python.observation")

    game, random = pyspiel.load_game(name), Random(0).random
    observation = observing.make_observation(game)
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                observation.set_from(state, state.current_player())
                state.legal_actions_mask()
                yield
            state.apply_action(legal[int(random() * len(legal))])  # its chance is uniform in these games


def spiel_inside(name: str) -> Stepper:
    """OpenSpiel's own loop in C++: whole episodes between random bots, neither observation nor mask."""
    pyspiel = import_module("pyspiel")
    game = pyspiel.load_game(name)
    bots = [pyspiel.make_uniform_random_bot(seat, seat + 1) for seat in range(game.num_players())]
    seeds = iter(range(2**31 - 1))

    def episode() -> Any:
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, next(seeds))
        return state

    histories = [episode().full_history() for _ in range(SAMPLED)]
    mean = sum(move.player >= 0 for history in histories for move in history) / SAMPLED

    def step() -> int:
        for _ in range(8):
            episode()
        return int(8 * mean)

    return step


def rlcard_gin() -> Stepper:
    """RLCard's gin rummy: each step returns observation and legal actions."""
    env, random = import_module("rlcard").make("gin-rummy", config={"seed": 0}), Random(0).random
    now: dict[str, Any] = {"state": env.reset()[0]}

    def step() -> int:
        state = now["state"]
        for _ in range(CHUNK):
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(random() * len(legal))])
            if env.is_over():
                state, _ = env.reset()
        now["state"] = state
        return CHUNK

    return step


def pettingzoo_gin() -> Stepper:
    """PettingZoo's gin rummy in the same loop as ours."""
    return aec_loop(import_module("pettingzoo.classic.gin_rummy_v4").env(), masked_action)
