"""Tonk, version 0: the versioned entry point, ``from tonk_env import tonk_v0; tonk_v0.env()``."""

from tonk_env.aec import ActionError, env, raw_env

__all__ = ["ActionError", "env", "raw_env"]
