"""Evaluation: paired decks, fair seats, honest intervals, and evidence that can be repeated."""

import json
from dataclasses import replace

import numpy as np
import pytest

from agents.base import AgentSpecError
from agents.evaluate import EvaluationError, evaluate, unit_of
from agents.outcomes import ENDINGS, Outcomes
from agents.playing import play_deals
from agents.plots import PlotError
from agents.ratings import rate
from agents.seatings import cluster_means, line_ups
from agents.specs import make_agent
from agents.statistics import Estimate, estimate, student_quantile
from agents.wording import short_names
from tonk_env.rules import RuleSetError, make_rules
from tonk_env.table import IllegalMoveError

ROCKETS = make_rules("rockets")


class First:
    """An agent outside the compiled loop: the legal action with the least number (or the greatest)."""

    compiled = None

    def __init__(self, name="first", last=False, fixed=None):
        self.name, self.last, self.fixed, self.seen, self.forgot = name, last, fixed, [], []

    def act(self, observations, masks, rows=None):
        self.seen.append(rows.copy())
        if self.fixed is not None:
            return np.full(len(masks), self.fixed)
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1) if self.last else masks.argmax(axis=1)

    def reset(self, rows=None):
        self.forgot.append(rows.copy())

    def seed(self, seed):
        self.seeded = seed


class Outside:
    """A compiled agent that is asked from outside the loop."""

    compiled = None

    def __init__(self, spec, rules, players):
        self.inner = make_agent(spec, rules, players)
        self.name, self.act, self.reset, self.seed = spec, self.inner.act, self.inner.reset, self.inner.seed


# -- statistics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "degrees, quantile",
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (9, 2.26216), (29, 2.04523), (100, 1.98397), (10**6, 1.95997)],
)
def test_student_quantiles_are_those_of_the_tables(degrees, quantile):
    assert student_quantile(0.975, degrees) == pytest.approx(quantile, abs=1e-4)
    assert student_quantile(0.025, degrees) == pytest.approx(-quantile, abs=1e-4)


def test_estimate_of_a_known_sample():
    entry = estimate([1.0, 2.0, 3.0, 4.0])
    assert (entry.mean, entry.clusters) == (2.5, 4)
    assert entry.error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert entry.half_width == pytest.approx(3.18245 * entry.error, abs=1e-4)


@pytest.mark.parametrize("seats", [2, 3])
def test_compiled_random_players_share_their_numbers_in_all_seatings_of_a_deal(seats):
    result = evaluate(["random", "random"], make_rules("points", match="hands"), seats, deals=40)
    assert result.against(0, 1).verdict == "even"
    in_matches = evaluate(["random", "random"], make_rules("points", elimination=20), seats, deals=40)
    assert in_matches.samples[0, 1].any()


def test_one_deal_says_nothing_about_its_own_spread():
    entry = estimate([0.7])
    assert (entry.low, entry.high, entry.verdict) == (-np.inf, np.inf, "inconclusive")
    assert entry.to_dict()["low"] is None


def test_verdicts():
    few = Estimate(1.0, 0.9, 1.1, 0.05, 5)
    assert few.verdict == "inconclusive"  # five deals prove nothing, however much they agree
    assert Estimate(1.0, 0.9, 1.1, 0.05, 500).verdict == "better"
    assert Estimate(-1.0, -1.1, -0.9, 0.05, 500).verdict == "worse"
    assert Estimate(0.1, -0.1, 0.3, 0.1, 500).verdict == "inconclusive"
    assert estimate(np.zeros(50)).verdict == "even"


@pytest.mark.parametrize("deals", [25, 400])
def test_intervals_cover_95_percent_where_the_answer_is_known(deals):
    """Deals with luck of their own, hands on a deal that share it: the mean is 0.3, and 95 % of the intervals hold it."""
    random = np.random.default_rng(3)
    luck = random.normal(0, 1, (4000, deals, 1))
    hands = np.sign(0.3 + luck + random.normal(0, 1, (4000, deals, 2)))
    truth = np.sign(0.3 + random.normal(0, np.sqrt(2), 4_000_000)).mean()
    covered = 0
    for sample in hands.mean(axis=2):
        entry = estimate(sample)
        covered += entry.low <= truth <= entry.high
    assert covered / 4000 == pytest.approx(0.95, abs=0.012)


def test_hands_of_a_deal_are_one_cluster_and_not_two():
    """Two hands of one deal that always agree are one observation: counting them as two would halve the variance."""
    luck = np.random.default_rng(0).normal(size=400)
    returns = np.stack([luck, luck], axis=1)[:, :, None]
    clusters = cluster_means(returns, np.zeros((2, 1), dtype=np.int64), 0)
    assert estimate(clusters).error == pytest.approx(luck.std(ddof=1) / 20)


