"""PettingZoo's classic wrappers for the AEC door, with a short way to the attributes that every step reads.

A wrapper of PettingZoo passes each attribute on to the next layer by ``__getattr__``; three layers and some ten attributes
a step cost more than the game. Here they are read straight from the environment inside. What is checked stays the same.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

HOT = ("agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards")


def _straight(name: str) -> property:
    """An attribute of the environment inside."""

    def read(self: Any) -> Any:
        return getattr(self._inside, name)

    return property(read)


class _Straight:
    """Reads the hot attributes from the environment inside, whatever lies between."""

    def __init__(self, env: AECEnv, *args: Any, **kwargs: Any) -> None:
        self._inside = env.unwrapped
        super().__init__(env, *args, **kwargs)  # type: ignore[call-arg]  # a wrapper comes next in line

    agent_selection = _straight("agent_selection")
    rewards = _straight("rewards")
    terminations = _straight("terminations")
    truncations = _straight("truncations")
    infos = _straight("infos")
    _cumulative_rewards = _straight("_cumulative_rewards")


class IllegalMoveWrapper(_Straight, wrappers.TerminateIllegalWrapper):
    """An illegal move ends the episode: the offender gets the illegal reward, the others nothing."""

    agents = _straight("agents")

    def step(self, action: int | None) -> None:
        """Step; whether the move is legal is judged by the table as it stands, not by what was observed last."""
        self._prev_obs = None
        super().step(action)


class ActionCheckWrapper(_Straight, wrappers.AssertOutOfBoundsWrapper):
    """PettingZoo's bounds check with a sentence that names the seat and says what is allowed."""

    agents = _straight("agents")

    def step(self, action: int | None) -> None:
        """Step, or raise ActionError for an action that the selected seat cannot send."""
        self._inside.check_action(action)
        self.env.step(action)


class OrderWrapper(_Straight, wrappers.OrderEnforcingWrapper):
    """Says so when something is called before reset, or after the end."""

    @property
    def agents(self) -> Any:
        """Agents still in the game. Raises AttributeError before the first reset."""
        return self._inside.agents if self._has_reset else self.__getattr__("agents")

    def last(self, observe: bool = True) -> Any:
        """What the selected seat sees, has earned, and whether it has finished."""
        return self._inside.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: int | None) -> None:
        """Step. A legal move of a seat in the game passes every check of the layers between, so it goes straight in."""
        if self._has_reset and self._inside.playable(action):
            self._has_updated = True
            self._inside.play(action)
        else:
            super().step(action)
