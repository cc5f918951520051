"""Measures those who choose: compiled players in a batch, and an exported opponent with random weights."""

from __future__ import annotations

import tempfile
from pathlib import Path

import ours
from measuring import Effort, Row, rate, rates

from agents.base import AgentSpecError
from tonk_env.rules import make_rules

HEURISTICS = ("greedy", "expert")
TORSO = [256, 256]
BATCH = 1024
MICROSECONDS = 1e6


def heuristic_rows(effort: Effort) -> list[Row]:
    """A row for each compiled player, all seats played by it."""
    return [_heuristic_row(spec, effort) for spec in HEURISTICS]


def _heuristic_row(spec: str, effort: Effort) -> Row:
    what = f"`{spec}` at both seats, choice and step compiled"
    try:
        step = ours.heuristic(spec)
    except AgentSpecError:
        return Row(f"heuristic_{spec}", what, "decisions/s", (), 2e6, note="no such player in this version")
    return Row(f"heuristic_{spec}", what, "decisions/s", rates(step, effort), 2e6)


def exported_rows(effort: Effort) -> list[Row]:
    """One decision and batches of an opponent file, a torso of two layers of 256, through onnxruntime on one thread."""
    from agents.card import make_card
    from agents.config import NetworkConfig
    from agents.export import export_policy
    from agents.network import new_network
    from agents.onnx_agent import OnnxAgent

    rules = make_rules("points", match="hands")
    game = ours.new_batch("points", 2, BATCH, match="hands")
    network = new_network(NetworkConfig(torso=TORSO), rules, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = export_policy(network, Path(folder) / "opponent.onnx", make_card(rules, 2, {}))
        agent = OnnxAgent(path, rules, 2)

    def one() -> int:
        agent.act(game.observations[:1], game.action_masks[:1])
        return 1

    def many() -> int:
        agent.act(game.observations, game.action_masks)
        return BATCH

    one()
    single = tuple(MICROSECONDS / rate(one, effort.seconds) for _ in range(effort.repeats))
    name = "exported opponent, two layers of 256"
    return [
        Row("exported_one", f"{name}: one decision", "µs", single, 100.0, "less"),
        Row("exported_batch", f"{name}: batches of {BATCH:,}", "decisions/s", rates(many, effort), 50_000),
    ]
