"""Evaluation to a wished precision, sign tests, control variates, drop statistics and the report folder."""

import csv
import json
import math

import numpy as np
import pytest
from test_cli import tonk  # noqa: F401 - the fixture that runs one command
from test_evaluate import Outside

from agents.control import LEAST_GAIN, adjust
from agents.evaluate import EvaluationError, evaluate
from agents.outcomes import Outcomes
from agents.statistics import deals_needed, estimate, estimate_two_stage, sign_test
from tonk_env.rules import make_rules
from tonk_env.state import Ending

ROCKETS = make_rules("rockets")
RUNS = 3000


def skewed(generator, size):
    """Payoffs like those of cards: mostly small, now and then large. Their mean is 0.3."""
    return generator.choice([-1.0, 0.0, 0.5, 4.0], p=[0.25, 0.35, 0.3, 0.1], size=size)


# -- a wished precision --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [100, 300])
def test_two_stage_intervals_cover_95_percent_where_the_answer_is_known(first):
    """The number of deals depends on the data, and still 95 % of the intervals hold the mean and are as narrow as wished."""
    generator = np.random.default_rng(first)
    covered = 0
    for _ in range(RUNS):
        values = skewed(generator, first)
        wanted = deals_needed(values, 0.1)
        values = np.concatenate([values, skewed(generator, wanted - first)])
        entry = estimate_two_stage(values, first)
        assert entry.half_width <= 0.1 + 1e-9
        covered += entry.low <= 0.3 <= entry.high
    assert covered / RUNS == pytest.approx(0.95, abs=0.014)


def test_stopping_at_the_first_verdict_would_not_cover():
    """The simulation can tell: adding deals until an interval leaves zero finds differences where there are none."""
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        values = skewed(generator, 100) - 0.3
        while estimate(values).low <= 0 <= estimate(values).high and values.size < 5000:
            values = np.concatenate([values, skewed(generator, 100) - 0.3])
        covered += estimate(values).low <= 0 <= estimate(values).high
    assert covered / 400 < 0.8


def test_a_first_stage_that_is_wide_enough_is_all():
    values = np.linspace(-1, 1, 101)
    assert deals_needed(values, 10.0) == 101
    assert estimate_two_stage(values, 101) == estimate(values)
    assert deals_needed(values, 0.01) == math.ceil((estimate(values).half_width * math.sqrt(101) / 0.01) ** 2)


def test_evaluation_goes_on_until_it_is_as_precise_as_wished():
    result = evaluate(["greedy", "drop:24", "random"], ROCKETS, 2, deals=150, seed=3, precision=0.12)
    assert result.first_stage == 150 < result.deals
    widths = [entry.half_width for entry in result.estimates.values()]
    assert max(widths) <= 0.12 + 1e-9
    assert max(widths) > 0.11, "no more deals than are needed"
    data = result.to_dict()
    assert (data["precision"], data["first_stage"], data["deals"]) == (0.12, 150, result.deals)
    assert "Stein" in data["interval"]
    whole = evaluate(["greedy", "drop:24", "random"], ROCKETS, 2, deals=result.deals, seed=3)
    assert (result.samples[0, 1] == whole.samples[0, 1]).all(), "further deals are the next ones of the seed"
    assert result.against(0, 1).mean == whole.against(0, 1).mean


def test_a_limit_on_deals_is_kept_and_said():
    result = evaluate(["greedy", "random"], ROCKETS, 2, deals=100, precision=0.01, max_deals=160)
    assert result.deals == 160
    assert result.against(0, 1).half_width > 0.01
    assert "missed: the widest is" in " ".join(result.text().split())


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"precision": 0}, "half-width above 0"),
        ({"precision": 0.1, "deals": 20}, "too few for a first stage"),
        ({"precision": 0.1, "max_deals": 50}, "max_deals is 50"),
        ({"precision": 0.1, "max_deals": 10**23}, "are kept track of"),
        ({"precision": 0.1, "control": True}, "either precision or control"),
    ],
)
def test_precisions_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(EvaluationError, match=words):
        evaluate(["greedy", "random"], ROCKETS, 2, **({"deals": 100} | arguments))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["random", "drop:24"])
