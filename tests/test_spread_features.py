"""Checks what a network is told beside the observation against plain loops over names of cards."""

from typing import Any

import numpy as np
import pytest
import torch

from agents.config import NetworkConfig
from agents.network import new_network
from agents.spread_features import SpreadFeatures
from tonk_env.batch import Batch
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet, make_rules

GAMES = [("points", 2), ("rockets", 4), ("tunk", 2), ("wild_jokers", 3), ("jokers", 2), ("short_deck", 2), ("mini", 2)]
ROOMS = 40


def positions(rules: RuleSet, players: int, steps: int = 60) -> np.ndarray[Any, np.dtype[np.int8]]:
    batch = Batch(rules, players, num_tables=ROOMS, seed=11)
    batch.reset()
    seen = []
    for _ in range(steps):
        seen.append(batch.observations.copy())
        batch.step(batch.choose_random())
    return np.concatenate(seen)


def plainly(rules: RuleSet, view: dict[str, Any]) -> list[float]:
    """The features of one position, by their description."""
    suits = "CDHS"[: rules.suits]
    groups = [[rank + suit for suit in suits] for rank in rules.ranks]
    groups += [[rank + suit for rank in rules.ranks[low : low + 3]] for suit in suits for low in range(len(rules.ranks) - 2)]
    wilds = {"none": [], "deuces": ["2" + suit for suit in suits], "jokers": ["X1", "X2"]}[rules.wild]
    hand, top = view["hand"], [view["top"]] if view["top"] else []
    places = {place for places in view["open"] for place in places}

    def count(cards: list[str], group: list[str]) -> int:
        return sum(card in group or card in wilds for card in cards)

    held = [count(hand, group) for group in groups]
    features = [max(0, number - 1) for number in held] + [max(0, number - 2) for number in held]
    features += [max(0, count(hand + top, group) - 2) for group in groups]
    names = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
    features += [int(name in hand and name in places) for name in names]
    return [*features, int(bool(top) and top[0] in places)]


@pytest.mark.parametrize(("preset", "players"), GAMES)
def test_features_are_what_they_are_said_to_be(preset: str, players: int) -> None:
    rules = make_rules(preset)
    layout, layer = ObservationLayout(rules, players), SpreadFeatures(rules, players)
    seen = positions(rules, players)
    told = layer(torch.from_numpy(seen).float()).numpy()
    assert (layer.in_features, layer.out_features) == (layout.size, told.shape[1])
    np.testing.assert_array_equal(told[:, : layout.size], seen)
    for row in range(0, len(seen), 7):
        np.testing.assert_array_equal(told[row, layout.size :], plainly(rules, layout.decode(seen[row]).as_dict()))
    if rules.hand_size >= 5:  # the small games have hardly any spreads
        assert told[:, layout.size : -1].any(axis=0).mean() > 0.4, "many features are seen at work"


def test_every_kind_of_feature_occurs() -> None:
    rules = make_rules("points", match="hands")
    layout, layer = ObservationLayout(rules, 2), SpreadFeatures(rules, 2)
    told = layer(torch.from_numpy(positions(rules, 2)).float()).numpy()[:, layout.size :]
    groups = 13 + 4 * 11
    for part in np.split(told, [groups, 2 * groups, 3 * groups, 3 * groups + 52], axis=1):
        assert part.any()


def test_nothing_in_them_is_learned_or_saved() -> None:
    layer = SpreadFeatures(make_rules("points"), 2)
    assert not list(layer.parameters())
    assert not layer.state_dict()


def test_they_can_be_left_out() -> None:
    rules = make_rules("points", match="hands")
    plain = new_network(NetworkConfig(torso=[8], spread_features=False), rules, 2)
    told = new_network(NetworkConfig(torso=[8]), rules, 2)
    assert plain.sizes == told.sizes == (ObservationLayout(rules, 2).size, 483)
    assert isinstance(plain.torso[0], torch.nn.Linear)
    assert isinstance(told.torso[0], SpreadFeatures)
