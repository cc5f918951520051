"""What an agent is: something that chooses legal actions for batches of observations."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Observations = NDArray[np.int8]
Masks = NDArray[np.int8]
Rows = NDArray[np.int64]
Actions = NDArray[np.int64]


class AgentSpecError(ValueError):
    """A text that names no agent, or an agent that does not fit the game; the message is one sentence for the user."""


@runtime_checkable
class Agent(Protocol):
    """A player. One object plays at any number of tables at once; a single table is a batch of one.

    ``name`` is how tables and plots call it. ``compiled`` is ``(kind, parameter)`` for a player that
    ``tonk_env.batch.Batch.set_players`` runs inside the compiled loop, else None.
    """

    name: str
    compiled: tuple[int, int] | None

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], one legal action a row, for int8[B, O] observations and int8[B, A] masks.

        ``rows`` int64[B] names the table of each row, for agents that remember something about a game.
        """
        ...

    def reset(self, rows: Rows | None = None) -> None:
        """Forget what is remembered about these tables (all if None): a new episode begins there."""
        ...

    def seed(self, seed: int) -> None:
        """Start the generator from which choices are drawn anew: equal seeds, equal choices."""
        ...
