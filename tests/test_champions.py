"""Checks champions: which one plays a game, how it plays matches, and what is said where there is none."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from test_cli import tonk  # noqa: F401 - the fixture that runs one command

from agents import champion, league
from agents.base import AgentSpecError
from agents.card import make_card
from agents.champion import make_champion
from agents.config import NetworkConfig, load_config
from agents.evaluate import evaluate
from agents.export import export_policy
from agents.hand_by_hand import HandByHand, hand_columns, plays_hands_of
from agents.network import new_network
from agents.onnx_agent import OnnxAgent
from agents.specs import make_agent
from tonk_env.batch import Batch
from tonk_env.observation import ObservationLayout
from tonk_env.rules import OPTIONS, RuleSet, RuleSetError, make_rules

HANDS = make_rules("points", match="hands")
MATCH = make_rules("points", elimination=60)
Ship = Callable[..., Path]


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ship:
    """Puts small untrained champions where shipped ones are looked for; there are no others then."""
    folder = tmp_path / "champions"
    folder.mkdir()
    monkeypatch.setattr(champion, "FOLDER", folder)

    def put(rules: RuleSet, players: int, name: str = "", strength: dict[str, Any] | None = None, **source: Any) -> Path:
        torch.manual_seed(players)
        network = new_network(NetworkConfig(torso=[16]), rules, players)
        path = folder / f"{name or rules.preset}-{players}.onnx"
        return export_policy(network, path, make_card(rules, players, source, strength))

    return put


def positions(rules: RuleSet, seats: int, steps: int = 60) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Observations and masks that random play comes by."""
    batch = Batch(rules, seats, num_tables=32, seed=3)
    batch.reset()
    seen = []
    for _ in range(steps):
        seen.append((batch.observations.copy(), batch.action_masks.copy()))
        batch.step(batch.choose_random())
    observations, masks = zip(*seen, strict=True)
    return np.concatenate(observations), np.concatenate(masks)


# -- which one ------------------------------------------------------------------------------------------------------


def test_rules_and_players_decide_who_plays(ship: Ship) -> None:
    for rules, players in ((HANDS, 2), (HANDS, 3), (make_rules("rockets"), 2)):
        ship(rules, players)
    for rules, players in ((HANDS, 2), (HANDS, 3), (make_rules("rockets"), 2)):
        agent = make_agent("champion", rules, players)
        assert isinstance(agent, OnnxAgent)
        assert (agent.rules, agent.num_players, agent.name) == (rules, players, "champion")


def test_option_values_count_and_not_the_name_of_the_preset(ship: Ship) -> None:
    deadwood = make_rules("deadwood")
    ship(deadwood, 2)
    ship(HANDS, 2)
    same = make_rules("points", **{name: value for name, value in deadwood.options().items() if value != OPTIONS[name].default})
    assert same.preset == "points"
    agent = make_agent("champion", same, 2)
    assert isinstance(agent, OnnxAgent)
    assert agent.rules == deadwood


@pytest.mark.parametrize(
    "play, mode, greedy",
    [("sample", "", False), ("greedy", "", True), ("greedy", "@sample", False), ("sample", "@greedy", True), (None, "", False)],
)
@pytest.mark.parametrize("rules", [HANDS, MATCH], ids=["hand", "match"])
def test_it_plays_as_its_card_says_or_as_it_is_told(
    ship: Ship, play: str | None, mode: str, greedy: bool, rules: RuleSet
) -> None:
    ship(HANDS, 2, **({"play": play} if play else {}))
    agent: Any = make_agent(f"champion{mode}", rules, 2)
    assert agent.greedy is greedy
    assert agent.name == f"champion{mode}"
    assert evaluate([agent, "random"], rules, 2, deals=2).modes[0] == ("likeliest" if greedy else "sampled")


