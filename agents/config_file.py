"""Reads YAML strictly: what is no YAML, stands twice or is nested without end is refused in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is one sentence that names the key and what is allowed."""


class _StrictLoader(yaml.SafeLoader):
    """A SafeLoader that refuses a mapping in which a key stands twice, where PyYAML would take the last one."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Compose the mapping that comes next. Raises ``ConfigError`` for a key that it holds already."""
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in lines:
                raise ConfigError(f"key {key.value!r} in line {line} stands in line {lines[key.value]} already; keep one")
            lines[key.value] = line
        return node


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping in one YAML file, every key as text. Raises ``ConfigError``, which names the file."""
    try:
        data = parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}{_beside(path)}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not valid YAML: it is not text in UTF-8") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold keys with values, as in `seed: 1`")
    return data


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text, with every key as text. Raises ``ConfigError``, which says what is wrong with it."""
    try:
        return with_text_keys(yaml.load(text, _StrictLoader))
    except ConfigError:
        raise
    except RecursionError:
        raise ConfigError("it is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that does not exist, a number without end
        where = getattr(error, "problem_mark", None)
        raise ConfigError(f"it is not valid YAML{f' (line {where.line + 1})' if where else ''}") from None


def with_text_keys(data: Any) -> Any:
    """Copy of nested mappings, with every key as text."""
    if isinstance(data, Mapping):
        return {str(key): with_text_keys(value) for key, value in data.items()}
    return data


def _beside(path: Path) -> str:
    """Name the YAML files in the folder where one is missing, or the folder if that is missing too."""
    if not path.parent.is_dir():
        return f": the folder {path.parent} does not exist"
    there = sorted(file.name for file in path.parent.glob("*.yaml"))
    return f"; {path.parent} has {', '.join(there)}" if there else "; name a configuration, as configs/quick.yaml"
