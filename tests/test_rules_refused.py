"""Checks what rule sets refuse: each wrong value, each senseless combination, unknown names, tables too large."""

from __future__ import annotations

import numpy as np
import pytest

from tonk_env.rules import OPTIONS, PRESETS, RuleSet, RuleSetError, make_rules, preset_info

WRONG_VALUES = [
    ("min_players", 1, "2 to 6"),
    ("max_players", 7, "2 to 6"),
    ("max_players", True, "whole number"),
    ("max_players", 4.0, "whole number"),
    ("max_players", "4", "whole number"),
    ("max_players", None, "whole number"),
    ("ranks", "", "A23456789TJQK"),
    ("ranks", "A32", "in that order"),
    ("ranks", "AA2", "each once"),
    ("ranks", "a23", "A23456789TJQK"),
    ("ranks", 234, "quoted word"),
    ("suits", 0, "1 to 4"),
    ("suits", 5, "1 to 4"),
    ("jokers", 3, "0 to 2"),
    ("wild", "deuce", "'deuces'"),
    ("wild", None, "'deuces'"),
    ("hand_size", 0, "1 to 7"),
    ("hand_size", 8, "1 to 7"),
    ("upcard", 1, "true or false"),
    ("upcard", "yes", "true or false"),
    ("court_values", (10, 11, 12), "[11, 12, 13]"),
    ("court_values", (10.0, 10.0, 10.0), "[11, 12, 13]"),
    ("court_values", 10, "[11, 12, 13]"),
    ("opening_exact", 49, "list of whole numbers"),
    ("opening_exact", [49.5], "list of whole numbers"),
    ("opening_exact", [-1], "list of whole numbers"),
    ("opening_exact", "49", "list of whole numbers"),
    ("opening_at_most", False, "null for off"),
    ("opening_at_most", -1, "null for off"),
    ("opening_at_least", 1.5, "null for off"),
    ("opening_multiplier", 0, "from 1"),
    ("opening_multiplier", 1.5, "whole number"),
    ("opening_clash", "share", "'cancel', 'tie'"),
    ("next_start", "right", "'left', 'winner'"),
    ("taken_discard", "must-use", "did you mean `must_use`"),
    ("hits_on", "books", "'all', 'runs'"),
    ("max_hits", -1, "0: any number"),
    ("max_turns", 0, "from 1"),
    ("drop", "afterdraw", "did you mean `after_draw`"),
    ("drop_at_most", -1, "0: no limit"),
    ("drop_tie", "share", "'caught', 'safe'"),
    ("wait_after_spread", -1, "0: off"),
    ("freeze_on_hit", 1.0, "0: off"),
    ("stock_end", "never", "'last_discard', 'on_demand'"),
    ("stock_result", "share", "'low_wins', 'dead'"),
    ("stock_tie", "low_wins", "'share', 'dead'"),
    ("tonk_out_multiplier", 0, "from 1"),
    ("run_out_multiplier", -2, "from 1"),
    ("settlement", "money", "'points', 'stakes', 'difference'"),
    ("difference_cap", -1, "0 (no cap)"),
    ("difference_cap", float("nan"), "0 (no cap)"),
    ("caught_pays", "low", "'low_collects'"),
    ("caught_multiplier", 0, "from 1"),
    ("match", "hand", "did you mean `hands`"),
    ("hands", 0, "from 1"),
    ("elimination", 0, "positive number"),
    ("elimination", -50, "positive number"),
    ("elimination", float("inf"), "positive number"),
    ("elimination", "100", "positive number"),
    ("elimination", True, "positive number"),
    ("target", 0, "positive number"),
    ("match_reward", "hand", "'place', 'hands'"),
    ("reward_scale", 0, "positive number"),
    ("reward_scale", True, "positive number"),
]


@pytest.mark.parametrize("name, value, allowed", WRONG_VALUES)
def test_a_wrong_value_is_refused_naming_option_value_and_what_is_allowed(name, value, allowed):
    with pytest.raises(RuleSetError) as refused:
        make_rules(**{name: value})
    message = str(refused.value)
    assert f"`{name}`" in message
    assert repr(value) in message
    assert allowed in message
    assert message.endswith(".")
    assert "\n" not in message


