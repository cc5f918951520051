"""Checks the second engine itself: the worked hands W1-W13, and random play under many options."""

import random
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from typing import Any

import pytest
from oracle import OracleHand, OracleMatch
from oracle_spreads import best_arrangement, deck_kind, full_deck, least_left, spread_words, spreads_in, total
from oracle_turn import Spread

from tonk_env.rules import make_rules, presets


def stacked(rules: Any, hands: list[str], upcard: str = "", stock: str = "") -> list[str]:
    """A deck that deals these hands to seats 0, 1, … with seat 0 first; the other cards follow in plain order."""
    dealt = [hand.split() for hand in hands]
    deck = [hand[i] for i in range(rules.hand_size) for hand in dealt]
    spare = [card for card in full_deck(rules) if card not in deck and card not in f"{upcard} {stock}".split()]
    if rules.upcard:
        deck.append(upcard or spare.pop())
    return deck + stock.split() + spare


def deal(rules: Any, hands: list[str], upcard: str = "", stock: str = "") -> OracleHand:
    """A hand dealt from such a deck, at a table of as many seats as hands."""
    seats = list(range(len(hands)))
    return OracleHand(rules, len(hands), seats, 0, stacked(rules, hands, upcard, stock))


def play(hand: OracleHand, *moves: str) -> OracleHand:
    for words in moves:
        hand.play(words)
    return hand


def result(hand: OracleHand) -> tuple[str | None, list[float | None], list[int]]:
    return hand.ending, hand.scores, hand.winners


COUNT_12, COUNT_19, OTHER_19, COUNT_34 = "AS 2H 3C 2D 4S", "9C 2C AC 4D 3D", "9H AH 3S 2S 4C", "TC TD 6H 5C 3H"


