"""Checks the champions that come along: that each is there, small, told of, and trained by the recipe beside it."""

from pathlib import Path

import pytest

import tonk_env
from agents import champion
from agents.card import make_card
from agents.champion import MAX_BYTES, champions
from agents.config import load_config
from agents.evaluate import evaluate
from agents.export import export_policy
from agents.hand_by_hand import OF_THE_MATCH, plays_hands_of
from agents.network import new_network
from tonk_env.rules import OPTIONS, PRESETS

SHIPPED = [
    *(f"{name}-2" for name in ("points", "deadwood", "speno", "tonkroom", "rockets", "tunk")),
    *("points-3", "points-4", "rockets-4"),
]
FILES = champions()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_champion_has_its_recipe(root: Path, name: str) -> None:
    preset, _, players = name.partition("-")
    config = load_config(root / "configs" / "champions" / f"{name}.yaml")
    rules = config.game.rule_set()
    assert (rules.preset, config.game.num_players) == (preset, int(players))
    assert plays_hands_of(rules, PRESETS[preset], int(players))
    assert rules.replace(match="hands") == PRESETS[preset].replace(match="hands")
    assert {spec for spec in config.opponents.baselines if spec != "greedy"} <= set(config.evaluation.opponents)
    drops = {int(spec[5:]) for spec in config.evaluation.opponents if spec.startswith("drop:")}
    assert drops <= set(config.evaluation.drop_range)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_recipe_s_network_fits_into_a_file(root: Path, tmp_path: Path, name: str) -> None:
    config = load_config(root / "configs" / "champions" / f"{name}.yaml")
    rules, players = config.game.rule_set(), config.game.num_players
    network = new_network(config.network, rules, players)
    path = export_policy(network, tmp_path / "x.onnx", make_card(rules, players, {}))
    assert path.stat().st_size < MAX_BYTES - 60_000  # the log and the configuration come on top


def test_every_recipe_is_that_of_a_champion(root: Path) -> None:
    assert {path.stem for path in (root / "configs" / "champions").glob("*.yaml")} == {*SHIPPED, "champion"}
    assert "configs/champions/$(CHAMPION).yaml" in (root / "Makefile").read_text()


def test_every_champion_is_there_and_nobody_else() -> None:
    assert {one.name for one in FILES} == set(SHIPPED)
    assert set(OF_THE_MATCH) <= set(OPTIONS)


@pytest.mark.parametrize("one", FILES, ids=lambda one: one.name)
def test_a_shipped_file_is_small_and_its_card_tells_all(one: champion.Champion) -> None:
    assert one.size <= MAX_BYTES
    assert one.name == f"{one.rules.preset}-{one.num_players}"
    assert plays_hands_of(one.rules, PRESETS[one.rules.preset], one.num_players)
    source, strength = one.card["provenance"], one.card["strength"]
    assert source["commit"]
    assert source["play"] in ("sample", "greedy")
    assert source["decisions"] <= source["log"][-1]["decisions"]
    assert source["config"]["game"]["num_players"] == one.num_players
    assert source["config"]["seed"] == source["seed"]
    assert {"random", "greedy"} <= set(strength["payoffs"])
    assert any(spec.startswith("drop:") for spec in strength["payoffs"])
    assert strength["deals"] >= 1000


@pytest.mark.parametrize("one", FILES, ids=lambda one: one.name)
def test_a_shipped_champion_was_trained_by_the_recipe_beside_it(root: Path, one: champion.Champion) -> None:
    """Every key, so that the command of the page gives the same one again; ``plays_learning_rate`` came after some of them."""
    config = load_config(root / "configs" / "champions" / f"{one.name}.yaml").model_dump()
    theirs = one.card["provenance"]["config"]
    theirs["teacher"].setdefault("plays_learning_rate", None)
    assert theirs == config


@pytest.mark.parametrize("one", FILES, ids=lambda one: one.name)
def test_a_shipped_champion_plays_its_game_and_the_preset_legally_and_beats_random(one: champion.Champion) -> None:
    assert tonk_env.make_rules(one.rules) == one.rules
    result = evaluate(["champion", "random"], one.rules, one.num_players, deals=200, seed=1)
    assert result.against(0, 1).low > 0
    evaluate(["champion", "champion@greedy"], PRESETS[one.rules.preset], one.num_players, deals=5, seed=1)