def test_every_option_has_a_wrong_value_tested():
    flags = {name for name, spec in OPTIONS.items() if spec.type == "bool"}
    assert set(OPTIONS) - {name for name, *_ in WRONG_VALUES} == flags - {"upcard"}
    for name in flags:
        with pytest.raises(RuleSetError, match=f"`{name}` is 0, but must be true or false"):
            make_rules(**{name: 0})


REFUSED = [
    ("points", {"min_players": 5}, ["`min_players` is 5", "`max_players` 4"]),
    ("points", {"wild": "jokers"}, ["`wild` is 'jokers'", "`jokers` is 0"]),
    ("points", {"wild": "deuces", "ranks": "A3456789TJQK"}, ["`wild` is 'deuces'", "rank 2", "'A3456789TJQK'"]),
    ("points", {"ranks": "A23", "suits": 3}, ["`min_players` is 2", "`hand_size` 5", "deck of 9", "one stock card"]),
    ("seven_card", {"min_players": 6, "ranks": "A234567JQK"}, ["`min_players` is 6", "at most 5 players"]),
    ("points", {"settlement": "stakes"}, ["`caught_pays` is 'own_count'", "`settlement` 'stakes'", "'every_player'"]),
    ("points", {"caught_pays": "low_hand"}, ["`caught_pays` is 'low_hand'", "must be one of 'own_count'"]),
    ("deadwood", {"settlement": "points"}, ["`caught_pays` is 'low_hand'", "must be one of 'own_count'"]),
    ("deadwood", {"match": "elimination"}, ["`match` is 'elimination'", "'stakes'", "'hands' and 'target'"]),
    ("difference", {"match": "elimination"}, ["`match` is 'elimination'", "'difference'"]),
    ("deadwood", {"match": "target"}, ["`match` is 'target'", "`target` is not set"]),
    ("difference", {"caught_pays": "own_count"}, ["`caught_pays` is 'own_count'", "'difference'", "'each_lower'"]),
    (
        "difference",
        {"caught_pays": "every_player"},
        ["`caught_pays` is 'every_player'", "'each_catcher', 'each_lower'"],
    ),
    ("difference", {"caught_pays": "low_collects"}, ["`caught_pays` is 'low_collects'", "'each_lower'"]),
    ("difference", {"caught_pays": "catchers_and_low_collects"}, ["'catchers_and_low_collects'", "'each_lower'"]),
    ("tunk", {"hits_on": "runs"}, ["`hits_on` is 'runs'", "`drop` 'after_draw'", "'all'"]),
    ("tunk", {"max_hits": 1}, ["`max_hits` is 1", "`drop` 'after_draw'", "0"]),
    ("tunk", {"must_spread": True}, ["`must_spread` is True", "`drop` 'after_draw'", "False"]),
    ("tunk", {"taken_discard": "must_use"}, ["`taken_discard` is 'must_use'", "'free' and 'no_return'"]),
    ("tunk", {"wait_after_spread": 1}, ["`wait_after_spread` is 1", "`drop` 'after_draw'"]),
    ("tunk", {"freeze_on_hit": 1}, ["`freeze_on_hit` is 1", "`drop` 'after_draw'"]),
    ("tunk", {"settlement": "stakes"}, ["`settlement` is 'stakes'", "'points'"]),
    ("tunk", {"settlement": "difference"}, ["`settlement` is 'difference'", "'points'"]),
    ("tunk", {"stock_end": "on_demand"}, ["`stock_end` is 'on_demand'", "'last_discard'"]),
    ("points", {"drop": "after_draw"}, ["`drop_tie` is 'caught'", "`drop` 'after_draw'", "'safe'"]),
    ("points", {"opening_at_most": 50}, ["`opening_at_most` 50", "every possible hand", "6 to 50"]),
    ("points", {"opening_at_least": 6}, ["`opening_at_least` 6", "every possible hand"]),
    ("speno", {"opening_at_least": 16}, ["`opening_at_most` 15", "`opening_at_least` 16", "every possible hand"]),
    ("mini", {"opening_exact": [2, 3, 4, 5, 6, 7, 8]}, ["`opening_exact` [2, 3, 4, 5, 6, 7, 8]", "2 to 8"]),
]


