"""Leagues: every pair once, only the missing ones again, and one report of all."""

import json

import numpy as np
import pytest
from test_cli import tonk  # noqa: F401 - the fixture that runs one command
from typer.testing import CliRunner

from agents import league
from agents.base import AgentSpecError
from agents.claim import InUseError, sole_use
from agents.cli import app
from agents.evaluate import evaluate
from agents.league import LeagueError, Setting, play_league, read_league
from tonk_env.rules import make_rules

ROCKETS = make_rules("rockets")
SETTING = Setting(ROCKETS, 2, 60, 5)


@pytest.fixture
def played(monkeypatch):
    """The pairs that are played and not read."""
    pairs = []

    def counted(specs, *arguments, **keywords):
        pairs.append(tuple(specs))
        return evaluate(specs, *arguments, **keywords)

    monkeypatch.setattr(league, "evaluate", counted)
    return pairs


def test_a_league_is_the_evaluation_of_all_pairs(tmp_path, played):
    result = play_league(tmp_path / "l", ["greedy", "drop:20", "drop:26"], SETTING)
    whole = evaluate(["greedy", "drop:20", "drop:26"], ROCKETS, 2, deals=60, seed=5, ratings=True)
    assert len(played) == 3
    for pair, values in whole.samples.items():
        assert (result.samples[pair] == values).all()
    assert result.estimates == whole.estimates
    assert result.overall == whole.overall
    assert result.ratings == whole.ratings
    assert (result.outcomes.hands == whole.outcomes.hands).all()
    assert (result.outcomes.calls_at == whole.outcomes.calls_at).all()


def test_who_joins_plays_only_its_own_pairs(tmp_path, played):
    first = play_league(tmp_path / "l", ["greedy", "random"], SETTING)
    second = play_league(tmp_path / "l", ["drop:20"], SETTING)
    assert played == [("greedy", "random"), ("greedy", "drop:20"), ("random", "drop:20")]
    assert second.names == ("greedy", "random", "drop:20")
    assert (second.samples[0, 1] == first.samples[0, 1]).all()
    again = play_league(tmp_path / "l", [], SETTING)
    assert len(played) == 3
    assert again.estimates == second.estimates


@pytest.fixture
def solved(tmp_path):
    """The file of a solved game, which plays `micro` only."""
    assert CliRunner().invoke(app, ["solve", "--rules", "micro", "--iterations", "1", "-o", f"{tmp_path}/m.npz"]).exit_code == 0
    return tmp_path / "m.npz"


def test_who_plays_another_game_does_not_get_into_the_league(tmp_path, played, solved):
    play_league(tmp_path / "l", ["greedy", "random"], SETTING)
    with pytest.raises(AgentSpecError, match="plays by other rules"):
        play_league(tmp_path / "l", [f"cfr:{solved}"], SETTING)
    assert play_league(tmp_path / "l", ["drop:20"], SETTING).names == ("greedy", "random", "drop:20")
    with pytest.raises(AgentSpecError, match="plays by other rules"):
        play_league(tmp_path / "new", ["greedy", f"cfr:{solved}"], SETTING)
    assert not (tmp_path / "new").exists()


def test_an_agent_that_is_gone_is_named_with_what_to_do(tmp_path, solved):
    micro = Setting(make_rules("micro"), 2, 20, 5)
    play_league(tmp_path / "l", ["greedy", f"cfr:{solved}"], micro)
    solved.unlink()
    with pytest.raises(LeagueError, match=r"no file .*m\.npz.* bring it back, or delete it in .*league\.json"):
        play_league(tmp_path / "l", [], micro)


def test_two_do_not_play_one_league_at_a_time(tmp_path):
    play_league(tmp_path / "l", ["greedy", "random"], SETTING)
    with sole_use(tmp_path / "l"), pytest.raises(InUseError, match=r"another process is at work in .*l: wait"):
        play_league(tmp_path / "l", ["drop:20"], SETTING)
    assert play_league(tmp_path / "l", [], SETTING).names == ("greedy", "random")


def test_an_interrupted_league_goes_on(tmp_path, played, monkeypatch):
    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_league(tmp_path / "l", ["greedy", "drop:20", "drop:26"], SETTING, stop)
    assert len(played) == 2
    assert read_league(tmp_path / "l") == (SETTING, ["greedy", "drop:20", "drop:26"])
    play_league(tmp_path / "l", [], SETTING)
    assert len(played) == 3


def test_a_damaged_pair_is_played_again(tmp_path, played):
    first = play_league(tmp_path / "l", ["greedy", "drop:20"], SETTING)
    file = next((tmp_path / "l" / "pairs").iterdir())
    file.write_bytes(file.read_bytes()[:100])
    again = play_league(tmp_path / "l", [], SETTING)
    assert len(played) == 2
    assert again.estimates == first.estimates


def test_tables_of_more_seats_count_both_directions(tmp_path):
    result = play_league(tmp_path / "l", ["greedy", "random"], Setting(ROCKETS, 3, 40, 5))
    assert result.against(0, 1).mean > 0 > result.against(1, 0).mean
    assert result.against(0, 1).mean != -result.against(1, 0).mean


def test_a_file_that_changed_is_another_agent(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, a=np.zeros(1))
    before = league.fingerprint(f"cfr:{path}", SETTING)
    np.savez(path, a=np.ones(1))
    assert league.fingerprint(f"cfr:{path}", SETTING) != before
    assert league.fingerprint("drop:20", SETTING) == league.fingerprint("drop:020", SETTING)


@pytest.mark.parametrize(
    "setting, words",
    [
        (Setting(ROCKETS, 2, 61, 5), "its deals are 60, not 61"),
        (Setting(ROCKETS, 3, 60, 5), "its players are 2, not 3"),
        (Setting(make_rules("deadwood"), 2, 60, 5), "its rules are"),
    ],
)
def test_another_league_is_not_mixed_in(tmp_path, setting, words):
    play_league(tmp_path / "l", ["greedy", "drop:20"], SETTING)
    with pytest.raises(LeagueError, match=words):
        play_league(tmp_path / "l", ["greedy", "drop:20"], setting)


def test_the_command_keeps_and_reports(tonk, tmp_path):  # noqa: F811
    pytest.importorskip("matplotlib")
    arguments = ("league", "greedy", "random", "--folder", "l", "--rules", "rockets", "--deals", "40")
    assert tonk(*arguments)[0] == 0
    status, out, _ = tonk("league", "drop:20", "--folder", "l")
    assert status == 0
    assert "Ladder" in out
    assert "3 pairs" in out
    data = json.loads((tmp_path / "l" / "report" / "evaluation.json").read_text())
    assert [agent["name"] for agent in data["agents"]] == ["greedy", "random", "drop:20"]
    assert (tmp_path / "l" / "report" / "ladder.png").is_file()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("greedy",), "at least two agents"),
        (("greedy", "greddy"), "greedy"),
        (("greedy", "random", "--folder", "other"), "holds other things"),
        (("greedy", "random", "--folder", "file"), "is a file"),
    ],
)
def test_mistakes_are_one_sentence(tonk, tmp_path, arguments, words):  # noqa: F811
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thing").write_text("")
    (tmp_path / "file").write_text("")
    status, _, err = tonk("league", *arguments)
    assert status == 2
    assert words in err


def test_a_damaged_state_is_said(tmp_path):
    (tmp_path / "league.json").write_text("{}")
    with pytest.raises(LeagueError, match="is damaged"):
        read_league(tmp_path)