# -- line-ups --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("together", [False, True])
def test_every_player_sits_everywhere_equally_often(seats, together):
    plan = line_ups(seats if together else 3, seats, together=together)
    for line_up in plan:
        for player in np.unique(line_up.seatings):
            per_seat = (line_up.seatings == player).sum(axis=0)
            assert len(set(per_seat.tolist())) == 1, (player, line_up.seatings)


def test_the_plan_names_who_meets_whom():
    assert [line_up.entries for line_up in line_ups(2, 2)] == [((0, 1), (1, 0))]
    assert {entry for line_up in line_ups(3, 4) for entry in line_up.entries} == {
        (a, b) for a in range(3) for b in range(3) if a != b
    }
    assert [line_up.entries for line_up in line_ups(3, 3, pairs=[(0, 1), (0, 2)])] == [((0, 1),), ((0, 2),)]
    assert line_ups(4, 4, together=True)[0].seatings.shape == (24, 4)
    assert line_ups(6, 6, together=True)[0].seatings.shape == (6, 6)


# -- evaluation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset, players", [("rockets", 2), ("rockets", 3), ("deadwood", 4), ("tonkroom", 2)])
def test_a_deterministic_agent_against_itself_is_exactly_even(preset, players):
    result = evaluate(["greedy", "greedy"], preset, players, deals=60)
    for entry in result.estimates.values():
        assert (entry.mean, entry.error, entry.verdict) == (0, 0, "even")


def test_agents_outside_the_loop_are_exactly_even_against_themselves_too():
    result = evaluate([First(), First(), "greedy"], ROCKETS, 3, deals=20, pairs=[(0, 1), (0, 2)])
    assert result.against(0, 1).mean == 0
    assert result.against(0, 2).mean != 0


def test_random_against_itself_gets_its_fair_share():
    """Two copies draw differently, so single deals are not even; the mean is, within its interval (seed 5)."""
    agents = [Outside("random", ROCKETS, 2), Outside("random", ROCKETS, 2)]
    result = evaluate(agents, ROCKETS, 2, deals=400, seed=5)
    entry = result.against(0, 1)
    assert entry.error > 0
    assert entry.verdict == "inconclusive"
    assert result.outcomes.win_share(0) == pytest.approx(result.outcomes.win_share(1), abs=0.06)


def test_head_to_head_mirrors():
    result = evaluate(["random", "greedy", "drop:20"], ROCKETS, 2, deals=50)
    assert np.allclose(result.matrix, -result.matrix.T, equal_nan=True)
    assert np.isnan(result.matrix.diagonal()).all()
    assert (result.intervals[0, 1] == [result.against(0, 1).low, result.against(0, 1).high]).all()
    assert result.against(1, 0).mean > 0.5, "greedy must beat random clearly"


def test_equal_arguments_give_equal_results():
    def run(seed):
        result = evaluate(["random", "greedy", First()], ROCKETS, 3, deals=30, seed=seed)
        data = result.to_dict()
        del data["timing"]
        return data

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_chunks_do_not_change_a_deal():
    small = evaluate(["drop:20", "greedy"], ROCKETS, 2, deals=50, batch_tables=6)
    large = evaluate(["drop:20", "greedy"], ROCKETS, 2, deals=50)
    assert (small.samples[0, 1] == large.samples[0, 1]).all()
    first = evaluate(["drop:20", "greedy"], ROCKETS, 2, deals=10)
    assert (first.samples[0, 1] == large.samples[0, 1][:10]).all()


def test_all_seatings_of_a_deal_and_all_line_ups_see_the_same_cards():
    seatings = line_ups(2, 2)[0].seatings
    agents = [make_agent("drop:100", ROCKETS, 2), make_agent("drop:100", ROCKETS, 2)]
    returns = play_deals(agents, seatings, ROCKETS, range(40), 0, Outcomes(2))
    assert (returns[:, 0] == returns[:, 1]).all()  # both drop at once: the cards alone decide, and they are the same
    assert len(np.unique(returns[:, 0], axis=0)) > 1
    assert (play_deals(agents, seatings, ROCKETS, range(20, 40), 0, Outcomes(2)) == returns[20:]).all()


def test_compiled_agents_play_the_same_inside_the_loop_and_outside():
    outside = Outside("greedy", ROCKETS, 2)
    within = evaluate(["greedy", "drop:25"], ROCKETS, 2, deals=60)
    without = evaluate([outside, "drop:25"], ROCKETS, 2, deals=60)
    assert (within.samples[0, 1] == without.samples[0, 1]).all()
    assert (within.outcomes.hands == without.outcomes.hands).all()


