"""Tonk, the card game, as a fast and exact environment for reinforcement learning.

    from tonk_env import tonk_v0
    env = tonk_v0.env(rules="points", num_players=3)

Rule sets: ``make_rules``, ``presets``. One table: ``Table``. Many tables: ``Batch``. Importing this registers
``tonk_env/Tonk-v0`` with Gymnasium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tonk_env.registration import register_envs

if TYPE_CHECKING:
    from tonk_env.batch import Batch
    from tonk_env.observation import ObservationLayout
    from tonk_env.result import HandResult
    from tonk_env.rules import RuleSet, RuleSetError, make_rules, presets
    from tonk_env.table import IllegalMoveError, Table

__version__ = "0.1.0"

# Looked up when first used, so that importing the package compiles nothing.
_HOME = {
    "Batch": "batch",
    "ObservationLayout": "observation",
    "RuleSet": "rules",
    "RuleSetError": "rules",
    "make_rules": "rules",
    "presets": "rules",
    "HandResult": "result",
    "IllegalMoveError": "table",
    "Table": "table",
}

__all__ = ["Batch", "HandResult", "IllegalMoveError", "ObservationLayout", "RuleSet", "RuleSetError", "Table", "__version__",
           "make_rules", "presets", "register_envs"]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name in _HOME:
        return getattr(import_module(f"tonk_env.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tonk_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names."""
    return sorted(__all__)


register_envs()