def test_an_agent_against_itself_gets_its_fair_share(spec):
    result = evaluate([spec, spec], make_rules("points", match="hands"), 2, deals=200_000, seed=12)
    entry = result.against(0, 1)
    assert entry.low <= 0 <= entry.high
    assert result.outcomes.win_share(0) == pytest.approx(result.outcomes.win_share(1), abs=0.004)


# -- the sign test -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead, behind, p", [(8, 2, 0.109375), (10, 0, 2 / 1024), (5, 5, 1), (0, 0, 1), (60, 40, 0.0568879)])
def test_sign_tests_are_those_of_the_binomial(ahead, behind, p):
    signs = sign_test([0.5] * ahead + [-2.0] * behind + [0.0] * 7)
    assert (signs.ahead, signs.behind, signs.level) == (ahead, behind, 7)
    assert signs.p == pytest.approx(p, rel=1e-5)


def test_sign_tests_of_many_deals_do_not_overflow():
    assert sign_test(np.r_[np.ones(60_000), -np.ones(50_000)]).p < 1e-100
    assert "p < 0.0001" in str(sign_test(np.ones(500)))


def test_sign_test_and_payoff_may_differ():
    values = np.r_[np.full(80, 0.1), np.full(20, -2.0)]
    assert estimate(values).verdict == "worse"
    assert sign_test(values).ahead == 80


# -- control variates ----------------------------------------------------------------------------------------------------


def test_control_variates_reduce_the_variance_and_keep_the_coverage():
    generator = np.random.default_rng(5)
    covered, reductions = 0, []
    for _ in range(1500):
        here, there = generator.normal(1, 1, (300, 2)), generator.normal(1, 1, (3000, 2))
        values = 0.3 + (here - 1) @ [1.0, -0.5] + generator.normal(0, 1, 300)
        control = adjust(values, here, there)
        entry = control.widened(estimate(control.values))
        covered += entry.low <= 0.3 <= entry.high
        reductions.append(control.reduction)
    assert covered / 1500 == pytest.approx(0.95, abs=0.018)
    assert np.mean(reductions) == pytest.approx(1 - (1 + 1.25 / 10) / 2.25, abs=0.03)


def test_variates_that_say_nothing_are_left_out():
    generator = np.random.default_rng(6)
    values = generator.normal(0.3, 1, 1000)
    control = adjust(values, generator.normal(0, 1, (1000, 3)), generator.normal(0, 1, (10_000, 3)))
    assert not control.used
    assert (control.values == values).all()
    assert control.widened(estimate(values)) == estimate(values)


def test_control_in_an_evaluation():
    plain = evaluate([Outside("drop:23", ROCKETS, 2), "greedy"], ROCKETS, 2, deals=600, seed=2)
    result = evaluate([Outside("drop:23", ROCKETS, 2), "greedy"], ROCKETS, 2, deals=600, seed=2, control=True)
    control = result.controls[0, 1]
    assert control.used
    assert control.reduction > LEAST_GAIN
    assert result.against(0, 1).error == pytest.approx(plain.against(0, 1).error * math.sqrt(1 - control.reduction), rel=0.01)
    assert abs(result.against(0, 1).mean - plain.against(0, 1).mean) < 3 * plain.against(0, 1).error
    assert result.against(0, 1).mean == pytest.approx(-result.against(1, 0).mean, abs=1e-6)
    assert "off the variance" in " ".join(result.text().split())
    assert result.to_dict()["payoffs"][0]["control"]["used"] is True


