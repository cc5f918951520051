"""The whole game tree of a single hand for two, as arrays: for rule sets small enough to be solved exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tonk_env.actions import num_actions
from tonk_env.batch import Batch
from tonk_env.compiling import announce_part
from tonk_env.kernels import tree as kernels
from tonk_env.kernels.tree import EDGE_DTYPE, FRAME_DTYPE, MAX_DEPTH, NODE_DTYPE, look_keys, walk
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet, make_rules
from tonk_env.state import new_tables

MAX_DEALS = 250_000
MAX_EDGES = 60_000_000  # about 2 GB with what a solver adds
_REASONS = {
    kernels.TOO_LARGE: "it has more moves than fit into memory",
    kernels.TOO_DEEP: f"it has hands of more than {MAX_DEPTH} moves",
    kernels.VOID: "a hand can be void and is dealt again, so it has no end",
    kernels.NOT_ZERO_SUM: "it is not zero-sum",
}


class TreeError(ValueError):
    """A game whose tree cannot be written down; the message is one sentence."""


@dataclass(frozen=True)
class GameTree:
    """Every way in which a single hand between two seats can go, seat 0 playing first.

    Nodes are decisions, numbered level by level (a level: equally many moves before it). D deals, M nodes, E edges, I
    information sets, S moves of all information sets together, K distinct observations.

    Attributes:
        rules: the game.
        levels: int64[L + 1], the first node of each level, and M. The first D nodes are the deals, all equally likely.
        first_edge: int64[M + 1]; the edges of node m are first_edge[m] to first_edge[m + 1].
        target: int32[E], the node an edge leads to, -1 where the hand ends.
        slot: int8[E], place of the edge's move among the legal moves of its node.
        weight: float64[E], probability of the card that chance turns up; where the hand ends, times seat 0's reward.
        info: int32[M], information set of each node: all that the seat on turn has seen, in order (perfect recall).
        first_slot: int64[I + 1]; the moves of set i have the numbers first_slot[i] to first_slot[i + 1].
        turn: int8[I], the seat that decides.
        actions: int16[S], action number of each move.
        look: int32[I], which of the distinct observations (each with its mask) the seat is shown there.
        packed: uint8[K, ceil(O / 8)], the distinct observations as bits.
        look_info: int32[K], an information set where each of them is shown.
        look_key: uint64[K], the number of each, as ``look_numbers`` finds it from observation and mask.
    """

    rules: RuleSet
    levels: NDArray[np.int64]
    first_edge: NDArray[np.int64]
    target: NDArray[np.int32]
    slot: NDArray[np.int8]
    weight: NDArray[np.float64]
    info: NDArray[np.int32]
    first_slot: NDArray[np.int64]
    turn: NDArray[np.int8]
    actions: NDArray[np.int16]
    look: NDArray[np.int32]
    packed: NDArray[np.uint8]
    look_info: NDArray[np.int32]
    look_key: NDArray[np.uint64]

    @property
    def num_infos(self) -> int:
        """Information sets, those of both seats together."""
        return len(self.turn)

    @property
    def num_looks(self) -> int:
        """Distinct observations with their masks."""
        return len(self.look_info)

    def looks(self, first: int, last: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the distinct observations ``first`` to ``last`` as int8[k, O] and their masks as int8[k, A]."""
        size = ObservationLayout(self.rules, 2).size
        observations = np.unpackbits(self.packed[first:last], axis=1, count=size).view(np.int8)
        infos = self.look_info[first:last]
        rows, slots = self.moves_of(infos)
        masks = np.zeros((len(infos), num_actions(self.rules)), np.int8)
        masks[rows, self.actions[slots]] = 1
        return observations, masks

    def moves_of(self, infos: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for every move of some information sets, the place of its set in ``infos`` and the move's number."""
        counts = self.first_slot[infos + 1] - self.first_slot[infos]
        rows = np.repeat(np.arange(len(infos)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.first_slot[infos][rows] + within


def look_numbers(observations: NDArray[np.int8], masks: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Return uint64[B], a 64-bit number for each observation int8[B, O] with its mask int8[B, A]."""
    numbers = np.zeros(len(observations), np.uint64)
    look_keys(np.ascontiguousarray(observations, np.int8), np.ascontiguousarray(masks, np.int8), numbers)
    return numbers


def build_tree(rules: str | RuleSet, max_edges: int = MAX_EDGES) -> GameTree:
    """Return the game tree of a single hand for two.

    Deals that are settled at once leave no decision and are left out, as in the environments. Raises ``TreeError`` for a
    game that is a match, too large, without end or not zero-sum, and ``RuleSetError`` for one that two cannot play.
    """
    rules = make_rules(rules)
    rules.check_players(2)
    if not rules.single_hand:
        raise TreeError(f"{rules.preset!r} is played as a match here; solve its single hands, with match=hands")
    announce_part(walk, "what writes down game trees (some ten seconds)")
    return _Builder(rules, max_edges).build()


class _Builder:
    """Three walks through the tree: count it, write it down, show each distinct observation once."""

    def __init__(self, rules: RuleSet, max_edges: int) -> None:
        self.rules, self.max_edges = rules, max_edges
        self.layout = ObservationLayout(rules, 2)
        self.roots = _roots(rules)
        self.starts = np.zeros((2, MAX_DEPTH), np.int64)
        self.nodes, self.edges = np.zeros(0, NODE_DTYPE), np.zeros(0, EDGE_DTYPE)

    def build(self) -> GameTree:
        sizes = self.walk(kernels.COUNT)
        self.starts = np.cumsum(sizes, axis=1) - sizes
        self.nodes, self.edges = np.zeros(sizes[0].sum(), NODE_DTYPE), np.zeros(sizes[1].sum(), EDGE_DTYPE)
        self.walk(kernels.FILL)
        nodes, edges = self.nodes, self.edges
        first, info = _in_order(nodes["key"])
        look_info, look = _in_order(nodes["shown"][first])
        if not (nodes["shown"][first][info] == nodes["shown"]).all():
            raise AssertionError("two positions of one information set look different to the seat on turn")
        moves = nodes["moves"][first].astype(np.int64)
        first_slot = np.concatenate([[0], np.cumsum(moves)])
        first_edge = np.append(nodes["first_edge"], len(edges))
        actions = np.zeros(first_slot[-1], np.int16)
        actions[np.repeat(first_slot[info], np.diff(first_edge)) + edges["slot"]] = edges["move"]
        return GameTree(
            rules=self.rules,
            levels=np.append(self.starts[0][: np.count_nonzero(sizes[0])], len(nodes)),
            first_edge=first_edge,
            target=edges["target"].copy(),
            slot=edges["slot"].copy(),
            weight=edges["weight"].copy(),
            info=info.astype(np.int32),
            first_slot=first_slot,
            turn=nodes["turn"][first],
            actions=actions,
            look=look.astype(np.int32),
            packed=self.show(first[look_info]),
            look_info=look_info.astype(np.int32),
            look_key=nodes["shown"][first[look_info]],
        )

    def show(self, nodes: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the observations at some nodes as bits."""
        wanted = np.full(len(self.nodes), -1, np.int64)
        wanted[nodes] = np.arange(len(nodes))
        packed = np.zeros((len(nodes), math.ceil(self.layout.size / 8)), np.uint8)
        self.walk(kernels.SHOW, wanted, packed)
        return packed

    def walk(
        self, stage: int, wanted: NDArray[np.int64] | None = None, packed: NDArray[np.uint8] | None = None
    ) -> NDArray[np.int64]:
        """Walk once and return the numbers of nodes and edges of each level, int64[2, MAX_DEPTH]."""
        sizes = np.zeros((2, MAX_DEPTH), np.int64)
        how = walk(
            self.rules.record(), self.layout.record, self.roots, new_tables(MAX_DEPTH), np.zeros(MAX_DEPTH, FRAME_DTYPE),
            np.zeros(self.layout.size, np.int8), stage, self.max_edges, sizes, self.starts, self.nodes, self.edges,
            np.zeros(0, np.int64) if wanted is None else wanted, np.zeros((0, 0), np.uint8) if packed is None else packed,
        )  # fmt: skip
        if how != kernels.DONE:
            raise TreeError(f"the game tree of {self.rules.preset!r} cannot be written down: {_REASONS[how]}")
        return sizes


def _in_order(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number equal keys alike, in the order in which they first appear: where each number does, and the number of each."""
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]


def _roots(rules: RuleSet) -> NDArray[np.void]:
    """Return a table record at the first decision of every deal: what each seat holds, and the upcard."""
    record = rules.record()
    cards = [int(card) for card in record.deck[: rules.deck_size]]
    left = len(cards) - rules.hand_size
    number = math.comb(len(cards), rules.hand_size) * math.comb(left, rules.hand_size) * (left if rules.upcard else 1)
    if number > MAX_DEALS:
        raise TreeError(f"the game tree of {rules.preset!r} cannot be written down: there are {number:,} deals")
    decks = np.array(_decks(cards, rules.hand_size, int(rules.upcard)), np.uint8)
    batch = Batch(rules, 2, len(decks), seed=0, autoreset=False)
    batch.tables["deck"][:, : len(cards)] = decks
    batch.tables["stacked"] = True
    deals = batch.tables["deal"] + 1
    batch.restart(np.arange(len(decks)))
    roots: NDArray[np.void] = batch.tables[batch.tables["deal"] == deals].copy()  # others: settled at once, dealt anew
    roots["stacked"] = True
    return roots


def _decks(cards: list[int], size: int, upcards: int) -> list[list[int]]:
    """Return a deck in dealing order (R4) for every pair of hands and upcard; the order of the stock is left to chance."""
    decks = []
    for first in combinations(cards, size):
        others = [card for card in cards if card not in first]
        for second in combinations(others, size):
            rest = [card for card in others if card not in second]
            dealt = [card for pair in zip(first, second, strict=True) for card in pair]
            decks += [[*dealt, *up, *(card for card in rest if card not in up)] for up in combinations(rest, upcards)]
    return decks
