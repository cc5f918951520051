"""What a network is shown beside the observation: how far cards are from each spread, and what fits on the table.

All of it follows from the observation and nothing is learned here. A network finds such patterns by itself only after very many
hands, since each is rare: three given cards are held together once in thousands of hands.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tonk_env.cards import NUM_RANKS, NUM_SUITS, RANK_NAMES
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet
from tonk_env.spreads import MIN_SPREAD

FIT = NUM_SUITS * NUM_RANKS  # places of natural cards, the only ones that are open to hits


class SpreadFeatures(nn.Module):
    """A layer that puts its features after the observation, float32[B, O] to float32[B, O + F].

    For every rank, and every run of three, with the cards of it that are held counted (and wild cards, which fit everywhere):
    how many more than one, how many more than two, and the latter with the top discard among them. Then, for every
    card, whether it is held and its place is open to a hit (R15), and last whether that holds for the top discard.
    """

    def __init__(self, rules: RuleSet, num_players: int) -> None:
        super().__init__()
        layout = ObservationLayout(rules, num_players)
        self.in_features = layout.size
        self.starts = layout.block("hand").offset, layout.block("top").offset, layout.block("open").offset
        cards = layout.block("hand").size
        self.spreads: torch.Tensor
        self.register_buffer("spreads", torch.from_numpy(_spreads(rules, cards)), persistent=False)
        self.out_features = layout.size + 3 * self.spreads.shape[1] + FIT + 1

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the observations with their features after them."""
        hand, top, table = (observations[:, start:] for start in self.starts)
        cards = len(self.spreads)
        held = hand[:, :cards] @ self.spreads
        with_top = held + top[:, :cards] @ self.spreads
        fits = torch.maximum(torch.maximum(table[:, :FIT], table[:, FIT : 2 * FIT]), table[:, 2 * FIT : 3 * FIT]) - 1
        top_fits = torch.relu(top[:, :FIT] + fits).sum(dim=1, keepdim=True)
        parts = observations, held - 1, held - 2, with_top - 2, hand[:, :FIT] + fits, top_fits
        return torch.relu(torch.cat(parts, dim=1))  # the observation is 0 or 1 and stays as it is


def _spreads(rules: RuleSet, cards: int) -> NDArray[np.float32]:
    """Return float32[cards, S]: which cards belong to each rank, then to each run of three; wild cards belong to all."""
    ranks = [RANK_NAMES.index(name) for name in rules.ranks]
    runs = [ranks[low : low + MIN_SPREAD] for low in range(len(ranks) + 1 - MIN_SPREAD)]
    suits = range(rules.suits)
    groups = [[suit * NUM_RANKS + rank for suit in suits] for rank in ranks]
    groups += [[suit * NUM_RANKS + rank for rank in run] for suit in suits for run in runs]
    belongs = np.zeros((cards, len(groups)), np.float32)
    for number, group in enumerate(groups):
        belongs[group, number] = 1
    if rules.wild == "deuces":
        belongs[[suit * NUM_RANKS + RANK_NAMES.index("2") for suit in suits]] = 1
    if rules.wild == "jokers":
        belongs[FIT:] = 1
    return belongs
