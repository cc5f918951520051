"""The rule set as the engine's record: every option as a number, with the tables of ranks and values it implies."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tonk_env.options import ALL_RANKS, option_specs
from tonk_env.state import RULE_DTYPE

if TYPE_CHECKING:
    from tonk_env.rules import RuleSet

NO_COUNT = -1  # opening_at_most off: no count is that low
ANY_COUNT_TOO_LOW = 32767  # opening_at_least off: no count is that high
SUIT_BITS = 16  # bits of a card set that each suit takes
JOKER_BITS = (13, 29)

# Options whose field is the place of the value among the option's choices, from 0.
CODED = ("wild", "opening_clash", "next_start", "taken_discard", "drop", "settlement", "caught_pays", "match")

SAME_NAME = (
    "suits jokers deck_size hand_size upcard opening_spread opening_multiplier tonk_out_multiplier run_out_multiplier "
    "caught_multiplier max_hits must_spread max_turns drop_at_most freeze_stacks difference_cap hands scale"
).split()


def rule_record(rules: RuleSet) -> np.record:
    """Return a new scalar of RULE_DTYPE for `rules`; KeyError if the dtype has a field that is not filled here."""
    record = np.zeros(1, dtype=RULE_DTYPE)[0]
    values = _values(rules)
    for name in RULE_DTYPE.names or ():
        record[name] = values[name]
    return record  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def rule_array(rules: RuleSet) -> np.ndarray:
    """The record of a rule set in an array of one, made once: for kernels to read, not to be changed."""
    array = np.array([rule_record(rules)])
    array.flags.writeable = False
    return array


def _values(rules: RuleSet) -> dict[str, Any]:
    """Return every field of the record by name."""
    values: dict[str, Any] = {name: getattr(rules, name) for name in SAME_NAME}
    specs = option_specs(type(rules))
    values.update({name: specs[name].metadata["choices"].index(getattr(rules, name)) for name in CODED})
    return {**values, **_rank_tables(rules), **_openings(rules), **_switches(rules)}


def _rank_tables(rules: RuleSet) -> dict[str, Any]:
    """Tables of the ranks in use, of card values and of wild cards (R2, R3, R5)."""
    used = [ALL_RANKS.index(rank) for rank in rules.ranks]
    up, down, place, at = (np.full(13, -1, dtype=np.int8) for _ in range(4))
    up[used[:-1]] = used[1:]
    down[used[1:]] = used[:-1]
    place[used] = np.arange(len(used))
    at[: len(used)] = used
    return {
        "n_ranks": len(used),
        "rank_up": up,
        "rank_down": down,
        "pos_of_rank": place,
        "rank_at": at,
        "gapped": used[-1] - used[0] + 1 != len(used),
        "deck": _deck(rules, used),
        "value": np.array([*rules.rank_values, 0], dtype=np.int8),
        **{name: np.uint64(_with_bit(rules, bit)) for bit, name in enumerate(("ones", "twos", "fours", "eights"))},
        "wild_mask": np.uint64(_wild_bits(rules)),
    }


def _deck(rules: RuleSet, used: list[int]) -> np.ndarray:
    """Card numbers of the deck before shuffling: suit by suit, then the jokers; 0 after the last (R2)."""
    cards = [13 * suit + rank for suit in range(rules.suits) for rank in used] + [52, 53][: rules.jokers]
    deck = np.zeros(54, dtype=np.uint8)
    deck[: len(cards)] = cards
    return deck


def _with_bit(rules: RuleSet, bit: int) -> int:
    """Return the card set of the ranks whose value has a bit; values are below 16 (R5)."""
    ranks = sum((value >> bit & 1) << rank for rank, value in enumerate(rules.rank_values))
    return sum(ranks << SUIT_BITS * suit for suit in range(4))


def _wild_bits(rules: RuleSet) -> int:
    """Return the bits of the wild cards in the deck (R3)."""
    if rules.wild == "jokers":
        return sum(1 << bit for bit in JOKER_BITS[: rules.jokers])
    if rules.wild == "deuces":
        return sum(1 << (SUIT_BITS * suit + ALL_RANKS.index("2")) for suit in range(rules.suits))
    return 0


def _openings(rules: RuleSet) -> dict[str, Any]:
    """The opening tonk's conditions (R7): exact counts as 128 bits, limits with a number that means off."""
    words = np.zeros(2, dtype=np.uint64)
    for count in rules.opening_exact:
        words[count >> 6] |= np.uint64(1 << (count & 63))
    return {
        "opening_counts": words,
        "opening_at_most": NO_COUNT if rules.opening_at_most is None else rules.opening_at_most,
        "opening_at_least": ANY_COUNT_TOO_LOW if rules.opening_at_least is None else rules.opening_at_least,
    }


def _switches(rules: RuleSet) -> dict[str, Any]:
    """Options whose field has another name, or means what holds rather than what is set."""
    limits = {"hands": 0.0, "elimination": rules.elimination, "target": rules.target}
    return {
        "held_count": rules.held_spreads_count and rules.drop != "after_draw",  # R6: a tunk counts the least total
        "runs_only": rules.hits_on == "runs",
        "drop_tie_safe": rules.drop_tie == "safe",
        "wait": rules.wait_after_spread,
        "freeze": rules.freeze_on_hit,
        "on_demand": rules.stock_end == "on_demand",
        "stock_dead": rules.stock_result == "dead",
        "stock_tie_dead": rules.stock_tie == "dead",
        "limit": limits[rules.match],
        "place_reward": rules.match_reward == "place" and not rules.single_hand,  # R40: one hand pays as a hand
    }