class TestWorkedHands:
    def test_w1_good_drop(self) -> None:
        hand = play(deal(make_rules("points"), [COUNT_12, COUNT_19, COUNT_34]), "drop")
        assert result(hand) == ("drop", [0, 19, 34], [0])
        assert hand.counts == [12, 19, 34]

    def test_w2_equal_count_catches(self) -> None:
        hand = play(deal(make_rules("points"), [COUNT_19, OTHER_19, COUNT_34]), "drop")
        assert result(hand) == ("caught", [38, 0, 0], [1])

    def test_w3_tonk_out(self) -> None:
        rules = make_rules("points", hand_size=5)
        hand = deal(rules, ["7H 8H 9H KS KD", "9C 2C AC 4D 3D", "TC TD 6H 5C 3H"], stock="KC")
        play(hand, "draw", "spread 7H 8H 9H", "spread KC KD KS")
        assert result(hand) == ("tonk_out", [0, 38, 68], [0])

    def test_w4_two_left_of_four(self) -> None:
        rules = make_rules("points")
        hand = OracleHand(rules, 4, [1, 3], 3, stacked(rules, [COUNT_12, COUNT_19]))
        assert len(hand.stock) == 41
        assert hand.hands[3] == COUNT_12.split()
        hand.play("drop")
        assert hand.scores == [None, 19, None, 0]

    def test_w5_one_turn(self) -> None:
        rules = make_rules("deadwood")
        hand = deal(rules, ["7H 8H 9H KS 4C", COUNT_19], stock="6H")
        assert total(hand.kind, hand.hands[0]) == 38
        play(hand, "draw", "spread 6H 7H 8H 9H", "discard KS")
        assert total(hand.kind, hand.hands[0]) == 4

    @pytest.mark.parametrize(
        "preset, counts, scores, winners, ending",
        [
            ("deadwood", (7, 7, 12), [-2, 2, 0], [1], "caught"),  # W6
            ("deadwood", (2, 9, 14), [2, -1, -1], [0], "drop"),  # W7
            ("rockets", (10, 8, 10), [-4, 2, 2], [1], "caught"),  # W9
        ],
    )
    def test_w6_w7_w9_drops(
        self, preset: str, counts: tuple[int, ...], scores: list[float], winners: list[int], ending: str
    ) -> None:
        hands = {2: "2H", 7: "7H", 9: "9H", 8: "8H", 10: "TH", 12: "TH 2D", 14: "TH 4D"}
        hand = deal(make_rules(preset), [COUNT_12, COUNT_19, COUNT_34])
        for seat, count in enumerate(counts):
            hand.hands[seat] = hands[count].split()
        assert result(play(hand, "drop")) == (ending, scores, winners)

    def test_w8_opening_of_15(self) -> None:
        hand = deal(make_rules("speno"), ["AS 2H 3C 4D 5S", "AC 2C 3H 4H TD", "TC TS 6H 3D AD"])
        assert result(hand) == ("opening", [4, -2, -2], [0])

    def test_w10_freeze(self) -> None:
        rules = make_rules("rockets")
        hand = deal(rules, ["4H KS QS 9D 2C", "5H 6H 7H AC JD"], stock="TC TD 9C 9S 8C")
        play(hand, "draw", "discard KS", "draw", "spread 5H 6H 7H", "discard JD")
        play(hand, "draw", "hit 4H low", "discard QS")
        assert hand.frozen[1] == 1
        assert "drop" not in hand.legal()
        play(hand, "draw", "discard TD", "draw", "discard 9D")
        assert "drop" in hand.legal()

    @pytest.mark.parametrize("equal, scores, winners", [(False, [1, -1], [0]), (True, [0, 0], [])])
    def test_w11_asking_for_the_empty_stock(self, equal: bool, scores: list[float], winners: list[int]) -> None:
        hand = deal(make_rules("tonkroom"), [COUNT_19, OTHER_19 if equal else COUNT_34])
        hand.stock.clear()
        assert hand.legal() == ["draw", "drop", "take"]
        assert result(play(hand, "draw")) == ("stock", scores, winners)

    def test_w12_two_opening_tonks(self) -> None:
        rules = make_rules("points")
        hand = deal(rules, ["KC QC JC TC 9C", "KD QD JD TD KH"])
        assert result(hand) == ("opening_clash", [0, 0], [])
        match = OracleMatch(rules, 2)
        assert match.finish(hand) == [0, 0]
        assert (match.hands_played, match.start, match.over) == (0, 1, False)

    def test_w13_tunk_caught(self) -> None:
        rules = make_rules("tunk")
        hand = deal(rules, ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 3H")
        play(hand, "draw", "tunk", "discard KS", "draw", "discard TH")
        assert result(hand) == ("tunk_caught", [10, 3], [1])


def spread_set(preset: str, hand: str, **options: Any) -> set[str]:
    """Every spread that a hand can lay, without the word `spread`."""
    kind = deck_kind(make_rules(preset, **options))
    return {spread_words(laid).removeprefix("spread ") for laid in spreads_in(kind, hand.split())}


@pytest.mark.parametrize(
    "preset, hand, spreads",
    [
        ("deadwood", "AH 2H 3H QH KH", {"AH 2H 3H"}),
        ("navy", "6H 7H JH QH 6C 6D", {"6H 7H JH", "7H JH QH", "6H 7H JH QH", "6C 6D 6H"}),
        ("deadwood", "9C 9D 9H 9S", {"9C 9D 9H", "9C 9D 9S", "9C 9H 9S", "9D 9H 9S", "9C 9D 9H 9S"}),
        ("jokers", "3H 4H X1 X2", set()),  # dead jokers
        ("wild_jokers", "3H 4H X2", {"X2=2H 3H 4H", "3H 4H X2=5H"}),
        ("wild_jokers", "QH KH X1", {"X1=JH QH KH"}),
        ("wild_jokers", "3H 4H X1 X2",
         {"X1=2H 3H 4H", "3H 4H X1=5H", "X1=AH X2=2H 3H 4H", "X1=2H 3H 4H X2=5H", "3H 4H X1=5H X2=6H"}),
        # The 5H held fills its own place, so no wild is ever 5H.
        ("wild_jokers", "3H 4H 5H X1", {"X1=2H 3H 4H", "4H 5H X1=6H", "3H 4H 5H", "X1=2H 3H 4H 5H", "3H 4H 5H X1=6H"}),
        # Naturals D H with a wild: the first suit missing is C. Naturals C H: it is D, which is held.
        ("wild_jokers", "9D 9H X1", {"X1=9C 9D 9H"}),
        ("wild_jokers", "9C 9D 9H X1", {"9C 9D 9H", "9C 9D 9H X1=9S"}),
        ("wild_jokers", "9D 9H 9S X1", {"9D 9H 9S", "X1=9C 9D 9H", "X1=9C 9D 9S", "X1=9C 9H 9S", "X1=9C 9D 9H 9S"}),
        ("wild_jokers", "9C 9S X1 X2", {"9C X1=9D 9S", "9C X1=9D X2=9H 9S"}),
        ("tunk", "AH 2H 3H", {"AH 2H 3H"}),  # 2H in its own place is natural
        ("tunk", "4H 5H 2H", {"2H=3H 4H 5H", "4H 5H 2H=6H"}),  # …so it cannot be 3H and 2H at once
        ("tunk", "2S 2C 7H 8H",
         {"2C=6H 7H 8H", "7H 8H 2C=9H", "2C=5H 2S=6H 7H 8H", "2C=6H 7H 8H 2S=9H", "7H 8H 2C=9H 2S=TH"}),
        ("tunk", "2D 2H 2S", {"2D 2H 2S", "2S=2C 2D 2H", "2H=2C 2D 2S", "2D=2C 2H 2S"}),
        ("tunk", "AH 3H 2S", {"AH 2S=2H 3H"}),  # a deuce for another deuce
    ],
)  # fmt: skip
def test_r13_r14_spreads_of_a_hand(preset: str, hand: str, spreads: set[str]) -> None:
    assert spread_set(preset, hand) == spreads


def every_shape(ranks: str) -> Iterator[tuple[str, ...]]:
    """Places of every book and run, in the order of their words (R13)."""
    for rank in ranks:
        suits = [*combinations("CDHS", 3), tuple("CDHS")]
        yield from (tuple(rank + suit for suit in chosen) for chosen in suits)
    for low, high in combinations(range(len(ranks) + 1), 2):
        if high - low >= 3:
            yield from (tuple(rank + suit for rank in ranks[low:high]) for suit in "CDHS")


def is_legal(hand: list[str], wilds: list[str], places: tuple[str, ...], cards: tuple[str, ...]) -> bool:
    """R14 sentence by sentence, for one way to put cards on places; `wilds` are those held, in the order of use."""
    own = [card for card, place in zip(cards, places, strict=True) if card == place]
    stand = [(card, place) for card, place in zip(cards, places, strict=True) if card != place]
    if len(own) < 2 or any(card not in wilds for card, _ in stand):
        return False
    if any(place in hand for _, place in stand):
        return False
    if [card for card, _ in stand] != [card for card in wilds if card not in own][: len(stand)]:
        return False
    if places[0][0] != places[1][0]:
        return True
    missing = [places[0][0] + suit for suit in "CDHS" if places[0][0] + suit not in own]
    return [place for _, place in stand] == missing[: len(stand)]


@pytest.mark.parametrize("preset, options", [("wild_jokers", {}), ("tunk", {}), ("deadwood", {})])
def test_r14_against_every_way_to_put_cards_on_places(preset: str, options: dict[str, Any]) -> None:
    rules = make_rules(preset, ranks="A23456", hand_size=5, opening_exact=(), max_players=2, **options)
    kind, rng = deck_kind(rules), random.Random(3)
    order = {"none": "", "jokers": "X1 X2", "deuces": "2C 2D 2H 2S"}[rules.wild].split()
    shapes = list(every_shape(rules.ranks))
    for _ in range(40):
        hand = rng.sample(order, min(len(order), rng.randint(0, 3)))
        hand += rng.sample([card for card in full_deck(rules) if card not in hand], 5 - len(hand))
        wilds = [card for card in order if card in hand]
        wanted = {
            tuple(zip(cards, places, strict=True))
            for places in shapes
            for cards in permutations(hand, len(places))
            if is_legal(hand, wilds, places, cards)
        }
        found = spreads_in(kind, hand)
        assert set(found) == wanted
        assert len(found) == len(wanted)


def test_r14_few_suits_and_ranks() -> None:
    small = {"ranks": "A234", "suits": 2, "hand_size": 2, "upcard": True}
    assert spread_set("mini", "AC AD 2C 3C", **small) == {"AC 2C 3C"}
    wild = {**small, "jokers": 2, "wild": "jokers"}
    assert spread_set("mini", "3C 4C X1", **wild) == {"X1=2C 3C 4C"}
    assert spread_set("mini", "3C 3D X1", **wild) == set()


def test_r6_r26_least_left_over() -> None:
    kind = deck_kind(make_rules("tunk"))
    assert least_left(kind, "7H 8H 9H 9C 9D KS 3D".split()) == 28
    assert least_left(kind, "7H 8H 9H TH 9C 9D 9S".split()) == 0
    # 7H 8H 9H with a book of three 9s is not possible: only one of 9H, TH is left for the run.
    assert least_left(kind, "7H 8H 9H 9C 9D 2S KS".split()) == 10
    laid = best_arrangement(kind, "3H 4H 5H 6H 7H 8H KS".split())
    assert [spread_words(spread) for spread in laid] == ["spread 3H 4H 5H", "spread 6H 7H 8H"]


class TestHits:
    """R15 and the hits of R14."""

    def start(self, preset: str, hand: str, **options: Any) -> OracleHand:
        """Seat 0 of two, in mid-turn with the given hand."""
        started = deal(make_rules(preset, **options), [COUNT_12, COUNT_19])
        started.play("draw")
        started.hands[0] = hand.split()
        return started

    @staticmethod
    def natural(owner: int, cards: str) -> Spread:
        return Spread(owner, tuple((card, card) for card in cards.split()))

    def test_runs_never_merge(self) -> None:
        hand = self.start("deadwood", "6H KS QS")
        hand.spreads = [self.natural(1, "3H 4H 5H"), self.natural(0, "7H 8H 9H"), self.natural(1, "6C 6D 6S")]
        assert hand.legal()[3:] == ["hit 6H book", "hit 6H high", "hit 6H low"]
        hand.play("hit 6H high")
        assert [len(spread.cards) for spread in hand.spreads] == [4, 3, 3]
        assert all(word.startswith("discard") for word in hand.legal())

    def test_ends_of_a_suit_and_full_books(self) -> None:
        hand = self.start("deadwood", "KH AH 9H 2C")
        hand.spreads = [self.natural(1, "JH QH KH"), self.natural(1, "AD 2D 3D"), self.natural(1, "9C 9D 9H 9S")]
        assert [word for word in hand.legal() if word.startswith("hit")] == []
        hand.hands[0] = "TH 4D".split()
        assert [word for word in hand.legal() if word.startswith("hit")] == ["hit 4D high", "hit TH low"]

    def test_equal_words_go_to_the_spread_laid_first(self) -> None:
        hand = self.start("wild_jokers", "X2 KS")
        first, second = self.natural(1, "6C 6D 6H"), Spread(1, (("6S", "6S"), ("X1", "7S"), ("8S", "8S")))
        hand.spreads = [first, second, self.natural(0, "6S 7S 8S")]
        assert [word for word in hand.legal() if word[0] == "h"] == [
            "hit X2=5S low",
            "hit X2=6S book",
            "hit X2=9S high",
        ]
        hand.play("hit X2=9S high")
        assert [len(spread.cards) for spread in hand.spreads] == [3, 4, 3]

    def test_hits_on_runs_and_max_hits(self) -> None:
        table = [self.natural(1, "6C 6D 6H"), self.natural(0, "3S 4S 5S")]
        hand = self.start("deadwood", "6S 7S KC", hits_on="runs", max_hits=1)
        hand.spreads = table
        assert [word for word in hand.legal() if word[0] == "h"] == ["hit 6S high"]
        hand.play("hit 6S high")
        assert [word for word in hand.legal() if word[0] == "h"] == []


class TestStranding:
    """R12, R16: a move after which the turn could not be finished is not offered."""

    def at_start(self, own: str, top: str, **options: Any) -> OracleHand:
        hand = deal(make_rules("deadwood", **options), [COUNT_12, COUNT_19], upcard=top)
        hand.hands[0] = own.split()
        return hand

    def test_no_return_keeps_a_card_to_throw(self) -> None:
        hand = self.at_start("9C 9D 9H", "KS", taken_discard="no_return")
        hand.play("take")
        assert hand.legal() == ["discard 9C", "discard 9D", "discard 9H"]

    def test_no_return_with_must_spread_bars_the_take(self) -> None:
        hand = self.at_start("9C 9D 9H", "KS", taken_discard="no_return", must_spread=True)
        assert hand.legal() == ["draw", "drop"]

    def test_no_return_hit_that_leaves_the_taken_card(self) -> None:
        hand = self.at_start("6H", "KS", taken_discard="no_return")
        hand.spreads = [TestHits.natural(1, "3H 4H 5H")]
        hand.play("take")
        assert hand.legal() == ["discard 6H"]

    def test_must_use(self) -> None:
        assert "take" not in self.at_start("9C 9D 4H", "KS", taken_discard="must_use").legal()
        hand = self.at_start("9C 9D 4H 5H 6H", "9H", taken_discard="must_use", must_spread=True)
        hand.play("take")
        assert hand.legal() == ["spread 9C 9D 9H"]
        hand.play("spread 9C 9D 9H")
        assert hand.legal() == ["spread 4H 5H 6H"]


def test_r27_last_turns_with_an_empty_stock() -> None:
    hand = deal(make_rules("tunk"), ["3C 4C 5C 9C 9D 9H KS", "6C 7C TD 6D 8D 8S TH"], stock="5S 3H")
    play(hand, "draw", "tunk")
    assert hand.legal() == ["discard KS"]
    hand.play("discard KS")
    hand.stock.clear()
    assert hand.legal() == ["pass", "take"]
    assert play(hand, "pass").legal() == ["hit 6C high", "pass"]
    assert play(hand, "hit 6C high").legal() == ["hit 7C high", "pass"]
    play(hand, "pass")
    assert result(hand) == ("tunk", [5, 49], [0])


def test_other_moves_are_refused() -> None:
    hand = deal(make_rules("points"), [COUNT_12, COUNT_19])
    for words in ("pass", "discard AS", "tunk", "", "spread AS 2H 3C", "hit AS low"):
        with pytest.raises(ValueError, match="cannot"):
            hand.play(words)


COMBOS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in presets()),
    ("points", {"match": "hands"}),
    ("points", {"settlement": "points", "held_spreads_count": False, "taken_discard": "no_return"}),
    ("points", {"match": "target", "target": 60, "next_start": "winner", "drop_tie": "safe"}),
    ("points", {"drop": "never", "must_spread": True, "taken_discard": "no_return", "max_turns": 9}),
    ("points", {"match_reward": "hands", "drop_at_most": 12, "opening_at_most": 9, "opening_clash": "tie"}),
    ("deadwood", {"caught_pays": "every_player", "stock_tie": "share", "stock_result": "low_wins", "max_hits": 1}),
    ("deadwood", {"caught_pays": "low_collects", "drop": "before_draw", "drop_at_most": 20, "hand_size": 3}),
    ("deadwood", {"caught_pays": "each_lower", "stock_result": "dead", "hand_size": 1}),
    ("difference", {"difference_cap": 7, "caught_pays": "each_catcher", "stock_tie": "share", "max_turns": 12}),
    ("difference", {"caught_pays": "each_lower", "match": "target", "target": 40, "match_reward": "hands"}),
    ("rockets", {"freeze_on_hit": 2, "freeze_stacks": True, "wait_after_spread": 2, "match": "hands", "hands": 3}),
    ("wild_jokers", {"hand_size": 7, "must_spread": True, "taken_discard": "no_return", "drop": "never"}),
    ("wild_jokers", {"taken_discard": "must_use", "must_spread": True, "held_spreads_count": False, "max_hits": 2}),
    ("deadwood", {"wild": "deuces", "hand_size": 6, "ranks": "A2345", "taken_discard": "no_return", "max_players": 2}),
    ("deadwood", {"wild": "deuces", "hand_size": 7, "taken_discard": "must_use"}),
    ("tunk", {"wild": "jokers", "jokers": 2, "hand_size": 5, "taken_discard": "no_return", "drop_at_most": 0}),
    ("tunk", {"max_turns": 6, "ranks": "A23456", "max_players": 3, "drop_at_most": 2}),
    ("tunk", {"hand_size": 1, "drop_at_most": 2, "elimination": 50}),
    ("tunk", {"jokers": 2, "wild": "none", "hand_size": 3, "taken_discard": "no_return"}),
]
HANDS_EACH = 25