def test_hands_are_counted_by_start_and_not_by_finish():
    """Every deal is in the result exactly once for each seating, the longest hands too."""
    result = evaluate([First(), First("last", last=True)], ROCKETS, 2, deals=30, batch_tables=7)
    assert len(result.samples[0, 1]) == 30
    assert result.outcomes.played(0) == result.outcomes.played(1) == 60 == result.episodes


def test_memory_of_a_player_is_one_for_each_seat():
    agent = First()
    evaluate(["greedy", agent], ROCKETS, 3, deals=4, pairs=[(0, 1)])
    begun = set(agent.forgot[0].tolist())
    assert len(begun) == 4 * 3 * 2  # deals, seatings, seats of the field
    assert set(np.concatenate(agent.seen).tolist()) <= begun


@pytest.mark.parametrize("fixed, words", [(1050, "chose action 1050"), (-1, "chose action -1"), (482, "chose action 482")])
def test_an_illegal_choice_names_the_agent(fixed, words):
    with pytest.raises(IllegalMoveError, match=f"agent 'cheat' {words}"):
        evaluate([First("cheat", fixed=fixed), "greedy"], ROCKETS, 2, deals=2)


def test_together_seats_everyone_at_one_table():
    result = evaluate(["random", "greedy", "drop:20"], "deadwood", 3, deals=40, together=True)
    means = [result.against(player, -1).mean for player in range(3)]
    assert sum(means) == pytest.approx(0, abs=1e-6)
    assert result.episodes == 40 * 6
    assert result.overall[0] == result.against(0, -1)
    assert "at the table" in result.text()


def test_matches_count_by_place():
    result = evaluate(["random", "greedy"], make_rules("points", elimination=50), 2, deals=25)
    assert result.unit.episode == "match"
    assert result.unit.raw_factor is None
    assert np.isin(result.samples[0, 1], [-1, -0.5, 0, 0.5, 1]).all()
    hands = result.outcomes.played(0)
    assert hands + result.outcomes.uncounted > 50, "a match to 50 takes several hands"
    assert "first +1, last -1" in result.text()


@pytest.mark.parametrize(
    "preset, options, reward, factor",
    [
        ("points", {"match": "hands"}, "reward units a hand", 20),
        ("points", {"match": "hands", "hands": 3}, "places a match (first +1, last -1)", None),
        ("points", {"match": "hands", "hands": 3, "match_reward": "hands"}, "reward units a match", 20),
        ("deadwood", {}, "reward units a hand", 1),
        ("difference", {}, "reward units a hand", 10),
    ],
)
def test_the_unit_is_said(preset, options, reward, factor):
    unit = unit_of(make_rules(preset, **options))
    assert (unit.reward, unit.raw_factor) == (reward, factor)


def test_endings_and_calls_are_counted_for_the_right_player():
    result = evaluate(["drop:100", "greedy"], ROCKETS, 2, deals=60)
    calls = result.outcomes.calls(0)
    assert calls["made"] > 50  # drops whenever it is first on turn, and mostly when second
    caught = result.endings["drop:100"]["caught"]
    assert caught["called_not_won"] == caught["not_won"]
    assert result.endings["greedy"]["caught"]["won"] >= caught["called_not_won"]
    assert calls["share_caught"] == pytest.approx(caught["called_not_won"] / calls["made"])
    won = sum(result.outcomes.hands[:, :, :, 1].sum(axis=(1, 2)))
    assert won == 120, "in rockets with two players every hand that is not shared has one winner"


def test_ending_numbers_fit_the_array():
    assert [int(ending) for ending in ENDINGS] == list(range(len(ENDINGS)))


def test_ratings_follow_strength():
    result = evaluate(["random", "greedy"], ROCKETS, 2, deals=300, seed=0, ratings=True)
    assert result.ratings[1].ordinal > result.ratings[0].ordinal
    assert result.ratings[0].games == 300
    assert rate(result.samples, 2, 0) == result.ratings


def test_progress_ends_complete():
    seen = []
    result = evaluate(["greedy", First()], ROCKETS, 2, deals=30, batch_tables=16, progress=lambda *at: seen.append(at))
    assert seen[-1] == (60, 60)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert result.episodes == 60


