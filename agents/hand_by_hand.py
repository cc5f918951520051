"""Plays matches with policies that were made for single hands of the same game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, Masks, Observations, Rows
from agents.card import check_same_game
from agents.onnx_agent import OnnxAgent
from tonk_env.actions import num_actions
from tonk_env.observation import ObservationLayout
from tonk_env.rules import OPTIONS, RuleSet

# Options that say how hands make a match, what the match pays, or who may sit down: no hand is played by them.
OF_THE_MATCH = (
    "match", "hands", "elimination", "target", "match_reward", "reward_scale", "next_start", "min_players", "max_players",
)  # fmt: skip


def hand_differences(hand: RuleSet, rules: RuleSet) -> list[str]:
    """Return the names of the options by which a hand is played otherwise."""
    return [name for name in OPTIONS if name not in OF_THE_MATCH and getattr(hand, name) != getattr(rules, name)]


def plays_hands_of(hand: RuleSet, rules: RuleSet, num_players: int) -> bool:
    """Whether a policy for single hands of ``hand`` can play the hands under ``rules``, at a table of the same size.

    The hand must be played by the same options, the actions be the same, and the observation hold every block of the hand's.
    """
    if not hand.single_hand or hand_differences(hand, rules) or num_actions(hand) != num_actions(rules):
        return False
    whole = {block.name: block.shape for block in ObservationLayout(rules, num_players).blocks}
    return all(whole.get(block.name) == block.shape for block in ObservationLayout(hand, num_players).blocks)


def hand_columns(hand: ObservationLayout, whole: ObservationLayout, seats: Sequence[int]) -> NDArray[np.intp]:
    """Return where the bytes of a hand's observation stand in that of a table, intp[hand.size].

    ``seats`` are the relative seats that sit in the hand. Blocks with a row for each seat give the rows of these, and their
    last row too where it stands for nobody. Raises KeyError or ValueError if a block is missing or has another form.
    """
    columns = []
    for block in hand.blocks:
        source = whole.block(block.name)
        places = np.arange(source.offset, source.offset + source.size).reshape(source.shape)
        if len(places) != block.shape[0]:
            nobody = [whole.num_players] if block.shape[0] == len(seats) + 1 else []
            places = places[[*seats, *nobody]]
        if places.shape != block.shape:
            raise ValueError(f"the block {block.name!r} has shape {source.shape}, which holds no {block.shape}")
        columns.append(places.ravel())
    return np.concatenate(columns)


class HandByHand:
    """Plays each hand of a match for what the hand pays, and does not look at totals or at the hands to come.

    ``policies`` maps a number of seats to the policy that plays hands of so many; that of ``num_players`` must be among
    them. In a match to elimination seats fall out. A smaller hand is played by the policy for the seats left, which sees
    those seats only; without one by the policy of the whole table, to which a seat that is out is one without cards.
    """

    compiled: tuple[int, int] | None = None

    def __init__(self, policies: Mapping[int, OnnxAgent], rules: RuleSet, num_players: int, name: str, seed: int = 0) -> None:
        self.name, self.rules, self.num_players = name, rules, num_players
        self.greedy = policies[num_players].greedy
        self._policies = dict(policies)
        self._layout = ObservationLayout(rules, num_players)
        self._live = next((block for block in self._layout.blocks if block.name == "live"), None)
        self._plans: dict[int, tuple[OnnxAgent, NDArray[np.intp]]] = {}  # by the seats in the hand, as bits
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], one legal action for each of int8[B, O] observations with int8[B, A] masks."""
        actions = np.empty(len(observations), dtype=np.int64)
        for policy, columns, chosen in self._split(observations):
            actions[chosen] = policy.act(observations[np.ix_(chosen, columns)], masks[chosen])
        return actions

    def probabilities(self, observations: Observations, masks: Masks) -> NDArray[np.float64]:
        """Return float64[B, A]: how likely it chooses each action."""
        shares = np.zeros(masks.shape)
        for policy, columns, chosen in self._split(observations):
            shares[chosen] = policy.probabilities(observations[np.ix_(chosen, columns)], masks[chosen])
        return shares

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``AgentSpecError`` for a game other than the one it was made for, naming what differs."""
        check_same_game(self.name, (self.rules, self.num_players), rules, num_players)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: the observation holds all that a policy remembers."""

    def seed(self, seed: int) -> None:
        """Start the generators anew."""
        for policy in self._policies.values():
            policy.seed(seed)

    def _split(self, observations: Observations) -> Iterator[tuple[OnnxAgent, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield (policy, columns that it sees, rows that it plays) for every set of seats in the hand."""
        everybody = (1 << self.num_players) - 1
        if self._live is None:
            codes = np.full(len(observations), everybody)
        else:
            codes = self._live.of(observations).astype(np.int64) @ (1 << np.arange(self.num_players))
        for code in np.unique(codes).tolist():
            policy, columns = self._plan(code)
            yield policy, columns, np.flatnonzero(codes == code)

    def _plan(self, code: int) -> tuple[OnnxAgent, NDArray[np.intp]]:
        if code not in self._plans:
            seats = [seat for seat in range(self.num_players) if code >> seat & 1]
            if len(seats) not in self._policies:
                seats = list(range(self.num_players))
            policy = self._policies[len(seats)]
            hand = ObservationLayout(policy.rules, len(seats))
            self._plans[code] = policy, hand_columns(hand, self._layout, seats)
        return self._plans[code]