def check_state(hand: OracleHand, deck: list[str]) -> None:
    """Every card lies in one place, the counters and known cards make sense (R39)."""
    lying = [card for held in hand.hands.values() for card in held] + hand.stock + [card for card, _ in hand.pile]
    lying += [card for spread in hand.spreads for card, _ in spread.cards]
    assert sorted(lying) == sorted(deck)
    assert all(hand.known[seat] <= set(hand.hands[seat]) for seat in hand.seats)
    assert min(*hand.waiting.values(), *hand.frozen.values()) >= 0


def play_out(hand: OracleHand, deck: list[str], rng: random.Random) -> None:
    """Play a hand to its end by random legal moves, with a liking for spreads, hits and tunks, checking each state."""
    steps = 0
    while not hand.over:
        check_state(hand, deck)
        words = hand.legal()
        assert words, "stranded"
        assert all(first < second for first, second in pairwise(words))
        liked = [word for word in words if word.split()[0] in ("spread", "hit", "tunk", "take")]
        hand.play(rng.choice(liked if liked and rng.random() < 0.6 else [w for w in words if w != "drop"] * 9 + words))
        steps += 1
        assert steps < 3000
    check_state(hand, deck)
    assert hand.legal() == []


def check_result(hand: OracleHand, rewards: list[float], match: OracleMatch) -> None:
    scores = [hand.scores[seat] or 0.0 for seat in hand.seats]
    if match.rules.settlement != "points":
        assert sum(scores) == pytest.approx(0)
    if match.rules.match != "elimination" or match.rules.match_reward == "hands":
        assert sum(rewards) == pytest.approx(0)
    assert hand.winners == sorted(hand.winners)
    assert [score is None for score in hand.scores] == [seat not in hand.seats for seat in range(hand.players)]