def test_with_control_the_mean_over_opponents_is_that_of_the_payoffs():
    agents = [Outside("drop:23", ROCKETS, 2), "greedy", "drop:15"]
    two = evaluate(agents[:2], ROCKETS, 2, deals=600, seed=2, control=True)
    assert two.controls[0, 1].used
    assert two.overall[0] == two.against(0, 1), "one opponent: the mean over it is the payoff"
    three = evaluate(agents, ROCKETS, 2, deals=600, seed=2, control=True)
    payoffs = [three.against(0, other) for other in (1, 2)]
    assert three.overall[0].mean == pytest.approx(np.mean([entry.mean for entry in payoffs]))
    assert three.overall[0].error <= np.mean([entry.error for entry in payoffs])


def test_what_control_took_off_is_said_once_where_it_is_one_share():
    result = evaluate([Outside("drop:23", ROCKETS, 2), "greedy"], ROCKETS, 2, deals=600, seed=2, control=True)
    share = f"{100 * result.controls[0, 1].reduction:.0f} %"
    assert f"control variates take {share} off the variance" in " ".join(result.text().split())


# -- drops, and the report -----------------------------------------------------------------------------------------------


def test_drops_are_counted_by_count():
    outcomes = Outcomes(1)
    endings = np.array([Ending.DROP, Ending.CAUGHT, Ending.CAUGHT, Ending.STOCK], dtype=np.int64)
    called, counts = np.array([True, True, False, False]), np.array([12.0, 12.0, 9.0, 30.0])
    outcomes.add(np.zeros(4, np.int64), endings, called, np.array([True, False, True, False]), counts)
    assert outcomes.calls_by_count(0) == [{"count": 12, "made": 2, "caught": 1}]
    assert outcomes.to_dict(0)["calls"]["by_count"] == outcomes.calls_by_count(0)


def test_drop_counts_agree_with_the_totals():
    result = evaluate(["drop:20", "greedy"], ROCKETS, 2, deals=200)
    for player in range(2):
        calls, rows = result.outcomes.calls(player), result.outcomes.calls_by_count(player)
        assert sum(row["made"] for row in rows) == calls["made"]
        assert sum(row["caught"] for row in rows) / calls["made"] == pytest.approx(calls["share_caught"])
        assert sum(row["count"] * row["made"] for row in rows) / calls["made"] == pytest.approx(calls["mean_count"])
    assert max(row["count"] for row in result.outcomes.calls_by_count(0)) <= 20


def test_the_report_folder_holds_the_same_numbers_everywhere(tonk, tmp_path):  # noqa: F811
    pytest.importorskip("matplotlib")
    status, out, _ = tonk(
        "evaluate", "greedy", "random", "drop:20", "--rules", "rockets", "--deals", "100", "--precision", "0.3", "--report", "r"
    )
    assert status == 0
    assert "Ladder" in out
    folder = tmp_path / "r"
    data = json.loads((folder / "evaluation.json").read_text())
    names = ("payoffs", "agents", "endings", "drops", "deals")
    rows = {name: list(csv.DictReader((folder / f"{name}.csv").read_text().splitlines())) for name in names}
    assert [float(row["mean"]) for row in rows["payoffs"]] == [entry["mean"] for entry in data["payoffs"]]
    assert [int(row["ahead"]) for row in rows["payoffs"]] == [entry["sign_test"]["ahead"] for entry in data["payoffs"]]
    assert [row["agent"] for row in rows["agents"]] == ["greedy", "random", "drop:20"]
    made = sum(int(row["made"]) for row in rows["drops"] if row["agent"] == "greedy")
    assert made == data["agents"][0]["calls"]["made"]
    assert len(rows["deals"]) == data["deals"]
    column = np.array([float(row["greedy against random"]) for row in rows["deals"]])
    assert column.mean() == pytest.approx(data["payoffs"][0]["mean"], abs=1e-6)
    for picture in ("evaluation", "drops", "ladder"):
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_cannot_go_where_a_file_is(tonk, tmp_path):  # noqa: F811
    (tmp_path / "r").write_text("")
    status, _, err = tonk("evaluate", "greedy", "random", "--report", "r")
    assert status == 2
    assert "it is a file" in err
