"""Hooks the trainer into the library's loop: work between iterations, progress, stopping, and where the time goes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from stable_baselines3.common.callbacks import BaseCallback

from agents.progress import Display
from agents.runs import read_evaluations


class Hooks(Protocol):
    """What the trainer does when the loop passes by, and where it shows and keeps what came out."""

    folder: Path
    display: Display

    def share_used(self, step: int) -> float:
        """Return the share of the budget used after that many decisions."""

    def between_iterations(self, step: int) -> None:
        """Called with the decisions so far when an update is finished and the next rollout has not begun."""

    def playing(self, step: int) -> bool:
        """Called after every step of all tables; False stops the loop."""

    def learning(self) -> None:
        """Called when a rollout is complete and the update begins."""


class Clocks:
    """Seconds by what they were spent on, since the last ``shares``."""

    def __init__(self) -> None:
        self.seconds = {"rollout": 0.0, "update": 0.0}
        self._since = time.perf_counter()
        self._running: str | None = None

    def switch(self, to: str | None) -> None:
        """Stop the running clock and start another."""
        now = time.perf_counter()
        if self._running is not None:
            self.seconds[self._running] += now - self._since
        self._running, self._since = to, now

    def shares(self, inside: dict[str, float]) -> dict[str, float]:
        """Return the shares of env, opponents, policy and update, which sum to 1, and start afresh.

        ``inside`` holds the seconds that the environment counted within the rollouts, as ``env`` and ``opponents``.
        """
        rollout, update = self.seconds["rollout"], self.seconds["update"]
        self.seconds = dict.fromkeys(self.seconds, 0.0)
        parts = {**inside, "policy": max(0.0, rollout - sum(inside.values())), "update": update}
        total = sum(parts.values())
        return {name: seconds / total for name, seconds in parts.items()} if total else {}


class TrainingCallback(BaseCallback):
    """Calls the hooks at the right moments. Nothing of the run's state is kept here."""

    def __init__(self, hooks: Hooks, clocks: Clocks) -> None:
        super().__init__()
        self.hooks = hooks
        self.clocks = clocks

    def _on_training_start(self) -> None:
        """Show where the run stands, which after a stop is not its beginning."""
        lines = read_evaluations(self.hooks.folder)
        step = self.num_timesteps
        self.hooks.display.go_on(step, self.hooks.share_used(step), lines[-1]["payoffs"] if lines else None)

    def _on_rollout_start(self) -> None:
        self.clocks.switch(None)
        self.hooks.between_iterations(self.num_timesteps)
        self.clocks.switch("rollout")

    def _on_step(self) -> bool:
        return self.hooks.playing(self.num_timesteps)

    def _on_rollout_end(self) -> None:
        self.hooks.learning()
        self.clocks.switch("update")

    def _on_training_end(self) -> None:
        self.clocks.switch(None)
        self.hooks.between_iterations(self.num_timesteps)
