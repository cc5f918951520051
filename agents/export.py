"""Writes a policy as one ``.onnx`` file: a plain graph with the mask built in and the card as metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from agents.base import AgentSpecError
from agents.card import CARD_KEY, OpponentFileError
from agents.network import ILLEGAL, Network
from agents.onnx_agent import OnnxAgent
from agents.onnx_file import weights_digest
from agents.spread_features import FIT, SpreadFeatures
from tonk_env.files import atomic_writer

__all__ = ["OnnxAgent", "OpponentFileError", "export_policy"]

OPSET = 17  # old enough for onnxruntime 1.13 and everything since
IR_VERSION = 8
DESCRIPTION = (
    "A Tonk opponent. observation: 0/1 as the environment writes it. action_mask: 1 = legal now. logits: log-weights of the "
    "actions, -1e9 where illegal; draw from their softmax, or take the greatest. value: expected reward of the seat."
)


def export_policy(policy: Network, path: str | os.PathLike[str], card: Mapping[str, Any]) -> Path:
    """Write the network with its card (see ``agents.card.make_card``) to ``path``, whole or not at all.

    Inputs ``observation`` int8[B, O] and ``action_mask`` int8[B, A]; outputs ``logits`` float32[B, A] (-1e9 where
    illegal) and ``value`` float32[B]. Raises ``AgentSpecError`` if the name does not end in .onnx, if the network does not
    fit the card's spaces or has weights that are not finite, and ``OSError`` if the file cannot be written.
    """
    if Path(path).suffix != ".onnx":
        raise AgentSpecError(f"{path} cannot be the file of an opponent: give it a name that ends in .onnx")
    spaces = card["spaces"]
    sizes = spaces["observation"]["size"], spaces["action"]["size"]
    if policy.sizes != sizes:
        raise AgentSpecError(f"a network of {policy.sizes} inputs and actions cannot play a game of {sizes}")
    if not all(bool(torch.isfinite(weights).all()) for weights in policy.parameters()):
        raise AgentSpecError(f"{path} is not written: the network's weights are not finite, its training diverged")
    model = _model(policy, *sizes)
    card = {**card, "weights": weights_digest(model.SerializeToString())}
    model.doc_string = DESCRIPTION
    helper.set_model_props(model, {CARD_KEY: json.dumps(card, sort_keys=True)})
    onnx.checker.check_model(model, full_check=True)
    with atomic_writer(path, "wb") as stream:
        stream.write(model.SerializeToString())
    return Path(path)


def _model(policy: Network, observation_size: int, num_actions: int) -> onnx.ModelProto:
    graph = _Graph()
    features = graph.layers(policy.torso, graph.node("Cast", ["observation"], to=TensorProto.FLOAT), "torso")
    raw = graph.layers(policy.actor, features, "actor")
    legal = graph.node("Cast", ["action_mask"], to=TensorProto.BOOL)
    graph.node("Where", [legal, raw, graph.constant("illegal", np.float32(ILLEGAL))], output="logits")
    value = graph.layers(policy.critic, features, "critic")
    graph.node("Squeeze", [value, graph.constant("last_axis", np.array([1], dtype=np.int64))], output="value")
    int8, float32 = TensorProto.INT8, TensorProto.FLOAT
    made = helper.make_graph(
        graph.nodes,
        "tonk_opponent",
        [
            helper.make_tensor_value_info("observation", int8, ["batch", observation_size]),
            helper.make_tensor_value_info("action_mask", int8, ["batch", num_actions]),
        ],
        [
            helper.make_tensor_value_info("logits", float32, ["batch", num_actions]),
            helper.make_tensor_value_info("value", float32, ["batch"]),
        ],
        graph.tensors,
    )
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(made, opset_imports=opset, ir_version=IR_VERSION, producer_name="tonk-env")


class _Graph:
    """Nodes and weights as they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def node(self, operator: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, name: str, value: Any) -> str:
        """Add a constant and return its name."""
        self.tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def layers(self, layers: nn.Sequential, value: str, prefix: str) -> str:
        """Add layers one after another and return the name of the last output."""
        for index, layer in enumerate(layers):
            value = self.layer(layer, value, f"{prefix}.{index}")
        return value

    def layer(self, layer: nn.Module, value: str, prefix: str) -> str:
        """Add one layer and return the name of its output."""
        if isinstance(layer, nn.Linear):
            weight = self.constant(f"{prefix}.weight", _numbers(layer.weight))
            return self.node("Gemm", [value, weight, self.constant(f"{prefix}.bias", _numbers(layer.bias))], transB=1)
        if isinstance(layer, SpreadFeatures):
            return self.spread_features(layer, value, prefix)
        if isinstance(layer, nn.SiLU):
            return self.node("Mul", [value, self.node("Sigmoid", [value])])
        return self.node({nn.ReLU: "Relu", nn.Tanh: "Tanh"}[type(layer)], [value])

    def spread_features(self, layer: SpreadFeatures, value: str, prefix: str) -> str:
        """Add the layer of ``agents.spread_features``, step by step as it is written there."""
        last = self.constant(f"{prefix}.last", np.array([1]))
        one, two = (self.constant(f"{prefix}.{name}", np.float32(number)) for name, number in (("one", 1), ("two", 2)))
        spreads = self.constant(f"{prefix}.spreads", _numbers(layer.spreads))

        def cut(start: int, count: int) -> str:
            ends = (self.constant(f"{prefix}.{len(self.nodes)}.{at}", np.array([at])) for at in (start, start + count))
            return self.node("Slice", [value, *ends, last])

        hand, top, table = layer.starts
        held = self.node("MatMul", [cut(hand, len(layer.spreads)), spreads])
        with_top = self.node("Add", [held, self.node("MatMul", [cut(top, len(layer.spreads)), spreads])])
        places = self.node("Max", [cut(table + part * FIT, FIT) for part in range(3)])
        fits = self.node("Sub", [places, one])
        top_fits = self.node("Relu", [self.node("Add", [cut(top, FIT), fits])])
        features = [
            self.node("Sub", [held, one]), self.node("Sub", [held, two]), self.node("Sub", [with_top, two]),
            self.node("Add", [cut(hand, FIT), fits]), self.node("ReduceSum", [top_fits, last], keepdims=1),
        ]  # fmt: skip
        return self.node("Relu", [self.node("Concat", [value, *features], axis=1)])


def _numbers(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(np.float32)
