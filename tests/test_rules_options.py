"""Checks rule sets: presets against the sheet's table, round trips, equality."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from tonk_env.rules import OPTIONS, PRESET_INFO, PRESETS, RuleSet, RuleSetError, make_rules, preset_info, presets

# The defaults of the sheet (R1 to R40) where no preset says otherwise.
DEFAULTS = {
    "min_players": 2,
    "max_players": 4,
    "ranks": "A23456789TJQK",
    "suits": 4,
    "jokers": 0,
    "wild": "none",
    "hand_size": 5,
    "upcard": True,
    "court_values": (10, 10, 10),
    "held_spreads_count": True,
    "opening_exact": (49, 50),
    "opening_at_most": None,
    "opening_at_least": None,
    "opening_spread": False,
    "opening_multiplier": 2,
    "opening_clash": "cancel",
    "next_start": "left",
    "taken_discard": "free",
    "hits_on": "all",
    "max_hits": 0,
    "must_spread": False,
    "max_turns": 200,
    "drop": "before_draw",
    "drop_at_most": 0,
    "drop_tie": "caught",
    "wait_after_spread": 0,
    "freeze_on_hit": 0,
    "freeze_stacks": False,
    "stock_end": "last_discard",
    "stock_result": "low_wins",
    "stock_tie": "share",
    "tonk_out_multiplier": 2,
    "run_out_multiplier": 1,
    "settlement": "points",
    "difference_cap": 0,
    "caught_pays": "own_count",
    "caught_multiplier": 2,
    "match": "elimination",
    "hands": 1,
    "elimination": 100,
    "target": None,
    "match_reward": "place",
    "reward_scale": None,
}

# Section 10, main table, row by row; a column is a preset.
COLUMNS = ("points", "deadwood", "speno", "tonkroom", "rockets", "tunk")
TABLE = {
    "min_players": (2, 2, 2, 2, 2, 2),
    "max_players": (4, 6, 6, 2, 6, 5),
    "hand_size": (5, 5, 5, 5, 5, 7),
    "upcard": (True, True, False, True, True, True),
    "wild": ("none", "none", "none", "none", "none", "deuces"),
    "opening_exact": ((49, 50), (), (), (49, 50), (49, 50), ()),
    "opening_at_most": (None, None, 15, None, None, None),
    "opening_at_least": (None, None, 49, None, None, None),
    "opening_spread": (False, True, False, False, False, False),
    "opening_clash": ("cancel", "cancel", "cancel", "tie", "cancel", "cancel"),
    "opening_multiplier": (2, 2, 2, 1, 2, 2),
    "drop": ("before_draw", "before_draw", "before_draw", "before_draw", "before_draw", "after_draw"),
    "drop_at_most": (0, 0, 0, 0, 0, 5),
    "drop_tie": ("caught", "caught", "caught", "caught", "caught", "safe"),
    "caught_pays": ("own_count", "low_hand", "each_catcher", "low_hand", "each_catcher", "own_count"),
    "caught_multiplier": (2, 2, 2, 1, 2, 2),
    "freeze_on_hit": (0, 0, 0, 0, 1, 0),
    "hits_on": ("all", "all", "runs", "all", "all", "all"),
    "stock_end": ("last_discard", "on_demand", "on_demand", "on_demand", "last_discard", "last_discard"),
    "stock_tie": ("share", "dead", "share", "dead", "share", "dead"),
    "tonk_out_multiplier": (2, 2, 1, 1, 2, 1),
    "run_out_multiplier": (1, 1, 1, 1, 1, 1),
    "settlement": ("points", "stakes", "stakes", "stakes", "stakes", "points"),
    "match": ("elimination", "hands", "hands", "hands", "hands", "elimination"),
}

# Section 10, further presets: what each is and what it changes, all of it.
FURTHER = {
    "seven_card": ("rockets", {"hand_size": 7, "opening_exact": ()}),
    "navy": ("seven_card", {"ranks": "A234567JQK", "max_players": 5}),
    "short_deck": ("rockets", {"ranks": "A234567JQK"}),
    "low_tonk": ("rockets", {"opening_at_most": 15}),
    "waiting": ("rockets", {"wait_after_spread": 3}),
    "strict": ("deadwood", {"must_spread": True, "taken_discard": "must_use"}),
    "difference": ("deadwood", {"settlement": "difference"}),
    "high_courts": ("deadwood", {"court_values": (11, 12, 13)}),
    "jokers": ("deadwood", {"jokers": 2}),
    "wild_jokers": ("deadwood", {"jokers": 2, "wild": "jokers"}),
    "pagat": (
        "rockets",
        {"freeze_on_hit": 0, "caught_pays": "catchers_and_low_collects", "stock_end": "on_demand"},
    ),
    "no_upcard": ("deadwood", {"upcard": False}),
    "mini": (
        "tonkroom",
        {
            "ranks": "A234",
            "suits": 2,
            "hand_size": 2,
            "opening_exact": (),
            "stock_end": "last_discard",
            "max_turns": 4,
        },
    ),
    "micro": ("mini", {"ranks": "A23", "max_turns": 3}),
}


def test_the_options_and_defaults_are_those_of_the_sheet():
    assert RuleSet().options() == DEFAULTS
    assert PRESETS["points"] == RuleSet()
    assert make_rules() == make_rules(None) == make_rules(PRESETS["points"]) == PRESETS["points"]


@pytest.mark.parametrize("column, name", list(enumerate(COLUMNS)))
def test_main_presets_equal_the_table_and_nothing_else_differs(column, name):
    expected = DEFAULTS | {option: values[column] for option, values in TABLE.items()}
    assert PRESETS[name].options() == expected


@pytest.mark.parametrize("name", FURTHER)
def test_further_presets_differ_from_their_base_only_as_the_table_says(name):
    base, changes = FURTHER[name]
    assert PRESETS[name].options() == PRESETS[base].options() | changes


def test_preset_names_and_metadata():
    assert presets() == [*COLUMNS, *FURTHER]
    for name in presets():
        info = preset_info(name)
        assert PRESETS[name].preset == name
        assert info.title
        assert info.source
        assert info.description
        assert info.full_sheet == (name in COLUMNS)
        assert (
            info.note.startswith("From") if info.full_sheet else "page publishes" in info.note or "No page" in info.note
        )
    assert "Tonkroom" in PRESET_INFO["tonkroom"].source
    assert "John P. Speno" in PRESET_INFO["speno"].source


def test_every_option_has_clause_meaning_and_allowed_values():
    for name, spec in OPTIONS.items():
        assert spec.metadata["clause"].startswith("R"), name
        assert spec.metadata["doc"].endswith("."), name
        assert spec.metadata["allowed"], name


@pytest.mark.parametrize("name", [n for n, s in OPTIONS.items() if s.metadata["choices"] and s.type == "str"])
def test_the_default_of_a_choice_is_the_first_one_listed(name):
    first_elsewhere = {"match": "elimination"}  # the table gives the preset `points` a match to 100
    assert OPTIONS[name].default == first_elsewhere.get(name, OPTIONS[name].metadata["choices"][0])


def test_values_are_kept_in_one_normal_form():
    rules = make_rules("points", opening_exact=[50, 49, 50], court_values=[10, 10, 10], elimination=100.0)
    assert rules == PRESETS["points"]
    assert hash(rules) == hash(PRESETS["points"])
    assert rules.opening_exact == (49, 50)
    assert type(rules.elimination) is int
    assert make_rules(opening_exact=None) == make_rules(opening_exact=[]) == make_rules(opening_exact=set())
    numbers = make_rules(hand_size=np.int8(6), upcard=np.bool_(False), elimination=np.float32(62.5))
    assert (type(numbers.hand_size), type(numbers.upcard), type(numbers.elimination)) == (int, bool, float)


@pytest.mark.parametrize("name", presets())
def test_to_dict_and_from_dict_are_a_round_trip_through_json(name):
    rules = make_rules(name)
    assert rules.to_dict() == {"preset": name, "set": {}}
    changed = rules.replace(next_start="winner", max_turns=99, reward_scale=3)
    data = json.loads(json.dumps(changed.to_dict()))
    assert data == {"preset": name, "set": {"next_start": "winner", "max_turns": 99, "reward_scale": 3}}
    again = RuleSet.from_dict(data)
    assert again == changed
    assert again.preset == name
    assert again.fingerprint() == changed.fingerprint()
    assert pickle.loads(pickle.dumps(changed)) == changed


def test_tuples_travel_as_lists():
    changed = make_rules("deadwood", opening_exact=(11, 50), court_values=(11, 12, 13))
    assert changed.to_dict()["set"] == {"court_values": [11, 12, 13], "opening_exact": [11, 50]}
    assert RuleSet.from_dict(changed.to_dict()) == changed


def test_make_rules_takes_a_name_a_rule_set_or_a_mapping_with_options_on_top():
    expected = make_rules("points", elimination=50, hand_size=4)
    assert make_rules({"preset": "points", "set": {"elimination": 50}}, hand_size=4) == expected
    assert make_rules({"set": {"elimination": 50, "hand_size": 4}}) == expected
    assert make_rules(make_rules(elimination=50), hand_size=4) == expected
    # Changes are checked together, so that the order they are written in does not matter.
    assert make_rules({"preset": "points", "set": {"settlement": "stakes"}}, caught_pays="low_hand", match="hands")


@pytest.mark.parametrize(
    "data, words",
    [
        ({"presets": "points"}, r"named `presets` \(did you mean `preset`\?\)"),
        ({"preset": "point"}, r"no preset 'point' \(did you mean `points`\?\)"),
        ({"preset": "points", "set": ["hands"]}, "entry `set`"),
        ({"preset": "points", "set": {"hand": 3}}, r"no option `hand` \(did you mean `hands`\?\)"),
        (3, "mapping"),
        (["points"], "mapping"),
    ],
)
def test_a_mapping_that_is_no_rule_set_is_refused(data, words):
    with pytest.raises(RuleSetError, match=words):
        make_rules(data)
    with pytest.raises(RuleSetError, match=words):
        make_rules(data, max_turns=7)


def test_equality_and_fingerprint_go_by_value_not_by_preset_name():
    by_hand = make_rules("rockets", hand_size=7, opening_exact=())
    assert by_hand.preset != "seven_card"
    assert by_hand == PRESETS["seven_card"]
    assert by_hand.fingerprint() == PRESETS["seven_card"].fingerprint()
    assert len({by_hand, PRESETS["seven_card"]}) == 1
    assert len({rules.fingerprint() for rules in PRESETS.values()}) == len(PRESETS)
    assert all(len(rules.fingerprint()) == 16 and int(rules.fingerprint(), 16) >= 0 for rules in PRESETS.values())


def test_the_fingerprint_is_the_same_in_another_process():
    code = "from tonk_env.rules import PRESETS; print(PRESETS['tunk'].fingerprint())"
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert other.stdout.strip() == PRESETS["tunk"].fingerprint()


def test_every_single_option_moves_the_fingerprint():
    base = make_rules("rockets", jokers=1, target=9, max_players=5)
    other = {"ranks": "A23456789TJQ", "court_values": (11, 12, 13), "opening_exact": (50,), "caught_pays": "low_hand"}
    other |= {
        "drop": "never",
        "match": "target",
        "opening_at_most": 3,
        "opening_at_least": 50,
        "settlement": "difference",
    }
    other |= {name: not value for name, value in base.options().items() if isinstance(value, bool)}
    other |= {"reward_scale": 3, "wild": "jokers", "suits": 3}
    for name, value in base.options().items():
        choices = OPTIONS[name].metadata["choices"]
        new = other.get(name, next(c for c in choices if c != value) if choices and name not in other else None)
        new = value + 1 if new is None else new
        assert base.replace(**{name: new}).fingerprint() != base.fingerprint(), name


def test_R40_the_reward_scale_goes_by_settlement_unless_set():
    assert [make_rules(n).scale for n in ("points", "difference", "deadwood")] == [20.0, 10.0, 1.0]
    assert make_rules("points", reward_scale=5).scale == 5.0


def test_the_sheet_has_a_line_for_each_option():
    lines = make_rules("tunk").sheet()
    assert [line.option for line in lines] == list(OPTIONS) == list(DEFAULTS)
    wild = next(line for line in lines if line.option == "wild")
    assert (wild.value, wild.default, wild.clause) == ("deuces", "none", "R3")
    assert "'jokers'" in wild.allowed
    assert wild.doc


def test_a_rule_set_cannot_be_changed_in_place():
    with pytest.raises(AttributeError):
        PRESETS["points"].hand_size = 7
