"""The opponents of self-play: the newest policy, earlier ones and the baselines, drawn by weight with a seeded generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, Masks, Observations
from agents.config import OpponentsConfig
from agents.heuristics import KINDS
from agents.network import Network
from agents.sampling import draw
from agents.specs import parse_spec

EXTERNAL = -1  # kind of a seat that the compiled loop leaves to its caller
CURRENT, SNAPSHOT, FIRST_BASELINE = 0, 1, 2  # kinds of opponents in statistics


@dataclass(frozen=True)
class Draw:
    """Opponents for some seats: ``member`` int64 (number of a policy, -1 for a baseline), ``kind`` int64 (index in
    ``OpponentPool.kinds``), ``compiled`` int8 and ``param`` int16 for the compiled loop."""

    member: NDArray[np.int64]
    kind: NDArray[np.int64]
    compiled: NDArray[np.int8]
    param: NDArray[np.int16]


class OpponentPool:
    """Who may sit in the other seats.

    Policies are frozen copies under rising numbers; none is ever changed. The newest is renewed at the start of every
    iteration, and every ``snapshot_every`` iterations it also enters the ring of snapshots. A policy that left both stays
    loaded until the last episode in which it plays has ended.
    """

    def __init__(self, config: OpponentsConfig, seed: int) -> None:
        self.config = config
        self.generator = np.random.default_rng([seed, 1])
        specs = [parse_spec(spec) for spec in config.baselines]
        self.kinds = ["current", "snapshot", *(spec.text for spec in specs)]
        self._compiled = np.array([EXTERNAL, EXTERNAL, *(KINDS[spec.kind] for spec in specs)], dtype=np.int8)
        self._param = np.array([0, 0, *(spec.param for spec in specs)], dtype=np.int16)
        self.networks: dict[int, Network] = {}
        self.newest = -1
        self.ring: list[int] = []
        self.active: list[int] = []

    def renew(self, network: Network, iteration: int, playing: Iterable[int]) -> None:
        """Begin an iteration with a frozen copy of the learner; forget policies that are not in ``playing`` nor kept."""
        self.newest += 1
        self.networks[self.newest] = network
        if iteration and iteration % self.config.snapshot_every == 0:
            self.ring = [*self.ring, self.newest][-self.config.ring :]
        count = min(self.config.active, len(self.ring))
        self.active = sorted(int(n) for n in self.generator.choice(self.ring, count, replace=False)) if count else []
        keep = {self.newest, *self.ring, *(int(n) for n in playing)}
        self.networks = {number: network for number, network in self.networks.items() if number in keep}

    def weights(self) -> NDArray[np.float64]:
        """Return the shares of ``kinds``; they sum to 1. Without snapshots their share is the newest policy's."""
        config = self.config
        old = config.snapshots if self.active else 0.0
        shares = np.array([config.current + config.snapshots - old, old, *config.baselines.values()])
        if not shares.sum():
            shares[CURRENT] = 1.0
        return np.asarray(shares / shares.sum())

    def draw(self, shape: tuple[int, ...]) -> Draw:
        """Draw an opponent for every seat of an array of seats."""
        steps = np.cumsum(self.weights())
        kind = np.minimum(np.searchsorted(steps, self.generator.random(shape), side="right"), len(steps) - 1)
        member = np.where(kind == CURRENT, self.newest, -1)
        old = kind == SNAPSHOT
        if old.any():
            member[old] = self.generator.choice(self.active, int(old.sum()))
        return Draw(member, kind, self._compiled[kind], self._param[kind])

    def act(self, members: NDArray[np.int64], observations: Observations, masks: Masks) -> Actions:
        """Return int64[B]: what the policies numbered ``members`` int64[B] draw for these rows, asked policy by policy."""
        logits = np.empty(masks.shape, dtype=np.float32)
        for member in np.unique(members):
            rows = members == member
            logits[rows] = self.networks[int(member)].logits(observations[rows])
        return draw(logits, masks, self.generator.random(len(members), dtype=np.float32))

    def state(self) -> dict[str, Any]:
        """Return all but the networks, as plain values for JSON."""
        return {
            "kinds": self.kinds,
            "newest": self.newest,
            "ring": self.ring,
            "active": self.active,
            "generator": self.generator.bit_generator.state,
        }

    def restore(self, state: dict[str, Any], networks: dict[int, Network]) -> None:
        """Go on from ``state()`` with the networks that were loaded then."""
        self.newest, self.ring, self.active = state["newest"], list(state["ring"]), list(state["active"])
        self.generator.bit_generator.state = state["generator"]
        self.networks = dict(networks)
