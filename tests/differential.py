"""Plays the same moves on the kernels and on the plain second engine and compares everything after every move."""

from __future__ import annotations

import random
from typing import Any

from oracle import OracleHand, OracleMatch

from tonk_env.cards import CARD_NAMES, cards_of
from tonk_env.rules import RuleSet, RuleSetError, make_rules, presets
from tonk_env.table import HandResult, Table

LIVELY = 0.25  # share of matches with few drops and many spreads and hits

CHOICES: dict[str, list[Any]] = {
    "ranks": ["A23456789TJQK", "A23456789TJQK", "A234567JQK", "A2345679TQK", "23456789"],
    "suits": [4, 4, 4, 3, 2],
    "jokers": [0, 0, 1, 2],
    "wild": ["none", "none", "jokers", "deuces", "deuces"],
    "hand_size": [1, 2, 3, 4, 5, 5, 6, 7, 7],
    "upcard": [True, False],
    "court_values": [(10, 10, 10), (11, 12, 13)],
    "held_spreads_count": [True, False],
    "opening_exact": [(), (49, 50), (20, 30)],
    "opening_at_most": [None, None, 12],
    "opening_at_least": [None, None, 55],
    "opening_spread": [False, True],
    "opening_clash": ["cancel", "tie"],
    "opening_multiplier": [1, 2, 3],
    "tonk_out_multiplier": [1, 2],
    "run_out_multiplier": [1, 2, 3],
    "caught_multiplier": [1, 2],
    "next_start": ["left", "winner"],
    "taken_discard": ["free", "no_return", "must_use"],
    "hits_on": ["all", "all", "runs"],
    "max_hits": [0, 0, 1, 2],
    "must_spread": [False, False, True],
    "max_turns": [200, 200, 30, 7],
    "drop": ["before_draw", "before_draw", "never", "after_draw"],
    "drop_at_most": [0, 0, 5, 15, 30],
    "drop_tie": ["caught", "safe"],
    "wait_after_spread": [0, 0, 1, 3],
    "freeze_on_hit": [0, 0, 1, 2],
    "freeze_stacks": [False, True],
    "stock_end": ["last_discard", "on_demand"],
    "stock_result": ["low_wins", "low_wins", "dead"],
    "stock_tie": ["share", "dead"],
    "settlement": ["points", "stakes", "difference"],
    "difference_cap": [0, 0, 7],
    "match_reward": ["place", "hands"],
}
CAUGHT = {
    "points": ["own_count"],
    "stakes": ["low_hand", "each_catcher", "each_lower", "every_player", "low_collects", "catchers_and_low_collects"],
    "difference": ["low_hand", "each_catcher", "each_lower"],
}


def random_options(rng: random.Random) -> dict[str, Any]:
    """Options that are likely to make sense together: a few changed, the rest left to the preset."""
    names = rng.sample(sorted(CHOICES), rng.randint(1, 14))
    options = {name: rng.choice(CHOICES[name]) for name in names}
    settlement = options.get("settlement")
    if settlement:
        options["caught_pays"] = rng.choice(CAUGHT[settlement])
        options["match"] = rng.choice(["hands", "target"] + (["elimination"] if settlement == "points" else []))
    if options.get("match") == "target":
        options["target"] = rng.choice([3, 60])
    if options.get("match") == "hands":
        options["hands"] = rng.choice([1, 1, 2, 3])
    return options


def random_rules(rng: random.Random) -> RuleSet:
    """A random legal rule set on top of a random preset."""
    while True:
        preset = rng.choice(presets())
        try:
            return make_rules(preset, **random_options(rng)) if rng.random() < 0.75 else make_rules(preset)
        except RuleSetError:
            continue


def choose(rng: random.Random, words: list[str]) -> str:
    """A random move; drops are rare, so that hands grow long, and spreads and hits are likely."""
    lively = [w for w in words if w.startswith(("spread", "hit", "tunk"))]
    if lively and rng.random() < 0.6:
        return rng.choice(lively)
    calm = [w for w in words if w != "drop"]
    return rng.choice(calm if calm and rng.random() < 0.93 else words)


class Mismatch(AssertionError):
    """The two engines differ."""


def same(what: str, ours: Any, theirs: Any, table: Table) -> None:
    """Raise Mismatch with everything needed to see it again."""
    if ours != theirs:
        raise Mismatch(
            f"{what}: kernels {ours!r}, second engine {theirs!r}\nrules {table.rules.to_dict()} players {table.num_players} "
            f"start {table.start}\ndeck {' '.join(CARD_NAMES[c] for c in table.deck)}\nmoves {table.moves}"
        )


def near(values: Any) -> list[float | None]:
    """Numbers rounded so that sums in another order are equal."""
    return [None if v is None else round(float(v), 6) for v in values]


def compare_result(result: HandResult, hand: OracleHand, table: Table) -> None:
    """A finished hand is the same in both engines."""
    same("ending", result.ending, hand.ending, table)
    same("counts", near(result.counts), near(hand.counts), table)
    same("scores", near(result.scores), near(hand.scores), table)
    same("winners", result.winners, sorted(hand.winners), table)