@pytest.mark.parametrize("preset, options, words", REFUSED)
def test_a_combination_that_makes_no_sense_is_refused_with_its_own_message(preset, options, words):
    with pytest.raises(RuleSetError) as refused:
        make_rules(preset, **options)
    message = str(refused.value)
    assert [word for word in words if word not in message] == [], message
    assert message.endswith(".")
    assert "\n" not in message


ALLOWED = [
    ("points", {"hands": 9}),
    ("points", {"difference_cap": 10}),
    ("points", {"target": 50}),
    ("points", {"freeze_stacks": True}),
    ("points", {"jokers": 2}),
    ("points", {"jokers": 2, "wild": "deuces"}),
    ("points", {"settlement": "stakes", "caught_pays": "every_player", "match": "target", "target": 12}),
    ("points", {"elimination": 72.5}),
    ("tunk", {"freeze_stacks": True, "stock_result": "dead", "taken_discard": "no_return"}),
    ("tunk", {"held_spreads_count": False, "drop_at_most": 0, "upcard": False}),
    ("points", {"drop": "never", "drop_at_most": 7}),
]


@pytest.mark.parametrize("preset, options", ALLOWED)
def test_an_option_without_effect_and_a_whole_change_are_allowed(preset, options):
    assert make_rules(preset, **options).options() == PRESETS[preset].options() | options


def test_openings_that_cover_all_counts_together_are_refused():
    # 48 and less, 49, 50: each condition leaves hands, all three together leave none.
    with pytest.raises(RuleSetError, match="every possible hand"):
        make_rules("points", opening_at_most=48)
    assert make_rules("points", opening_at_most=47).opening_at_most == 47


def test_unknown_names_are_answered_with_the_nearest_known_one():
    with pytest.raises(RuleSetError, match=r"no option `hand_sise` \(did you mean `hand_size`\?\)\.$"):
        make_rules("points", hand_sise=7)
    with pytest.raises(RuleSetError, match="no option `xyzzy`; known are min_players, "):
        PRESETS["points"].replace(xyzzy=7)
    with pytest.raises(
        RuleSetError, match=r"no preset 'rocket' \(did you mean `rockets`\?\); known are points, .*micro"
    ):
        make_rules("rocket")
    with pytest.raises(RuleSetError, match="no preset 'xyzzy'; known are points, "):
        preset_info("xyzzy")
    with pytest.raises(RuleSetError, match="`preset` is not an option"):
        make_rules("points", preset="tunk")
    with pytest.raises(RuleSetError, match="no preset 'zzz'"):
        RuleSet(preset="zzz")


def test_opponents_are_pointed_to_where_they_are_seated():
    with pytest.raises(RuleSetError, match=r"`opponents` is not an option: .* use gymnasium\.make"):
        make_rules("points", opponents="champion")


# --- players --------------------------------------------------------------------------------------------------------


def test_R1_players_are_checked_against_range_and_deal():
    assert make_rules("points").check_players(None) == 2
    assert make_rules("points", min_players=3).check_players() == 3
    assert [make_rules("seven_card").check_players(n) for n in range(2, 7)] == [2, 3, 4, 5, 6]
    assert make_rules("points").check_players(np.int64(4)) == 4
    with pytest.raises(RuleSetError, match="table of 5 is refused: `points` is played by 2 to 4"):
        make_rules("points").check_players(5)
    for wrong in (True, 2.0, "2"):
        with pytest.raises(RuleSetError, match="must be a whole number"):
            make_rules("points").check_players(wrong)


def test_R4_a_table_whose_deal_leaves_no_stock_is_refused_but_not_the_rule_set():
    # 40 cards, seven each: five players and an upcard take 36, six would take 43.
    rules = make_rules("navy", max_players=6)
    assert rules.stock_after_deal(5) == 4
    assert rules.check_players(5) == 5
    with pytest.raises(RuleSetError, match=r"table of 6 is refused: .*`hand_size` 7 .*deck of 40 .*at most 5 players"):
        rules.check_players(6)


def test_R4_exactly_one_stock_card_is_enough():
    assert PRESETS["micro"].deck_size == 6
    assert PRESETS["micro"].stock_after_deal(2) == 1
    with pytest.raises(RuleSetError, match="at least one stock card"):
        make_rules("micro", ranks="A2")
    assert make_rules("micro", ranks="A2", upcard=False, jokers=1).stock_after_deal(2) == 1