def refusal(rules: RuleSet, players: int) -> str:
    with pytest.raises(AgentSpecError) as caught:
        make_agent("champion", rules, players)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_one_a_sentence_says_what_there_is_and_what_to_do(ship: Ship) -> None:
    ship(HANDS, 2)
    ship(make_rules("rockets"), 4)
    words = refusal(make_rules("points", match="hands", hand_size=6), 2)
    assert "points (hand_size=6, match=hands) with 2 players" in words
    assert "the nearest, points-2, differs: `hand_size` is 5 there and 6 here; next come rockets-4; train one" in words
    assert "it is for 2 players" in refusal(HANDS, 3)
    assert "it is for 4 players" in refusal(make_rules("rockets"), 2)
    ship(make_rules("rockets", hands=3), 2)
    assert "rockets-2, differs: it plays rockets (hands=3)" in refusal(make_rules("rockets"), 2)


def test_the_sentence_stays_short_where_much_differs(ship: Ship) -> None:
    for preset in ("points", "deadwood", "speno", "rockets"):
        ship(make_rules(preset, match="hands"), 2)
    words = refusal(make_rules("tunk"), 2)
    assert words.count(" there and ") == 3
    assert "and 5 options more; next come " in words
    assert "(`tonk champions` lists all 4)" in words
    assert sum(f"{preset}-2" in words for preset in ("points", "deadwood", "speno", "rockets")) == 3
    assert len(words) < 600


def test_with_none_at_all_it_says_so(ship: Ship) -> None:
    assert "none come with this installation" in refusal(MATCH, 3)


@pytest.mark.parametrize(
    "rules, players, recipe",
    [
        (make_rules("tunk"), 2, "tunk-2.yaml"),
        (make_rules("tunk", match="hands", hands=3), 2, "tunk-2.yaml"),
        (make_rules("points", elimination=60), 3, "points-3.yaml"),
        (make_rules("tunk"), 3, "champion.yaml"),
        (make_rules("tunk", hand_size=6), 2, "champion.yaml"),
        (make_rules("points", **{**make_rules("deadwood").options(), "match": "hands"}), 2, "champion.yaml"),
    ],
)
def test_the_recipe_of_just_this_game_is_named(ship: Ship, rules: RuleSet, players: int, recipe: str) -> None:
    assert f"`python train.py configs/champions/{recipe}" in refusal(rules, players)


def test_so_many_players_must_be_able_to_play(ship: Ship) -> None:
    ship(HANDS, 2)
    for players in (1, 5):
        with pytest.raises(RuleSetError, match=f"A table of {players} is refused"):
            make_agent("champion", MATCH, players)


@pytest.mark.parametrize("rules, players", [(MATCH, 3), (make_rules("tunk", hand_size=6), 2), (make_rules("navy"), 5)])
def test_the_command_that_is_named_trains_one(root: Path, ship: Ship, rules: RuleSet, players: int) -> None:
    import shlex

    command = shlex.split(refusal(rules, players).split("`")[1])
    assert command[:2] == ["python", "train.py"]
    config = load_config(root / command[2], command[3:])
    assert config.game.num_players == players
    assert plays_hands_of(config.game.rule_set(), rules, players)


def test_a_damaged_file_is_named(ship: Ship) -> None:
    path = ship(HANDS, 2)
    path.write_bytes(path.read_bytes()[:-200])
    for rules in (HANDS, MATCH):
        with pytest.raises(AgentSpecError, match=r"points-2\.onnx .*; put the file back .*python train.py .*/points-2.yaml`"):
            make_agent("champion", rules, 2)


def test_a_damaged_file_spoils_no_other_game(ship: Ship, tonk: Any) -> None:  # noqa: F811
    ship(HANDS, 2)
    broken = ship(make_rules("deadwood"), 2)
    broken.write_bytes(b"")
    (broken.parent / "gone-2.onnx").symlink_to("nowhere")
    assert make_agent("champion", MATCH, 2).name == "champion"
    words = refusal(make_rules("rockets"), 2)
    assert "the nearest, points-2" in words
    assert "2 files cannot be read, `tonk champions` says which" in words
    status, out, error = tonk("champions")
    assert status == 0
    assert "points-2" in out
    assert f"{broken} is empty; put the file back" in " ".join(error.split())
    assert "cannot read" in error