def compare_position(table: Table, hand: OracleHand) -> list[str]:
    """A position is the same in both engines. Returns the legal moves."""
    t = table._fields
    legal = hand.legal()
    same("seat", table.seat, hand.turn, table)
    same("legal", table.legal_words(), sorted(legal), table)
    same("turns", int(t["turns"][0]), hand.turns, table)
    same("stock", table.stock_size, len(hand.stock), table)
    same("pile", [(CARD_NAMES[c], by) for c, by in table.pile], hand.pile, table)
    ours = [(s.owner, [(CARD_NAMES[c], CARD_NAMES[p]) for c, p in s.cards]) for s in table.spreads()]
    same("spreads", [(o, sorted(c)) for o, c in ours], [(s.owner, sorted(s.cards)) for s in hand.spreads], table)
    known, waiting, frozen = t["known"][0].tolist(), t["waiting"][0].tolist(), t["frozen"][0].tolist()
    for seat in hand.seats:
        same("hand", sorted(CARD_NAMES[c] for c in table.hand(seat)), sorted(hand.hands[seat]), table)
        same("known", {CARD_NAMES[c] for c in cards_of(known[seat])} if known[seat] else set(), hand.known[seat], table)
        same("barred", (waiting[seat], frozen[seat]), (hand.waiting[seat], hand.frozen[seat]), table)
    return legal


class Duel:
    """One table and the second engine's match beside it."""

    def __init__(self, rules: RuleSet, players: int, seed: int) -> None:
        self.table = Table(rules, players, seed=seed)
        self.match = OracleMatch(rules, players)
        self.hands = 0
        self.begin()

    def begin(self) -> None:
        """Begin the next match of the series in both engines."""
        self.rewards = [0.0] * self.table.num_players
        self.table.reset()
        for result in self.table.opened:
            self._book(self._oracle(result), result)
        self.hand = self._current()  # forgets matches that were over before any decision
        same("rewards", near(self.table.rewards), near(self.rewards), self.table)

    def _oracle(self, result: HandResult) -> OracleHand:
        """A hand that ended on the deal, dealt again by the second engine."""
        if result.hand == 0:
            self.match = OracleMatch(self.table.rules, self.table.num_players)
            self.rewards = [0.0] * self.table.num_players
        same("start", result.start, self.match.start, self.table)
        same("seats", result.seats, self.match.seats, self.table)
        return OracleHand(self.table.rules, result.players, result.seats, result.start, [CARD_NAMES[c] for c in result.deck])

    def _book(self, hand: OracleHand, result: HandResult) -> None:
        """Book a finished hand in the second engine's match."""
        compare_result(result, hand, self.table)
        if self.table.rules.single_hand and result.ending.startswith("opening"):
            return
        self.rewards = [a + b for a, b in zip(self.rewards, self.match.finish(hand), strict=True)]
        self.hands += 1

    def _current(self) -> OracleHand:
        """The hand in play, as the second engine deals it."""
        t = self.table
        if t.hand_number == 0:
            self.match, self.rewards = OracleMatch(t.rules, t.num_players), [0.0] * t.num_players
        same("start", t.start, self.match.start, t)
        return OracleHand(t.rules, t.num_players, self.match.seats, t.start, [CARD_NAMES[c] for c in t.deck])

    def play(self, rng: random.Random) -> int:
        """Play the match to its end with random moves. Returns the number of hands so far.

        Most matches are played evenly at random, which drops early and gets through many deals; the others seldom drop
        and like to spread and hit, which leads to long hands.
        """
        pick = choose if rng.random() < LIVELY else random.Random.choice
        while not self.table.over:
            self.step(pick(rng, compare_position(self.table, self.hand)))
        same("places", [p or None for p in self.table.places()], near(self.match.places), self.table)
        return self.hands

    def step(self, words: str) -> None:
        """Play one move in both engines."""
        results = self.table.step(words)
        self.hand.play(words)
        same("over", bool(results), self.hand.over, self.table)
        if not results:
            return
        self.rewards = [0.0] * self.table.num_players
        self._book(self.hand, results[0])
        for result in results[1:]:
            self._book(self._oracle(result), result)
        same("match over", self.table.over, self.match.over, self.table)
        same("totals", near(self.table.totals), near(self.match.totals), self.table)
        same("rewards", near(self.table.rewards), near(self.rewards), self.table)
        if not self.table.over:
            self.hand = self._current()


def run(seed: int, hands: int = 1) -> int:
    """Random matches under one random rule set, at least ``hands`` hands. Returns the number of hands compared.

    0 for rules that leave no decision. Seven-card Tunk has some twenty times as many moves a hand, and gets a
    twentieth of the hands.
    """
    rng = random.Random(seed)
    while True:
        rules = random_rules(rng)
        players = rng.randint(rules.min_players, rules.max_players)
        if rules.stock_after_deal(players) >= 1:
            break
    wanted = hands if rules.drop != "after_draw" else max(1, hands // 20)
    compared = 0
    try:
        duel = Duel(rules, players, seed)
        while (compared := duel.play(rng)) < wanted:
            duel.begin()
    except RuleSetError:  # all but every hand is settled on the deal: the table gives up, and so do we
        pass
    return compared