def test_evidence_holds_every_input(tmp_path):
    rules = make_rules("points", match="hands")
    result = evaluate(["greedy", "random"], rules, 2, deals=25, seed=9, ratings=True)
    text = result.to_json(tmp_path / "e.json")
    data = json.loads((tmp_path / "e.json").read_text())
    assert json.loads(text) == data
    assert data["rules"] == rules.to_dict()
    assert (data["players"], data["deals"], data["seed"], data["mode"]) == (2, 25, 9, "pairs")
    assert data["seatings"] == [[[0, 1], [1, 0]]]
    assert [agent["spec"] for agent in data["agents"]] == ["greedy", "random"]
    assert data["agents"][0]["actions"] == "compiled"
    assert data["payoffs"][0]["mean"] == pytest.approx(result.against(0, 1).mean)
    assert data["payoffs"][0]["raw"]["mean"] == pytest.approx(20 * result.against(0, 1).mean)
    assert {"python", "numpy", "numba"} <= set(data["versions"])
    again = evaluate(
        [agent["spec"] for agent in data["agents"]], data["rules"], data["players"], data["deals"], data["seed"]
    )
    assert again.against(0, 1).to_dict() == {key: data["payoffs"][0][key] for key in again.against(0, 1).to_dict()}


def test_the_picture_is_drawn_whole(tmp_path):
    result = evaluate(["greedy", "random", "drop:20"], ROCKETS, 2, deals=25)
    for name in ("e.png", "e.svg"):
        result.plot(tmp_path / name)
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    evaluate(["greedy", "random"], ROCKETS, 2, deals=3, together=True).plot(tmp_path / "t.png")
    with pytest.raises(PlotError, match="must end in one of"):
        result.plot(tmp_path / "e.gif")
    assert {file.name for file in tmp_path.iterdir()} == {"e.png", "e.svg", "t.png"}


def test_text_says_what_is_not_known():
    text = evaluate(["drop:20", "drop:21"], ROCKETS, 2, deals=5, seed=0).text()
    assert "inconclusive: drop:20 against drop:21" in text
    assert "5 deals" in text


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"specs": ["greedy"]}, EvaluationError, "at least two agents"),
        ({"specs": "greedy"}, EvaluationError, "at least two agents"),
        ({"deals": 0}, EvaluationError, "deals is 0"),
        ({"seed": -1}, EvaluationError, "seed is -1"),
        ({"deals": 2.5}, EvaluationError, "deals is 2.5"),
        ({"deals": 10**23}, EvaluationError, "deals are too many"),
        ({"batch_tables": 0}, EvaluationError, "batch_tables is 0"),
        ({"num_players": 3, "together": True}, EvaluationError, "cannot sit together"),
        ({"pairs": [(0, 0)]}, EvaluationError, "not two different players"),
        ({"pairs": [(0, 2)]}, EvaluationError, "not two different players"),
        ({"num_players": 9}, RuleSetError, "2 to 6"),
        ({"rules": "rokets"}, RuleSetError, "rockets"),
        ({"specs": ["greedy", "greddy"]}, AgentSpecError, "greedy"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        evaluate(**({"specs": ["greedy", "random"], "rules": ROCKETS, "num_players": 2, "deals": 1} | arguments))


def test_long_names_stay_apart_in_eighty_columns():
    names = [f"runs/points__selfplay__{seed}__20260101-1200{seed:02d}" for seed in range(5)]
    assert short_names(["runs/a/opponent.onnx", "runs/b", "greedy"]) == ["a", "b", "greedy"]
    assert short_names(["one/run", "two/run", "two/run"]) == ["one/run", "two/run", "two/run"]
    assert short_names(["one/run/opponent.onnx@greedy", "one/run"]) == ["run@greedy", "run"]
    result = replace(evaluate(["greedy", "random", "drop:20", "drop:25", "drop:30"], "mini", 2, deals=3), names=tuple(names))
    text = result.text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    for letter, name in zip("ABCDE", names, strict=True):
        assert f"{letter} = {name}" in text
    assert {"A", "B", "C", "D", "E"} <= {line.split()[0] for line in text.splitlines() if line.split()}


@pytest.mark.parametrize("width", [40, 60])
def test_in_a_narrow_window_every_figure_is_whole(width):
    result = evaluate(["greedy", "random", "drop:20"], "mini", 2, deals=30, ratings=True)
    text = result.text(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


def test_a_label_that_is_the_name_is_not_explained():
    result = replace(evaluate(["greedy", "random"], "mini", 2, deals=3), names=("runs/a/opponent.onnx", "greedy"))
    lines = result.text(80).splitlines()
    assert "a = runs/a/opponent.onnx" in lines
    assert "greedy = greedy" not in lines


def test_catching_and_being_caught_have_colours_of_their_own():
    pytest.importorskip("matplotlib")
    from agents.plots import way_colours

    colours = way_colours()
    assert len(set(colours.values())) == len(colours)
    assert {"catching", "own drop caught", "other's drop caught"} <= set(colours)