@pytest.mark.parametrize("number", range(len(COMBOS)))
def test_random_matches_end_and_add_up(number: int) -> None:
    preset, options = COMBOS[number]
    rules = make_rules(preset, **options)
    rng = random.Random(number)
    played = 0
    while played < HANDS_EACH:
        players = rng.randint(rules.min_players, rules.max_players)
        if rules.stock_after_deal(players) < 1:
            continue
        match, paid = OracleMatch(rules, players), [0.0] * players
        while not match.over and played < 3 * HANDS_EACH:
            deck = full_deck(rules)
            rng.shuffle(deck)
            hand = OracleHand(rules, players, match.seats, match.start, deck, match.totals)
            play_out(hand, deck, rng)
            rewards = match.finish(hand)
            check_result(hand, rewards, match)
            paid = [before + now for before, now in zip(paid, rewards, strict=True)]
            played += 1
        if match.over:
            assert sum(paid) == pytest.approx(0)
            assert None not in match.places


def test_every_ending_occurs() -> None:
    endings: set[str | None] = set()
    rng = random.Random(5)
    sets: list[tuple[str, dict[str, Any]]] = [
        ("deadwood", {}),
        ("speno", {"opening_at_most": 30}),
        ("rockets", {"drop": "never", "wait_after_spread": 1}),
        ("mini", {}),
        ("tunk", {"hand_size": 4, "drop_at_most": 20}),
        ("tunk", {"wild": "none", "drop_at_most": 1}),
    ]
    for preset, options in sets:
        rules = make_rules(preset, **{"max_players": 2, **options})
        for _ in range(60):
            deck = full_deck(rules)
            rng.shuffle(deck)
            hand = OracleHand(rules, 2, [0, 1], 0, deck)
            play_out(hand, deck, rng)
            endings.add(hand.ending)
    wanted = "opening opening_clash drop caught tonk_out run_out stock turn_limit tunk tunk_caught void"
    assert endings == set(wanted.split())


