"""The rule set: every option of the rules with its default, what is refused, the named presets and the engine's record.

Clause numbers such as R12 are those of the rule sheet in the docs. Field defaults are the preset `points`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tonk_env.options import (
    ALL_RANKS,
    RuleSetError,
    cap,
    checked,
    choice,
    counts,
    courts,
    flag,
    json_value,
    nearest,
    option,
    option_specs,
    positive,
    rank_string,
    reachable_counts,
    refuse_unknown,
    whole,
    whole_or_off,
)
from tonk_env.presets import PRESET_INFO, PresetInfo, preset_options
from tonk_env.rule_record import rule_record

__all__ = [
    "DEFAULT_PRESET",
    "OPTIONS",
    "PRESETS",
    "PRESET_INFO",
    "OptionLine",
    "PresetInfo",
    "RuleSet",
    "RuleSetError",
    "make_rules",
    "preset_info",
    "presets",
]

DEFAULT_PRESET = "points"
DEFAULT_REWARD_SCALE = {"points": 20.0, "stakes": 1.0, "difference": 10.0}  # R40
CAUGHT_PAYS = {  # who may be paid by a caught dropper under each settlement (R33)
    "points": ("own_count",),
    "stakes": ("low_hand", "each_catcher", "each_lower", "every_player", "low_collects", "catchers_and_low_collects"),
    "difference": ("low_hand", "each_catcher", "each_lower"),
}

_MULTIPLIER = whole(1, 1_000_000)
_TURNS = whole(0, 500, "off")  # a stacked freeze, 500 for each of 52 hits, still fits the engine's 16 bits
_COUNT = 1000  # more than any hand counts


class OptionLine(NamedTuple):
    """One option of a rule set as a line of its sheet."""

    option: str
    value: Any
    clause: str
    doc: str
    default: Any
    allowed: str


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """One validated set of rules. Values are read in any plain form (lists for tuples) and kept in one normal form.

    Equality, hash and fingerprint are those of the option values; `preset` only remembers where they started from.
    Raises RuleSetError for a value out of range, an unknown choice or a combination that makes no sense.
    """

    min_players: int = option(2, "R1", "Fewest players at a table.", whole(2, 6))
    max_players: int = option(4, "R1", "Most players at a table.", whole(2, 6))
    ranks: str = option(
        ALL_RANKS, "R2", "Ranks in use; neighbours in this word are neighbours in a run.", rank_string()
    )
    suits: int = option(4, "R2", "Suits in use, the first of C D H S.", whole(1, 4))
    jokers: int = option(0, "R2", "Jokers in the deck.", whole(0, 2))
    wild: str = option("none", "R3", "Which cards are wild.", choice("none", "jokers", "deuces"))
    hand_size: int = option(5, "R4", "Cards dealt to each player.", whole(1, 7))
    upcard: bool = option(True, "R4", "Whether a card is turned up to start the discard pile.", flag())
    court_values: tuple[int, ...] = option((10, 10, 10), "R5", "Values of J, Q and K.", courts())
    held_spreads_count: bool = option(True, "R6", "Whether spreads still held in hand count.", flag())
    opening_exact: tuple[int, ...] = option((49, 50), "R7", "Dealt counts that win at once.", counts())
    opening_at_most: int | None = option(
        None, "R7", "A dealt count this low or lower wins at once.", whole_or_off(0, _COUNT)
    )
    opening_at_least: int | None = option(
        None, "R7", "A dealt count this high or higher wins at once.", whole_or_off(0, _COUNT)
    )
    opening_spread: bool = option(False, "R7", "Whether a dealt hand that is all spreads wins at once.", flag())
    opening_multiplier: int = option(2, "R8", "Times the stake or count for an opening tonk.", _MULTIPLIER)
    opening_clash: str = option("cancel", "R9", "What two or more opening tonks make.", choice("cancel", "tie"))
    next_start: str = option("left", "R10", "Who starts the next hand.", choice("left", "winner"))
    taken_discard: str = option(
        "free", "R12", "What a card taken from the discard pile must do.", choice("free", "no_return", "must_use")
    )
    hits_on: str = option("all", "R15", "Which spreads may be hit.", choice("all", "runs"))
    max_hits: int = option(0, "R15", "Most hits in one turn.", whole(0, 100, "any number"))
    must_spread: bool = option(False, "R16", "Whether a held spread must be laid before discarding.", flag())
    max_turns: int = option(200, "R19", "Player turns after which a hand is cut short.", whole(1, 1_000_000))
    drop: str = option("before_draw", "R20", "When a player may drop.", choice("before_draw", "after_draw", "never"))
    drop_at_most: int = option(0, "R20", "Highest count to drop or tunk with.", whole(0, _COUNT, "no limit"))
    drop_tie: str = option("caught", "R21", "What an equal lowest count does to the dropper.", choice("caught", "safe"))
    wait_after_spread: int = option(0, "R22", "Own turns without a drop after laying a spread.", _TURNS)
    freeze_on_hit: int = option(0, "R23", "Own turns without a drop after another player's hit.", _TURNS)
    freeze_stacks: bool = option(False, "R23", "Whether each further hit adds to the freeze.", flag())
    stock_end: str = option(
        "last_discard", "R24", "When the empty stock ends a hand.", choice("last_discard", "on_demand")
    )
    stock_result: str = option("low_wins", "R25", "Who wins when the stock runs out.", choice("low_wins", "dead"))
    stock_tie: str = option("share", "R25", "What equal lowest counts make then.", choice("share", "dead"))
    tonk_out_multiplier: int = option(
        2, "R18", "Times the stake or count for going out without a discard.", _MULTIPLIER
    )
    run_out_multiplier: int = option(1, "R17", "Times the stake or count for going out by a discard.", _MULTIPLIER)
    settlement: str = option(
        "points", "R30-R32", "What a hand is settled in.", choice("points", "stakes", "difference")
    )
    difference_cap: int | float = option(0, "R32", "Most that one player pays, before the multiplier.", cap())
    caught_pays: str = option(
        "own_count",
        "R33",
        "What a caught dropper pays, and to whom.",
        choice("own_count", *CAUGHT_PAYS["stakes"]),
    )
    caught_multiplier: int = option(2, "R33", "Times the stake or count for a caught dropper or tunker.", _MULTIPLIER)
    match: str = option("elimination", "R35", "What ends a match.", choice("hands", "elimination", "target"))
    hands: int = option(1, "R35", "Hands of a match of `hands`.", whole(1, 1_000_000))
    elimination: int | float = option(100, "R35", "Penalty points that put a player out.", positive())
    target: int | float | None = option(None, "R35", "Total that ends a match of `target`.", positive("not set"))
    match_reward: str = option("place", "R40", "What a match of several hands rewards.", choice("place", "hands"))
    reward_scale: int | float | None = option(
        None, "R40", "What a hand's reward is divided by.", positive("20 points, 10 difference, 1 stakes")
    )
    preset: str = field(default=DEFAULT_PRESET, compare=False)

    def __post_init__(self) -> None:
        for name, spec in option_specs(type(self)).items():
            object.__setattr__(self, name, checked(spec, getattr(self, name)))
        _refuse_unknown_preset(self.preset)
        _refuse_table(self)
        _refuse_after_draw(self)
        _refuse_settlement(self)
        _refuse_endless_opening(self)

    def __hash__(self) -> int:
        """Hash of the option values, worked out once: rule sets are keys of many small caches."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(tuple(getattr(self, name) for name in option_specs(type(self))))
            object.__setattr__(self, "_hash", known)
        return known

    @property
    def deck_size(self) -> int:
        """Number of cards in the deck, jokers included."""
        return len(self.ranks) * self.suits + self.jokers

    @property
    def scale(self) -> float:
        """What a hand's reward is divided by (R40): `reward_scale`, or the settlement's usual one."""
        return float(DEFAULT_REWARD_SCALE[self.settlement] if self.reward_scale is None else self.reward_scale)

    @property
    def single_hand(self) -> bool:
        """Whether a match is one hand, which pays as a hand (R40)."""
        return self.match == "hands" and self.hands == 1

    @property
    def rank_values(self) -> tuple[int, ...]:
        """Values of the 13 ranks A to K, in use or not (R5)."""
        return (*range(1, 11), *self.court_values)

    def stock_after_deal(self, num_players: int) -> int:
        """Number of stock cards that a deal to `num_players` leaves; not positive where the table is refused."""
        return self.deck_size - self.hand_size * num_players - self.upcard

    def check_players(self, num_players: int | None = None) -> int:
        """Return the number of players, the fewest allowed for None; RuleSetError if the table is refused (R1, R4)."""
        if num_players is None:
            return self.min_players
        if isinstance(num_players, bool) or not isinstance(num_players, (int, np.integer)):
            raise RuleSetError(f"The number of players is {num_players!r}, but must be a whole number.")
        if not self.min_players <= num_players <= self.max_players:
            raise RuleSetError(
                f"A table of {num_players} is refused: `{self.preset}` is played by {self.min_players} to "
                f"{self.max_players} (options `min_players`, `max_players`)."
            )
        if self.stock_after_deal(int(num_players)) < 1:
            raise RuleSetError(f"A table of {num_players} is refused: {_no_stock(self, int(num_players))}.")
        return int(num_players)

    def options(self) -> dict[str, Any]:
        """Return every option's value by name, in the order of the sheet."""
        return {name: getattr(self, name) for name in OPTIONS}

    def replace(self, **options: Any) -> RuleSet:
        """Return this rule set with some options changed, checked as a whole."""
        _refuse_unknown_options(options)
        return dataclasses.replace(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return {"preset": name, "set": options that differ from that preset}, ready for JSON."""
        base = PRESETS[self.preset].options()
        changed = {name: json_value(value) for name, value in self.options().items() if value != base[name]}
        return {"preset": self.preset, "set": changed}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RuleSet:
        """Return the rule set that `to_dict` wrote; a missing `preset` is `points`, a missing `set` is empty."""
        preset, changed = _read(data)
        return preset.replace(**changed)

    def fingerprint(self) -> str:
        """Return 16 hex digits that depend on the option values alone, the same in every process."""
        values = {name: json_value(value) for name, value in self.options().items()}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def sheet(self) -> list[OptionLine]:
        """Return one line for each option: name, value, clause, meaning, default, what is allowed."""
        return [
            OptionLine(name, value, meta["clause"], meta["doc"], OPTIONS[name].default, meta["allowed"])
            for name, value in self.options().items()
            for meta in (OPTIONS[name].metadata,)
        ]

    def record(self) -> np.record:
        """Return a new scalar of `tonk_env.state.RULE_DTYPE` that holds these rules for the engine."""
        return rule_record(self)


OPTIONS: Mapping[str, dataclasses.Field[Any]] = option_specs(RuleSet)


def make_rules(rules: str | RuleSet | Mapping[str, Any] | None = DEFAULT_PRESET, **options: Any) -> RuleSet:
    """Return the rules named by a preset, a RuleSet or {"preset": …, "set": {…}}, with `options` set on top."""
    if rules is None:
        rules = DEFAULT_PRESET
    if isinstance(rules, RuleSet):
        return rules.replace(**options) if options else rules
    if isinstance(rules, str):
        return _preset(rules).replace(**options)
    _refuse_unknown_options(options)
    preset, changed = _read(rules)
    return preset.replace(**{**changed, **options})


def presets() -> list[str]:
    """Return the names of all presets, the main ones first."""
    return list(PRESETS)


def preset_info(name: str) -> PresetInfo:
    """Return title, source, description and note of a preset; RuleSetError for an unknown name."""
    _refuse_unknown_preset(name)
    return PRESET_INFO[name]


def _read(data: object) -> tuple[RuleSet, dict[str, Any]]:
    """Return the preset and the changed options of a mapping {"preset": …, "set": {…}}, either of which may miss."""
    if not isinstance(data, Mapping):
        raise RuleSetError(f"A rule set is read from a mapping with `preset` and `set`, not from {data!r}.")
    refuse_unknown(data, ("preset", "set"), "entry of a rule set named")
    changed = data.get("set", {})
    if not isinstance(changed, Mapping):
        raise RuleSetError(f"The entry `set` of a rule set is {changed!r}, but must map option names to values.")
    _refuse_unknown_options(changed)
    return _preset(data.get("preset", DEFAULT_PRESET)), dict(changed)


def _preset(name: object) -> RuleSet:
    _refuse_unknown_preset(name)
    return PRESETS[str(name)]


def _refuse_unknown_preset(name: object) -> None:
    if not isinstance(name, str) or name not in PRESET_INFO:
        raise RuleSetError(
            f"There is no preset {name!r}{nearest(name, PRESET_INFO)}; known are {', '.join(PRESET_INFO)}."
        )


def _refuse_unknown_options(options: Mapping[str, Any]) -> None:
    if "preset" in options:
        raise RuleSetError(
            "`preset` is not an option: name the preset first, as in make_rules('rockets', hand_size=7)."
        )
    if "opponents" in options:
        raise RuleSetError(
            "`opponents` is not an option: this environment asks you for every seat; to have others play theirs, use "
            "gymnasium.make('tonk_env/Tonk-v0', opponents=...)."
        )
    refuse_unknown(options, option_specs(RuleSet), "option")


def _refuse(rules: RuleSet, name: str, because: str) -> None:
    """Raise RuleSetError: option `name` has a value that does not go with another option; `because` says what does."""
    raise RuleSetError(f"Option `{name}` is {getattr(rules, name)!r}, but {because}.")


def _no_stock(rules: RuleSet, num_players: int) -> str:
    """Say how many cards a deal takes and how many there are, with the options that decide it."""
    upcard = " and an upcard" if rules.upcard else ""
    most = (rules.deck_size - rules.upcard - 1) // rules.hand_size
    return (
        f"dealing `hand_size` {rules.hand_size} to {num_players} players{upcard} from a deck of {rules.deck_size} "
        f"(options `ranks`, `suits`, `jokers`) must leave at least one stock card, which allows at most {most} players"
    )


def _refuse_table(rules: RuleSet) -> None:
    """Refuse player ranges and decks that cannot be dealt (R1 to R4)."""
    if rules.min_players > rules.max_players:
        _refuse(rules, "min_players", f"must not exceed `max_players` {rules.max_players}")
    if rules.wild == "jokers" and not rules.jokers:
        _refuse(rules, "wild", "`jokers` is 0: wild jokers need `jokers` 1 or 2")
    if rules.wild == "deuces" and "2" not in rules.ranks:
        _refuse(rules, "wild", f"`ranks` is {rules.ranks!r}: wild deuces need rank 2 in use")
    if rules.stock_after_deal(rules.min_players) < 1:
        _refuse(rules, "min_players", _no_stock(rules, rules.min_players))


def _refuse_after_draw(rules: RuleSet) -> None:
    """Refuse what has no meaning where nothing is laid before a tunk (section 6)."""
    if rules.drop != "after_draw":
        return
    needed = {
        "hits_on": "all",
        "max_hits": 0,
        "must_spread": False,
        "wait_after_spread": 0,
        "freeze_on_hit": 0,
        "settlement": "points",
        "stock_end": "last_discard",
        "drop_tie": "safe",
    }
    for name, value in needed.items():
        if getattr(rules, name) != value:
            _refuse(rules, name, f"with `drop` 'after_draw' only {value!r} is allowed (R26-R29)")
    if rules.taken_discard == "must_use":
        _refuse(rules, "taken_discard", "with `drop` 'after_draw' only 'free' and 'no_return' are allowed (R26)")


def _refuse_settlement(rules: RuleSet) -> None:
    """Refuse payments and matches that do not go with the settlement (R33, R35)."""
    allowed = CAUGHT_PAYS[rules.settlement]
    if rules.caught_pays not in allowed:
        words = ", ".join(map(repr, allowed))
        _refuse(rules, "caught_pays", f"with `settlement` {rules.settlement!r} it must be one of {words} (R33)")
    if rules.match == "elimination" and rules.settlement != "points":
        only = "only 'hands' and 'target' are allowed"
        _refuse(rules, "match", f"with `settlement` {rules.settlement!r} {only} (R35)")
    if rules.match == "target" and rules.target is None:
        _refuse(rules, "match", "`target` is not set: a match to a target needs a positive `target` (R35)")


def _refuse_endless_opening(rules: RuleSet) -> None:
    """Refuse openings that every possible hand meets: no deal would ever reach a decision (R7)."""
    values = [value for rank, value in zip(ALL_RANKS, rules.rank_values, strict=True) if rank in rules.ranks]
    possible = reachable_counts(values * rules.suits + [0] * rules.jokers, rules.hand_size)
    reached = [count for count in range(possible.bit_length()) if possible >> count & 1]
    if all(_opens(rules, count) for count in reached):
        raise RuleSetError(
            f"Options `opening_exact` {list(rules.opening_exact)}, `opening_at_most` {rules.opening_at_most}, "
            f"`opening_at_least` {rules.opening_at_least} make every possible hand an opening tonk, so nobody could "
            f"ever play: leave out some of the counts {reached[0]} to {reached[-1]} that a hand can have (R7)."
        )


def _opens(rules: RuleSet, count: int) -> bool:
    """Whether a dealt count alone makes an opening tonk (R7)."""
    low, high = rules.opening_at_most, rules.opening_at_least
    return count in rules.opening_exact or (low is not None and count <= low) or (high is not None and count >= high)


PRESETS: dict[str, RuleSet] = {name: RuleSet(preset=name, **preset_options(name)) for name in PRESET_INFO}
