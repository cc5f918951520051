"""Checks specs and baselines: what a text names, that agents play legally and repeat themselves, that batches agree."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.base import Agent, AgentSpecError
from agents.sampling import best, draw
from agents.specs import make_agent, parse_spec
from tonk_env.batch import Batch
from tonk_env.rules import make_rules

RULES = make_rules("points", match="hands")


def positions(count: int, rules: str = "points", seats: int = 2) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Observations and masks of many moments of random play."""
    batch = Batch(RULES if rules == "points" else rules, seats, num_tables=64, seed=5)
    batch.reset()
    parts = []
    while len(parts) * 64 < count:
        parts.append((batch.observations.copy(), batch.action_masks.copy()))
        batch.step(batch.choose_random())
    return tuple(np.concatenate(arrays)[:count] for arrays in zip(*parts, strict=True))  # type: ignore[return-value]


@pytest.mark.parametrize("spec", ["random", "greedy", "drop:0", "drop:27", "drop:200"])
def test_baselines_are_made_from_specs(spec: str) -> None:
    agent = make_agent(spec, RULES, 2)
    assert isinstance(agent, Agent)
    assert agent.name == spec
    assert agent.compiled is not None


@pytest.mark.parametrize(
    "spec, words",
    [
        ("gredy", ["did you mean 'greedy'"]),
        ("rnadom", ["did you mean 'random'"]),
        ("dorp:27", ["did you mean 'drop:27'"]),
        ("drop", ["drop:27"]),
        ("drop:", ["drop:27"]),
        ("drop:-1", ["0 to 200"]),
        ("drop:1000", ["0 to 200"]),
        ("drop:²", ["0 to 200"]),
        ("drop:" + "9" * 5000, ["drop:9999", "0 to 200"]),
        ("search:" + "9" * 5000, ["search:9999", "1 to 100000"]),
        ("search:" + "9" * 5000 + "ms", ["1 to 100000"]),
        ("9" * 5000, ["cannot be looked for", "too long"]),
        ("", ["an agent is"]),
        ("champion_of_the_world", ["random, greedy, expert, drop:N"]),
        ("nowhere/file.onnx", ["no file nowhere/file.onnx"]),
        ("greedy@greedy", ["exported policies"]),
        ("x.onnx@argmax", ["@sample and @greedy"]),
    ],
)
def test_a_text_that_names_no_agent_is_refused_in_one_sentence(spec: str, words: list[str]) -> None:
    with pytest.raises(AgentSpecError) as caught:
        make_agent(spec, RULES, 2)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_an_opponent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentSpecError, match=r"holds no opponent\.onnx"):
        make_agent(str(tmp_path), RULES, 2)


def test_a_link_to_a_run_that_was_deleted_says_so(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("third_run")
    with pytest.raises(AgentSpecError, match=r"latest leads to, third_run, is gone"):
        make_agent(str(tmp_path / "latest"), RULES, 2)
    (tmp_path / "third_run").mkdir()
    with pytest.raises(AgentSpecError, match=r"holds no opponent\.onnx"):
        make_agent(str(tmp_path / "latest"), RULES, 2)


def test_zeros_in_front_of_a_count_change_nothing() -> None:
    assert (parse_spec("drop:0027").param, parse_spec("drop:0027").text) == (27, "drop:27")


def test_the_nearest_run_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs" / "first_run").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentSpecError, match="did you mean 'runs/first_run'"):
        parse_spec("runs/frist_run")


def test_an_agent_object_is_handed_back_and_anything_else_refused() -> None:
    agent = make_agent("greedy", RULES, 2)
    assert make_agent(agent, RULES, 2) is agent
    with pytest.raises(AgentSpecError, match="lacks"):
        make_agent(object(), RULES, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["random", "drop:27", "greedy"])
@pytest.mark.parametrize("rules, seats", [("points", 2), ("rockets", 4), ("speno", 6)])
def test_baselines_choose_legal_actions(spec: str, rules: str, seats: int) -> None:
    observations, masks = positions(256, rules, seats)
    agent = make_agent(spec, RULES if rules == "points" else make_rules(rules), seats)
    actions = agent.act(observations, masks)
    assert actions.dtype == np.int64
    assert masks[np.arange(len(masks)), actions].all()


def test_equal_seeds_equal_choices_of_random() -> None:
    observations, masks = positions(256)
    one, two = make_agent("random", RULES, 2, seed=3), make_agent("random", RULES, 2, seed=3)
    other = make_agent("random", RULES, 2, seed=4)
    first = one.act(observations, masks)
    assert (first == two.act(observations, masks)).all()
    assert (first != other.act(observations, masks)).any()
    assert (first != one.act(observations, masks)).any()
    one.seed(3)
    assert (first == one.act(observations, masks)).all()


@pytest.mark.parametrize("spec", ["drop:27", "greedy"])
def test_a_baseline_outside_the_compiled_loop_plays_as_inside(spec: str) -> None:
    agent = make_agent(spec, RULES, 2)
    assert agent.compiled is not None
    inside = Batch(RULES, 2, num_tables=32, seed=9, autoreset=False)
    kind, param = agent.compiled
    inside.set_players(np.full((32, 2), kind, np.int8), np.full((32, 2), param, np.int16))
    inside.run()
    outside = Batch(RULES, 2, num_tables=32, seed=9, autoreset=False)
    outside.reset()
    while (rows := np.flatnonzero(outside.seats >= 0)).size:
        outside.step(agent.act(outside.observations[rows], outside.action_masks[rows]), rows)
    np.testing.assert_array_equal(inside.returns, outside.returns)


def test_draw_follows_the_softmax_of_the_legal_actions() -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(1, 40)).astype(np.float32)
    masks = (generator.random((1, 40)) < 0.2).astype(np.int8)
    count = 20_000
    drawn = draw(np.repeat(logits, count, 0), np.repeat(masks, count, 0), generator.random(count, dtype=np.float32))
    wanted = np.exp(logits[0]) * masks[0]
    wanted /= wanted.sum()
    assert np.abs(np.bincount(drawn, minlength=40) / count - wanted).max() < 0.015


