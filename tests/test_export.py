"""Checks exported opponents: equal to the torch policy, never illegal, no torch needed, foreign and torn files refused."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper

from agents.base import AgentSpecError
from agents.card import CARD_KEY, OpponentFileError, make_card
from agents.config import NetworkConfig
from agents.export import export_policy
from agents.network import Network, NetworkAgent, new_network
from agents.onnx_agent import OnnxAgent
from agents.onnx_file import MAX_BYTES, read_opponent
from agents.specs import make_agent
from tonk_env.batch import Batch
from tonk_env.observation import ObservationLayout
from tonk_env.rules import RuleSet, make_rules

RULES = make_rules("points", match="hands")


def network_for(rules: RuleSet, seats: int = 2, **options: Any) -> Network:
    torch.manual_seed(1)
    config = NetworkConfig(**{"torso": [48, 32], **options})
    return new_network(config, rules, seats)


def positions(rules: RuleSet, count: int, seats: int = 2) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    batch = Batch(rules, seats, num_tables=64, seed=5)
    batch.reset()
    parts = []
    for _ in range(-(-count // 64)):
        parts.append((batch.observations.copy(), batch.action_masks.copy()))
        batch.step(batch.choose_random())
    observations, masks = zip(*parts, strict=True)
    return np.concatenate(observations)[:count], np.concatenate(masks)[:count]


@pytest.fixture(scope="module")
def network() -> Network:
    return network_for(RULES)


@pytest.fixture(scope="module")
def exported(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "opponent.onnx"
    return export_policy(network, path, make_card(RULES, 2, {"run": "test"}, {"deals": 10}))


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (RULES, {"activation": "relu"}), (RULES, {"activation": "tanh"}), (RULES, {"activation": "silu"}),
        (RULES, {"spread_features": False}), (make_rules("tunk"), {}), (make_rules("wild_jokers"), {}),
        (make_rules("mini"), {}),
    ],
)  # fmt: skip
def test_export_equals_the_torch_policy(tmp_path: Path, rules: RuleSet, options: dict[str, Any]) -> None:
    source = network_for(rules, policy_head=[16], value_head=[8], **options)
    path = export_policy(source, tmp_path / "x.onnx", make_card(rules, 2, {}))
    observations, masks = positions(rules, 2048)
    with torch.no_grad():
        logits, values = (part.numpy() for part in source(torch.from_numpy(observations).float()))
    agent = OnnxAgent(path)
    for size in (1, 64):
        for at in range(0, 2048, 256):
            rows = slice(at, at + size)
            found, value = agent.evaluate(observations[rows], masks[rows])
            legal = masks[rows] == 1
            np.testing.assert_allclose(found[legal], logits[rows][legal], atol=1e-4)
            np.testing.assert_allclose(value, values[rows], atol=1e-4)
            assert (found[~legal] <= -1e9).all()


def test_the_exported_opponent_chooses_as_its_source(network: Network, exported: Path) -> None:
    observations, masks = positions(RULES, 1024)
    for greedy in (False, True):
        source, copy = NetworkAgent(network, seed=7, greedy=greedy), OnnxAgent(exported, RULES, 2, 7, greedy=greedy)
        actions = copy.act(observations, masks)
        assert (actions == source.act(observations, masks)).mean() > 0.999  # rounding may move a draw at an edge
        assert masks[np.arange(1024), actions].all()


def test_masked_out_actions_are_never_chosen(exported: Path) -> None:
    observations, _ = positions(RULES, 483)
    only_one = np.eye(483, dtype=np.int8)
    for mode in ("sample", "greedy"):
        agent = make_agent(f"{exported}@{mode}", RULES, 2)
        assert agent.act(observations, only_one).tolist() == list(range(483))


def test_equal_seeds_equal_moves_and_greedy_repeats_itself(exported: Path) -> None:
    observations, masks = positions(RULES, 512)
    agents = [make_agent(str(exported), RULES, 2, seed) for seed in (1, 1, 2)]
    first, second, third = (agent.act(observations, masks) for agent in agents)
    assert (first == second).all()
    assert (first != third).any()
    greedy = make_agent(f"{exported}@greedy", RULES, 2)
    assert (greedy.act(observations, masks) == greedy.act(observations, masks)).all()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
@pytest.mark.parametrize("make, many", [(gymnasium.make, {}), (gymnasium.make_vec, {"num_envs": 3})])
def test_games_with_an_exported_opponent_can_be_copied(exported: Path, duplicate: Any, make: Any, many: dict[str, int]) -> None:
    env = make("tonk_env/Tonk-v0", rules=RULES, num_players=2, opponents=str(exported), **many)
    moves = history(env, env.reset(seed=3)[1], 10)
    other = duplicate(env)
    info = moves[-1][-1]
    assert [step[:-1] for step in history(other, info, 60)] == [step[:-1] for step in history(env, info, 60)]


def history(env: Any, info: dict[str, Any], steps: int) -> list[Any]:
    """Play the last legal action again and again; what came of it, the infos last."""
    seen = []
    for _ in range(steps):
        action = np.asarray(info["action_mask"]).shape[-1] - 1 - np.asarray(info["action_mask"])[..., ::-1].argmax(axis=-1)
        observation, reward, terminated, truncated, info = env.step(action)
        if np.ndim(terminated) == 0 and (terminated or truncated):
            observation, info = env.reset()
        seen.append((observation["observation"].tobytes(), np.asarray(reward).tolist(), info))
    return seen


def test_loading_needs_neither_torch_nor_onnx(exported: Path, root: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'stable_baselines3', 'sb3_contrib', 'pydantic', 'yaml'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from agents.specs import make_agent\n"
        "from agents.onnx_agent import OnnxAgent\n"
        f"agent = OnnxAgent({str(exported)!r})\n"
        "from tonk_env.batch import Batch\n"
        "batch = Batch(agent.rules, agent.num_players, 4, seed=0); batch.reset()\n"
        "batch.step(agent.act(batch.observations, batch.action_masks)); print('played')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "played", done.stderr


def test_the_file_says_what_it_is(exported: Path) -> None:
    model = onnx.load(exported)
    assert {entry.domain for entry in model.opset_import} == {""}
    assert [put.name for put in model.graph.input] == ["observation", "action_mask"]
    assert [put.name for put in model.graph.output] == ["logits", "value"]
    assert "illegal" in model.doc_string
    card = json.loads({prop.key: prop.value for prop in model.metadata_props}[CARD_KEY])
    assert card["format"] == 1
    assert card["num_players"] == 2
    assert RuleSet.from_dict(card["rules"]) == RULES
    assert card["spaces"]["observation"]["size"] == ObservationLayout(RULES, 2).size
    assert card["spaces"]["action"]["size"] == 483
    assert card["strength"] == {"deals": 10}


@pytest.mark.parametrize(
    "rules, seats, words",
    [
        (make_rules("points", match="hands", hands=1), 3, ["tables of 2, not of 3"]),
        (make_rules("points"), 2, ["other rules", "`match` 'hands' (here 'elimination')"]),
        (make_rules("points", match="hands", max_turns=60), 2, ["other rules", "`max_turns` 200 (here 60)"]),
    ],
)
def test_an_opponent_for_another_game_says_what_differs(exported: Path, rules: RuleSet, seats: int, words: list[str]) -> None:
    with pytest.raises(OpponentFileError) as caught:
        make_agent(str(exported), rules, seats)
    assert all(word in str(caught.value) for word in [*words, str(exported)]), str(caught.value)


@pytest.mark.parametrize("space", ["observation", "action"])
def test_another_layout_is_refused_by_name(network: Network, tmp_path: Path, space: str) -> None:
    from agents import card as cards

    card = make_card(RULES, 2, {})
    card["spaces"][space]["fingerprint"] = "0" * 16
    card["fingerprint"] = cards._digest({k: card[k] for k in ("rules", "rules_fingerprint", "num_players", "spaces")})
    path = export_policy(network, tmp_path / "x.onnx", card)
    with pytest.raises(OpponentFileError, match=f"another {space} space: its fingerprint is '0000"):
        OnnxAgent(path)


def test_a_network_that_does_not_fit_its_card_is_not_written(network: Network, tmp_path: Path) -> None:
    with pytest.raises(AgentSpecError, match="cannot play"):
        export_policy(network, tmp_path / "x.onnx", make_card(make_rules("points"), 2, {}))
    assert not list(tmp_path.iterdir())


def refusal(path: Path) -> str:
    with pytest.raises(OpponentFileError) as caught:
        make_agent(str(path), RULES, 2)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_torn_files_are_refused(exported: Path, tmp_path: Path) -> None:
    data = exported.read_bytes()
    torn = tmp_path / "torn.onnx"
    for size in (0, 1, 10, 100, len(data) // 2, len(data) - 1):
        torn.write_bytes(data[:size])
        assert str(torn) in refusal(torn)


def test_random_and_foreign_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    generator = np.random.default_rng(0)
    for data in (b"hello world, this is text", b"PK\x03\x04" + bytes(200), *(generator.bytes(300) for _ in range(50))):
        path.write_bytes(data)
        assert str(path) in refusal(path)


def test_a_model_without_a_card_is_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "x.onnx")
    assert "holds no card" in refusal(tmp_path / "x.onnx")


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"format": 1, "provenance": ' + "[" * 600 + "]" * 600 + "}", "damaged"),
        ('{"format": ' + "9" * 5000 + "}", "damaged"),
        ("[]", "not an object"),
        ('{"format": 9}', "format 9"),
        ('{"format": 1}', "lacks"),
    ],
    ids=range(7),
)
def test_a_bad_card_is_refused(exported: Path, tmp_path: Path, text: str, words: str) -> None:
    model = onnx.load(exported)
    helper.set_model_props(model, {CARD_KEY: text})
    onnx.save(model, tmp_path / "x.onnx")
    assert words in refusal(tmp_path / "x.onnx")


def test_a_changed_card_is_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    card = json.loads(model.metadata_props[0].value)
    card["num_players"] = 3
    helper.set_model_props(model, {CARD_KEY: json.dumps(card)})
    onnx.save(model, tmp_path / "x.onnx")
    assert "fingerprint does not match" in refusal(tmp_path / "x.onnx")


@pytest.mark.parametrize(
    "key, value, words",
    [
        ("num_players", [2], "'num_players' is [2] and not a whole number"),
        ("num_players", None, "'num_players' is None and not a whole number"),
        ("num_players", "2", "'num_players' is '2' and not a whole number"),
        ("num_players", True, "'num_players' is True and not a whole number"),
        ("spaces", None, "'spaces' is None and not an object"),
        ("spaces", [], "'spaces' is [] and not an object"),
        ("spaces", {"observation": None, "action": {}}, "'spaces.observation' is None and not an object"),
        ("spaces", {"observation": {}}, "lacks 'spaces.action'"),
        ("rules", "points", "'rules' is 'points' and not an object"),
        ("rules_fingerprint", 3, "'rules_fingerprint' is 3 and not a text"),
        ("fingerprint", None, "'fingerprint' is None and not a text"),
        ("weights", {}, "'weights' is {} and not a text"),
    ],
)
def test_a_card_with_a_part_of_another_type_is_refused(key: str, value: object, words: str) -> None:
    from agents import card as cards

    card = {**make_card(RULES, 2, {}), "weights": "0" * 64, key: value}
    if key != "fingerprint":
        card["fingerprint"] = cards._digest({k: card[k] for k in ("rules", "rules_fingerprint", "num_players", "spaces")})
    with pytest.raises(OpponentFileError) as caught:
        cards.read_card(json.dumps(card), "x.onnx")
    assert words in str(caught.value)
    assert str(caught.value).startswith("x.onnx: its card ")


def test_weights_in_another_file_are_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    onnx.save(model, tmp_path / "x.onnx", save_as_external_data=True, location="secrets.bin", size_threshold=0)
    assert "another file" in refusal(tmp_path / "x.onnx")


def test_operators_of_other_domains_are_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    model.graph.node[0].domain = "com.example"
    onnx.save(model, tmp_path / "node.onnx")
    assert "com.example" in refusal(tmp_path / "node.onnx")
    model.graph.node[0].domain = ""
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    onnx.save(model, tmp_path / "opset.onnx")
    assert "com.example" in refusal(tmp_path / "opset.onnx")


def test_nested_graphs_are_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    inner = helper.make_graph([], "inner", [], [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])])
    model.graph.node.append(helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner))
    onnx.save(model, tmp_path / "x.onnx")
    assert "nested graphs" in refusal(tmp_path / "x.onnx")


def test_a_graph_that_breaks_its_promise_is_refused(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    model.graph.output[0].name = model.graph.node[-4].output[0]
    onnx.save(model, tmp_path / "x.onnx")
    assert str(tmp_path) in refusal(tmp_path / "x.onnx")


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(OpponentFileError, match="at most"):
        read_opponent(path)


def test_nothing_is_left_behind_when_writing_fails(network: Network, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no folder"):
        export_policy(network, tmp_path / "none" / "x.onnx", make_card(RULES, 2, {}))
    assert not list(tmp_path.iterdir())


# -- objects in place of paths --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules, seats, words",
    [
        ("deadwood", 2, "other rules"),
        (RULES.replace(max_turns=60), 2, r"`max_turns` 200 \(here 60\)"),
        (RULES, 3, "tables of 2, not of 3"),
    ],
)
def test_an_object_for_another_game_is_refused_at_every_door(exported: Path, rules: Any, seats: int, words: str) -> None:
    import gymnasium

    from agents.evaluate import evaluate

    agent = OnnxAgent(exported)
    options = {"rules": rules, "num_players": seats}
    doors = (
        lambda: gymnasium.make("tonk_env/Tonk-v0", opponents=agent, **options),
        lambda: gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=2, opponents=agent, **options),
        lambda: gymnasium.make("tonk_env/Tonk-v0", opponents=[agent] * (seats - 1), **options),
        lambda: evaluate([agent, "random"], rules, seats, deals=2),
        lambda: make_agent(agent, make_rules(rules), seats),
    )
    for door in doors:
        with pytest.raises(OpponentFileError, match=words):
            door()
    assert make_agent(agent, RULES, 2) is agent


def test_a_network_for_another_game_is_refused(network: Network) -> None:
    with pytest.raises(AgentSpecError, match="inputs and actions"):
        make_agent(NetworkAgent(network), RULES, 3)


# -- weights --------------------------------------------------------------------------------------------------------


def test_every_flipped_bit_of_weights_and_operators_is_noticed(exported: Path, tmp_path: Path) -> None:
    data = exported.read_bytes()
    model = onnx.load(exported)
    path = tmp_path / "x.onnx"
    generator = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        at = data.index(tensor.raw_data) + int(generator.integers(len(tensor.raw_data)))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << int(generator.integers(8))]) + data[at + 1 :])
        assert "damaged" in refusal(path) or "not finite" in refusal(path)
    next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Tanh"
    onnx.save(model, path)
    assert "its weights are not those" in refusal(path)


def test_the_order_of_the_weights_does_not_matter(exported: Path, tmp_path: Path) -> None:
    model = onnx.load(exported)
    tensors = list(model.graph.initializer)[::-1]
    del model.graph.initializer[:]
    model.graph.initializer.extend(tensors)
    onnx.save(model, tmp_path / "x.onnx")
    make_agent(str(tmp_path / "x.onnx"), RULES, 2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_neither_written_nor_loaded(exported: Path, tmp_path: Path, value: float) -> None:
    broken = network_for(RULES)
    with torch.no_grad():
        next(broken.actor.parameters())[0, 0] = value
    with pytest.raises(AgentSpecError, match="weights are not finite"):
        export_policy(broken, tmp_path / "x.onnx", make_card(RULES, 2, {}))
    assert not list(tmp_path.iterdir())
    for raw in (True, False):
        model = onnx.load(exported)
        tensor = next(one for one in model.graph.initializer if one.name == "torso.1.weight")
        numbers = onnx.numpy_helper.to_array(tensor).copy()
        numbers.flat[0] = value
        content = numbers.tobytes() if raw else numbers.ravel()
        tensor.CopyFrom(helper.make_tensor(tensor.name, TensorProto.FLOAT, numbers.shape, content, raw=raw))
        onnx.save(model, tmp_path / "x.onnx")
        assert "not finite" in refusal(tmp_path / "x.onnx")
        (tmp_path / "x.onnx").unlink()


def test_logits_that_overflow_are_refused_in_a_sentence(tmp_path: Path) -> None:
    broken = network_for(RULES)
    with torch.no_grad():
        for layer in (broken.torso[1], broken.torso[3], broken.actor[-1]):
            layer.weight.fill_(1e30)  # type: ignore[operator]
    path = export_policy(broken, tmp_path / "x.onnx", make_card(RULES, 2, {}))
    observations, masks = positions(RULES, 64)
    for mode in ("sample", "greedy"):
        with pytest.raises(OpponentFileError, match="logits are not finite"):
            make_agent(f"{path}@{mode}", RULES, 2).act(observations, masks)


@pytest.mark.parametrize("name", ["z.txt", "z", "z.onnx.bak"])
def test_an_opponent_is_only_written_under_its_own_ending(network: Network, tmp_path: Path, name: str) -> None:
    with pytest.raises(AgentSpecError, match=r"ends in \.onnx"):
        export_policy(network, tmp_path / name, make_card(RULES, 2, {}))
    assert not list(tmp_path.iterdir())


def test_a_missing_runtime_says_what_to_install(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(AgentSpecError, match=r'pip install "\.\[play\]"'):
        OnnxAgent(exported)
