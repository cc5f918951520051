"""Checks the engine's record of a rule set, field by field, against the options it was made from."""

from __future__ import annotations

import numpy as np
import pytest

from tonk_env.rule_record import CODED
from tonk_env.rules import OPTIONS, PRESETS, make_rules, presets


@pytest.mark.parametrize("name", presets())
def test_every_preset_fits_its_record(name):
    rules, record = PRESETS[name], PRESETS[name].record()
    assert isinstance(record, np.record)
    for same in ("suits", "jokers", "deck_size", "hand_size", "upcard", "max_turns", "hands", "scale", "must_spread"):
        assert record[same] == getattr(rules, same), same
    assert record["n_ranks"] == len(rules.ranks)
    assert record["value"].tolist() == [*range(1, 11), *rules.court_values, 0]


def test_the_record_knows_the_short_deck_R2():
    record = PRESETS["short_deck"].record()
    # 7 (rank 6) and J (rank 10) are neighbours; 8, 9 and T are not in use.
    assert record["rank_up"].tolist() == [1, 2, 3, 4, 5, 6, 10, -1, -1, -1, 11, 12, -1]
    assert record["rank_down"].tolist() == [-1, 0, 1, 2, 3, 4, 5, -1, -1, -1, 6, 10, 11]
    assert record["pos_of_rank"].tolist() == [0, 1, 2, 3, 4, 5, 6, -1, -1, -1, 7, 8, 9]
    assert record["rank_at"].tolist() == [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, -1, -1, -1]
    assert record["gapped"]
    assert record["deck_size"] == 40
    assert not PRESETS["mini"].record()["gapped"]
    assert not make_rules(ranks="56789TJQK").record()["gapped"]


def test_the_record_knows_the_wild_cards_R3():
    assert PRESETS["jokers"].record()["wild_mask"] == 0 == PRESETS["points"].record()["wild_mask"]
    assert PRESETS["wild_jokers"].record()["wild_mask"] == 1 << 13 | 1 << 29
    assert make_rules("wild_jokers", jokers=1).record()["wild_mask"] == 1 << 13
    assert PRESETS["tunk"].record()["wild_mask"] == 1 << 1 | 1 << 17 | 1 << 33 | 1 << 49
    assert make_rules("tunk", suits=2, max_players=3).record()["wild_mask"] == 1 << 1 | 1 << 17


def test_the_record_knows_the_openings_R7():
    points, speno, off = (make_rules(*a).record() for a in (("points",), ("speno",), ("deadwood",)))
    assert points["opening_counts"].tolist() == [1 << 49 | 1 << 50, 0]
    assert (speno["opening_at_most"], speno["opening_at_least"]) == (15, 49)
    assert (off["opening_at_most"], off["opening_at_least"], off["opening_spread"]) == (-1, 32767, True)
    assert make_rules("seven_card", opening_exact=[64, 70]).record()["opening_counts"].tolist() == [0, 1 | 1 << 6]


def test_a_choice_is_coded_by_its_place_in_the_sheet():
    codes = {
        "wild": ["none", "jokers", "deuces"],
        "opening_clash": ["cancel", "tie"],
        "next_start": ["left", "winner"],
        "taken_discard": ["free", "no_return", "must_use"],
        "drop": ["before_draw", "after_draw", "never"],
        "settlement": ["points", "stakes", "difference"],
        "caught_pays": ["own_count", "low_hand", "each_catcher", "each_lower", "every_player", "low_collects"],
        "match": ["hands", "elimination", "target"],
    }
    codes["caught_pays"].append("catchers_and_low_collects")
    assert {name: list(OPTIONS[name].metadata["choices"]) for name in CODED} == codes
    record = make_rules("pagat", taken_discard="must_use", next_start="winner").record()
    assert [record[name] for name in CODED] == [0, 0, 1, 2, 0, 1, 6, 0]


def test_switches_say_which_of_two_choices_applies():
    points, speno, tunk = (PRESETS[name].record() for name in ("points", "speno", "tunk"))
    assert [points[f] for f in ("runs_only", "drop_tie_safe", "on_demand", "stock_dead", "stock_tie_dead")] == [
        False
    ] * 5
    assert [speno[field] for field in ("runs_only", "on_demand")] == [True, True]
    assert [tunk[field] for field in ("drop_tie_safe", "stock_tie_dead")] == [True, True]
    assert make_rules("points", stock_result="dead").record()["stock_dead"]


def test_the_record_holds_what_applies_R6_R35_R40():
    tunk = PRESETS["tunk"].record()
    assert not tunk["held_count"]
    assert PRESETS["points"].record()["held_count"]
    assert PRESETS["points"].record()["limit"] == 100
    assert PRESETS["deadwood"].record()["limit"] == 0
    assert make_rules("deadwood", match="target", target=12.5).record()["limit"] == 12.5
    assert PRESETS["points"].record()["place_reward"]
    assert not PRESETS["deadwood"].record()["place_reward"]
    assert make_rules("deadwood", hands=2).record()["place_reward"]
    assert not make_rules("deadwood", hands=2, match_reward="hands").record()["place_reward"]


def test_the_largest_values_fit_the_record():
    largest = {
        name: int(spec.metadata["range"][1])
        for name, spec in OPTIONS.items()
        if spec.metadata["range"] and name not in ("opening_exact", "opening_at_most", "min_players")
    }
    rules = make_rules("deadwood", **largest)
    record = rules.record()
    for field, option in {"wait": "wait_after_spread", "freeze": "freeze_on_hit", "hands": "hands"}.items():
        assert record[field] == getattr(rules, option)
    assert record["max_turns"] == rules.max_turns
    assert record["opening_at_least"] == rules.opening_at_least
    assert record["caught_multiplier"] == rules.caught_multiplier