@pytest.mark.parametrize("uniform", [0.0, 0.5, np.nextafter(np.float32(1), np.float32(0))])
def test_draw_stays_inside_the_mask_at_the_edges(uniform: float) -> None:
    masks = np.zeros((4, 483), dtype=np.int8)
    masks[[0, 1, 2, 2, 3], [0, 482, 7, 9, 100]] = 1
    logits = np.full((4, 483), 50.0, dtype=np.float32)
    logits[2, 9] = -80.0
    chosen = draw(logits, masks, np.full(4, uniform, dtype=np.float32))
    assert masks[np.arange(4), chosen].all()
    assert chosen[[0, 1, 3]].tolist() == [0, 482, 100]


def test_best_takes_the_greatest_legal_logit() -> None:
    masks = np.array([[0, 1, 1, 0]], dtype=np.int8)
    assert best(np.array([[9, 1, 2, 9]], dtype=np.float32), masks).tolist() == [2]


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_row_without_a_legal_action_is_refused(empty: int) -> None:
    masks = np.ones((3, 5), dtype=np.int8)
    masks[empty] = 0
    with pytest.raises(ValueError, match="allows no action"):
        draw(np.zeros((3, 5), np.float32), masks, np.zeros(3, np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e14])
def test_logits_that_are_no_numbers_are_refused(value: float) -> None:
    logits, masks = np.zeros((3, 5), np.float32), np.ones((3, 5), np.int8)
    logits[1, 2] = value
    for choose in (lambda: best(logits, masks), lambda: draw(logits, masks, np.zeros(3, np.float32))):
        with pytest.raises(FloatingPointError, match=r"lower ppo\.learning_rate"):
            choose()
    masks[1, 2] = 0  # an illegal action's may be anything
    best(logits, masks)
    draw(logits, masks, np.zeros(3, np.float32))


def test_a_path_that_leads_nowhere_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("x")
    for spec, words in (
        ("runs/nope", "there is no folder runs/nope"),
        ("runs", "runs is not a run folder"),
        ("notes.txt", "end in .onnx"),
    ):
        with pytest.raises(AgentSpecError) as caught:
            parse_spec(spec)
        assert words in str(caught.value), str(caught.value)
    (run / "config.yaml").write_text("")
    with pytest.raises(AgentSpecError, match=r"not a run folder.*as in runs/mine"):
        parse_spec("runs")
    with pytest.raises(AgentSpecError, match=r"holds no opponent\.onnx yet; finish it"):
        parse_spec("runs/mine")


def test_a_baseline_object_of_another_game_is_refused() -> None:
    agent = make_agent("greedy", RULES, 2)
    with pytest.raises(AgentSpecError, match=r"`max_turns` 200 \(here 60\)"):
        make_agent(agent, RULES.replace(max_turns=60), 2)
    with pytest.raises(AgentSpecError, match="tables of 2, not of 3"):
        make_agent(agent, RULES, 3)