class TestPlaces:
    """R36, R37, R40."""

    @staticmethod
    def book(match: OracleMatch, scores: list[float | None], winners: list[int]) -> list[float]:
        """Book a hand with the given scores."""
        seats = [seat for seat, score in enumerate(scores) if score is not None]
        deck = full_deck(match.rules)
        hand = OracleHand(match.rules, len(scores), seats, match.start, deck)
        hand.over, hand.ending, hand.scores, hand.winners = True, "drop", scores, winners
        return match.finish(hand)

    def test_going_out_together_and_sharing(self) -> None:
        match = OracleMatch(make_rules("points", elimination=50), 4)
        assert self.book(match, [60, 0, 60, 10], [1]) == pytest.approx([-2 / 3, 0, -2 / 3, 0])
        assert match.places == [3, None, 3, None]
        assert (match.seats, match.start) == ([1, 3], 1)
        assert self.book(match, [None, 50, None, 90], [1]) == pytest.approx([0, 1, 0, 1 / 3])
        assert match.places == [3, 1, 3, 2]
        assert match.over

    def test_r10_who_starts(self) -> None:
        match = OracleMatch(make_rules("points", elimination=50, next_start="winner"), 4)
        self.book(match, [9, 9, 0, 9], [2])
        assert match.start == 2
        self.book(match, [0, 9, 9, 0], [0, 3])  # several winners: left of seat 2
        assert match.start == 3
        self.book(match, [60, 9, 9, 9], [0])  # the winner has gone out: left of seat 3, and seat 0 is gone
        assert match.start == 1

    def test_places_by_total(self) -> None:
        match = OracleMatch(make_rules("rockets", hands=2), 4)
        assert self.book(match, [1, 1, 1, -3], []) == [0, 0, 0, 0]
        assert self.book(match, [2, 0, 0, -2], [0]) == pytest.approx([1, 0, 0, -1])
        assert match.places == [1, 2, 2, 4]

    def test_a_single_hand_pays_as_a_hand(self) -> None:
        match = OracleMatch(make_rules("points", match="hands"), 3)
        assert self.book(match, [0, 19, 34], [0]) == pytest.approx([26.5 / 20, -2 / 20, -24.5 / 20])
