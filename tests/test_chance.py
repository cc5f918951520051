"""A hand dealt card by card from outside is the hand that a table plays from a stacked deck."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from wandering import RULE_SETS, tables

from tonk_env.chance import CHANCE, OpenHand
from tonk_env.redeal import RedealError
from tonk_env.rules import RuleSetError, make_rules
from tonk_env.table import IllegalMoveError, Table


def wander(name: str, players: int, seed: int) -> list[OpenHand]:
    """Copies of every moment of a random hand that seldom ends with a drop."""
    generator = np.random.default_rng(seed)
    hand = OpenHand(RULE_SETS[name].replace(match="hands", hands=1), players)
    moments = [copy.deepcopy(hand)]
    while not hand.over:
        choices = hand.unseen() if hand.waits_for_card else hand.legal_actions()
        calm = choices if hand.waits_for_card or generator.random() < 0.1 else choices[choices[0] == 0 and len(choices) > 1 :]
        hand.choose(int(generator.choice(calm)))
        moments.append(copy.deepcopy(hand))
    return moments


@pytest.mark.parametrize("name, players", tables())
def test_it_plays_as_a_table_does(name: str, players: int) -> None:
    played = 0
    for seed in range(4):
        moments = wander(name, players, seed)
        last = moments[-1]
        if len(last.events) == last.to_deal:
            continue  # settled on the deal: a table deals again
        table = Table(last.rules, players)
        table.reset(deck=last.cards + last.unseen())
        for hand, (seat, choice, _) in zip(moments, last.events, strict=False):
            assert hand.waits_for_card == (seat == CHANCE)
            if seat == CHANCE:
                continue
            assert hand.seat == seat == table.seat
            assert hand.legal_actions() == table.legal_actions().tolist()
            assert [hand.words(action) for action in hand.legal_actions()] == [table.words(a) for a in table.legal_actions()]
            assert all((hand.observation(other) == table.observation(other)).all() for other in range(players))
            assert not hand.rewards.any()
            ended = table.step(choice)
        if ended[0].ending != "void":  # after a void hand a table deals again
            assert (last.rewards == table.rewards).all()
        played += 1
    assert played or name == "open_often"


@pytest.mark.parametrize("name, players", tables())
def test_a_hand_dealt_again_cannot_be_told_from_the_first(name: str, players: int) -> None:
    generator = np.random.default_rng(players)
    for at, hand in enumerate(wander(name, players, seed=9)):
        if hand.seat < 0 or at % 4:
            continue
        other = hand.redealt(hand.seat, generator)
        assert (other.observation(hand.seat) == hand.observation(hand.seat)).all()
        assert other.legal_actions() == hand.legal_actions()
        assert other.dealt_to(hand.seat) == hand.dealt_to(hand.seat)
        assert [event[:2] for event in other.events if event[0] >= 0] == [event[:2] for event in hand.events if event[0] >= 0]


def test_what_is_dealt_again_moves() -> None:
    hand = next(hand for hand in wander("points", 2, seed=1) if hand.seat == 0)
    deals = {tuple(hand.redealt(0, np.random.default_rng(seed)).dealt_to(1)) for seed in range(50)}
    assert len(deals) > 45


def test_hopeless_deals_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    hand = next(hand for hand in wander("points", 2, seed=1) if hand.seat == 0)
    monkeypatch.setattr(OpenHand, "_with_deck", lambda self, deck: None)
    with pytest.raises(RedealError, match="seat 0"):
        hand.redealt(0, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["points", "tunk", "wild_jokers", "micro"])
def test_pickles_are_the_same_hand(name: str) -> None:
    for hand in wander(name, 2, seed=2)[::5]:
        twin = pickle.loads(pickle.dumps(hand))
        assert twin.events == hand.events
        assert (twin.seat, twin.unseen(), twin.legal_actions()) == (hand.seat, hand.unseen(), hand.legal_actions())


def test_copies_are_independent() -> None:
    hand = OpenHand.replayed(make_rules("micro"), 2, [0, 1, 2, 13, 14])
    twin = copy.deepcopy(hand)
    twin.choose(twin.legal_actions()[-1])
    assert len(twin.events) == len(hand.events) + 1 == 6
    assert hand.legal_actions() != twin.legal_actions()


def test_what_comes_out_of_turn_is_refused() -> None:
    hand = OpenHand(make_rules("micro"), 2)
    with pytest.raises(IllegalMoveError, match="not legal now"):
        hand.play(1)
    hand.put(0)
    for card in (0, 5, 52, -1):
        with pytest.raises(IllegalMoveError, match="come up already or is not in the deck"):
            hand.put(card)
    for card in (1, 2, 13, 14):
        hand.put(card)
    with pytest.raises(IllegalMoveError, match="no card is due"):
        hand.put(15)
    with pytest.raises(IllegalMoveError, match="action 3 is not legal now"):
        hand.play(3)
    with pytest.raises(RuleSetError, match="single hands"):
        OpenHand(make_rules("points"), 2)
    with pytest.raises(RuleSetError, match="A table of 3"):
        OpenHand(make_rules("micro"), 3)


def test_a_hand_settled_on_the_deal_is_over_and_pays() -> None:
    names = "KS 9C KH TD KC 5H KD 8S TS QC QS".split()
    deck = Table("points").check_deck([*names, *(r + s for s in "CDHS" for r in "A23456789TJQK" if r + s not in names)])
    hand = OpenHand.replayed(make_rules("points", match="hands"), 2, deck[:11])
    assert hand.over
    assert not hand.legal_actions()
    assert hand.rewards.tolist() == pytest.approx([84 / 20, -84 / 20])
