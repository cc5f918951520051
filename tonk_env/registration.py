"""Makes Tonk known to ``gymnasium.make``, ``gymnasium.make_vec`` and ``pettingzoo.make``."""

from __future__ import annotations

import gymnasium
import pettingzoo

GYMNASIUM_ID = "tonk_env/Tonk-v0"
PETTINGZOO_ID = "tonk-v0"


def register_envs() -> None:
    """Register the environments once; calling it again does nothing.

    ``tonk_env/Tonk-v0`` in Gymnasium. In PettingZoo, ``tonk-v0`` where its registry exists (from 1.27).
    """
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            id=GYMNASIUM_ID,
            entry_point="tonk_env.single:TonkEnv",
            vector_entry_point="tonk_env.vector:TonkVectorEnv",
        )
    known = getattr(pettingzoo, "aec_registry", None)
    if known is not None and PETTINGZOO_ID not in known:
        pettingzoo.register("aec", PETTINGZOO_ID, entry_point="tonk_env.aec:env")