@pytest.mark.parametrize("name", ["mine.onnx", "points-3.onnx", "points-2x.onnx"])
def test_the_card_decides_and_not_the_file_s_name(ship: Ship, name: str) -> None:
    path = ship(HANDS, 2)
    path.rename(path.with_name(name))
    assert isinstance(make_agent("champion", HANDS, 2), OnnxAgent)
    assert isinstance(make_agent("champion", MATCH, 2), HandByHand)
    with pytest.raises(AgentSpecError, match="there is none for points"):
        make_agent("champion", HANDS, 3)


def test_one_is_found_by_its_own_name(ship: Ship, tonk: Any) -> None:  # noqa: F811
    ship(HANDS, 2)
    status, out, _ = tonk("info", "points-2")
    assert status == 0
    assert "rules.preset" in out
    status, _, error = tonk("info", "champion")
    assert status == 2
    assert "one of: points-2" in error
    status, _, error = tonk("info", "points-9")
    assert "points-9" in error
    assert "`tonk champions`" in error
    status, _, error = tonk("play", "points-2")
    assert status == 2
    assert "its name is 'champion'" in error
    assert "--rules" in error


def test_who_cannot_be_measured_against_is_refused_before_training(root: Path, ship: Ship, tmp_path: Path) -> None:
    from agents.training import train

    ship(HANDS, 3)
    config = load_config(root / "configs" / "smoke.yaml", ["evaluation.opponents=[greedy, champion]"])
    with pytest.raises(AgentSpecError, match="points-3, differs: it is for 3 players"):
        train(config, "smoke", "one", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_it_is_no_partner_in_training(root: Path) -> None:
    with pytest.raises(ValueError, match="only random, greedy, expert and drop:N"):
        load_config(root / "configs" / "smoke.yaml", ["opponents.baselines={champion: 0.1}"])
    load_config(root / "configs" / "smoke.yaml", ["evaluation.opponents=[champion]"])


# -- matches, hand by hand ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["points", "deadwood", "speno", "tonkroom", "rockets", "tunk", "waiting", "wild_jokers"])
def test_options_of_the_match_are_those_that_leave_the_hand_alone(preset: str) -> None:
    hand = make_rules(preset, match="hands")
    changes: list[dict[str, Any]] = [
        {"match": "target", "target": 30}, {"match": "hands", "hands": 5}, {"reward_scale": 3}, {"next_start": "winner"},
        {"match": "hands", "hands": 5, "match_reward": "hands"},
    ]  # fmt: skip
    if hand.settlement == "points":
        changes += [{"match": "elimination"}, {"match": "elimination", "elimination": 40}]
    assert all(plays_hands_of(hand, hand.replace(**change), 2) for change in changes)
    others = [{"max_turns": 50}, {"hand_size": 4}, {"court_values": (11, 12, 13)}, {"max_hits": 1}, {"jokers": 1}]
    for change in others:
        if preset != "tunk" or "max_hits" not in change:
            assert not plays_hands_of(hand, hand.replace(**change), 2), change
    assert not plays_hands_of(hand.replace(hands=2), hand, 2)


@pytest.mark.parametrize(
    "hand, rules, seats",
    [
        (HANDS, MATCH, 2),
        (HANDS, MATCH, 4),
        (make_rules("rockets", max_hits=2), make_rules("rockets", max_hits=2, hands=4), 3),
        (make_rules("tunk", match="hands"), make_rules("tunk"), 3),
        (make_rules("strict"), make_rules("strict", match="target", target=5), 2),
    ],
)
def test_the_policy_sees_its_blocks_and_nothing_else(hand: RuleSet, rules: RuleSet, seats: int) -> None:
    small, whole = ObservationLayout(hand, seats), ObservationLayout(rules, seats)
    columns = hand_columns(small, whole, range(seats))
    assert len(columns) == small.size < whole.size
    assert len(set(columns.tolist())) == small.size
    for row in positions(rules, seats)[0][::37]:
        known = whole.decode(row).as_dict()
        assert small.decode(row[columns]).as_dict() == {block.name: known[block.name] for block in small.blocks}


def test_totals_and_hands_to_come_change_nothing(ship: Ship) -> None:
    ship(HANDS, 2)
    agent: Any = make_agent("champion@greedy", MATCH, 2)
    observations, masks = positions(MATCH, 2)
    chosen = agent.act(observations, masks)
    totals = ObservationLayout(MATCH, 2).block("totals")
    assert totals.of(observations).any()
    totals.of(observations)[...] = 0
    assert (agent.act(observations, masks) == chosen).all()


def test_in_the_first_hand_of_a_match_it_plays_as_in_a_single_hand(ship: Ship) -> None:
    ship(HANDS, 3)
    batches = [Batch(rules, 3, num_tables=64, seed=9) for rules in (HANDS, MATCH)]
    agents: list[Any] = [make_agent("champion", rules, 3, seed=1) for rules in (HANDS, MATCH)]
    assert isinstance(agents[1], HandByHand)
    for batch in batches:
        batch.reset()
    first = [agent.act(batch.observations, batch.action_masks) for agent, batch in zip(agents, batches, strict=True)]
    assert (first[0] == first[1]).all()
    shares = [agent.probabilities(batch.observations, batch.action_masks) for agent, batch in zip(agents, batches, strict=True)]
    np.testing.assert_allclose(shares[0], shares[1])


def out_positions(seats: int, left: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Positions of matches of so many seats in which so many are left."""
    observations, masks = positions(make_rules("points", elimination=30), seats, 300)
    chosen = ObservationLayout(MATCH, seats).block("live").of(observations).sum(axis=1) == left
    assert chosen.sum() > 50
    return observations[chosen], masks[chosen]


def test_where_seats_fell_out_the_smaller_table_s_champion_takes_over(ship: Ship) -> None:
    ship(HANDS, 2)
    ship(HANDS, 4)
    rules = make_rules("points", elimination=30)
    agent: Any = make_agent("champion@greedy", rules, 4)
    alone: Any = make_agent("champion@greedy", HANDS, 2)
    observations, masks = out_positions(4, 2)
    small, whole = ObservationLayout(HANDS, 2), ObservationLayout(rules, 4)
    rows = []
    for row in observations:
        seats = np.flatnonzero(whole.block("live").of(row)).tolist()
        rows.append(row[hand_columns(small, whole, seats)])
        seen, known = small.decode(rows[-1]).as_dict(), whole.decode(row).as_dict()
        for name in ("known", "laid", "sizes"):
            assert seen[name] == [known[name][seat] for seat in seats]
        assert seen["thrown"] == [known["thrown"][seat] for seat in [*seats, 4]]
        assert (seen["hand"], seen["stock"], seen["open"]) == (known["hand"], known["stock"], known["open"])
        assert seats[seen["turn"]] == known["turn"]
    assert (agent.act(observations, masks) == alone.act(np.array(rows), masks)).all()


def test_without_a_smaller_one_the_table_s_own_champion_goes_on(ship: Ship) -> None:
    ship(HANDS, 3)
    agent: Any = make_agent("champion@greedy", make_rules("points", elimination=30), 3)
    alone: Any = make_agent("champion@greedy", HANDS, 3)
    observations, masks = out_positions(3, 2)
    columns = hand_columns(ObservationLayout(HANDS, 3), ObservationLayout(MATCH, 3), range(3))
    assert (agent.act(observations, masks) == alone.act(observations[:, columns], masks)).all()


def test_a_champion_of_the_match_itself_comes_first(ship: Ship) -> None:
    ship(HANDS, 2)
    ship(MATCH, 2, "whole")
    agent = make_agent("champion", MATCH, 2)
    assert isinstance(agent, OnnxAgent)
    assert agent.rules == MATCH


def test_equal_seeds_equal_moves_in_matches(ship: Ship) -> None:
    ship(HANDS, 2)
    observations, masks = positions(MATCH, 2)
    moves = [make_agent("champion", MATCH, 2, seed).act(observations, masks) for seed in (1, 1, 2)]
    assert (moves[0] == moves[1]).all()
    assert (moves[0] != moves[2]).any()


def test_a_player_of_matches_refuses_another_game(ship: Ship) -> None:
    ship(HANDS, 2)
    agent = make_champion(MATCH, 2)
    assert make_agent(agent, MATCH, 2) is agent
    with pytest.raises(AgentSpecError, match=r"`elimination` 60 \(here 100\)"):
        make_agent(agent, make_rules("points"), 2)


# -- everywhere that agents have names ------------------------------------------------------------------------------


@pytest.mark.parametrize("rules, seats", [(HANDS, 2), (MATCH, 3)])
def test_it_sits_in_every_environment(ship: Ship, rules: RuleSet, seats: int) -> None:
    ship(HANDS, seats)
    single = gymnasium.make("tonk_env/Tonk-v0", rules=rules, num_players=seats, opponents="champion")
    _, info = single.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = single.step(int(np.flatnonzero(info["action_mask"])[-1]))
        over = terminated or truncated
    vector: Any = gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=4, rules=rules, num_players=seats, opponents="champion")
    _, info = vector.reset(seed=1)
    for _ in range(20):
        _, _, _, _, info = vector.step(info["action_mask"].argmax(axis=1))
    result = evaluate(["champion", "champion@greedy", "greedy"], rules, seats, deals=20, seed=1)
    assert result.names == ("champion", "champion@greedy", "greedy")


def test_commands_take_it(ship: Ship, tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    ship(HANDS, 2)
    status, out, _ = tonk("evaluate", "champion", "greedy", "--deals", "5", "--set", "match=hands")
    assert status == 0
    assert "champion" in out
    answers = iter(["q"])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert tonk("play", "champion", "--seed", "1")[0] == 0
    status, _, error = tonk("evaluate", "champion", "greedy", "--rules", "rockets")
    assert status == 2
    assert error.startswith("tonk: agent 'champion': there is none for rockets with 2 players: the nearest, points-2")


def test_mini_has_a_champion_that_can_be_exploited_exactly(ship: Ship) -> None:
    from agents.exploit import exact, exact_uniform

    micro = make_rules("micro")
    ship(micro, 2)
    assert 0 < exact("champion", micro).nash_conv < 2 * exact_uniform(micro).nash_conv


def test_a_league_tells_champions_apart_by_what_is_in_the_file(ship: Ship, tmp_path: Path) -> None:
    setting = league.Setting(MATCH, 2, 10, 1)
    ship(HANDS, 2)
    before = league.fingerprint("champion", setting)
    ship(HANDS, 3)
    assert league.fingerprint("champion", setting) == before
    ship(HANDS, 2, seed=5)
    assert league.fingerprint("champion", setting) != before
    result = league.play_league(tmp_path / "league", ["champion", "greedy"], setting)
    assert result.names == ("champion", "greedy")


def test_the_list_tells_game_size_and_strength(
    ship: Ship, tonk: Any, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = tonk("champions")
    assert status == 0
    assert "make champion CHAMPION=points-2" in out
    payoffs = {"drop:20": {"mean": 0.0567, "low": 0.0467, "high": 0.0667}}
    ship(HANDS, 2, strength={"payoffs": payoffs}, decisions=1_234_567, play="greedy")
    ship(make_rules("rockets"), 4)
    status, out, _ = tonk("champions")
    assert status == 0
    for words in ("points-2", "(match=hands)", "1,234,567", "drop:20 +0.057 ± 0.010", "rockets-4"):
        assert words in out, out
    assert "not measured" in out


def test_it_loads_without_torch(ship: Ship, root: Path) -> None:
    folder = ship(HANDS, 2).parent
    code = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'stable_baselines3', 'pydantic', 'yaml'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        f"from agents import champion; champion.FOLDER = Path({str(folder)!r})\n"
        "import gymnasium, tonk_env\n"
        "env = gymnasium.make('tonk_env/Tonk-v0', rules='points', num_players=2, opponents='champion')\n"
        "observation, info = env.reset(seed=1)\n"
        "env.step(int(info['action_mask'].argmax())); print('played')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "played", done.stderr


# -- cards of runs --------------------------------------------------------------------------------------------------


def test_a_strange_log_is_only_counted(ship: Ship, tonk: Any) -> None:  # noqa: F811
    path = ship(HANDS, 2, log=[{"note": "trust me"}, {"note": "really"}])
    status, out, _ = tonk("info", str(path))
    assert status == 0
    assert "2 lines" in out
