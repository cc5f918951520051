"""Checkpoints: everything a run needs to go on as if it had never stopped, in files that are data and never code.

A checkpoint is a folder that appears whole, by a rename: ``meta.json`` (counters, generator states, checksums of the
rest), ``model.pt`` (weights, optimiser, torch's generator; tensors only) and ``arrays.npz`` (tables and seats). Policies of
the pool never change, so each is one file under ``pool/``, shared by the checkpoints that need it.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tonk_env.files import atomic_writer

FORMAT = 1
FOLDER, POOL = "checkpoints", "pool"
MODEL, ARRAYS, META = "model.pt", "arrays.npz", "meta.json"


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or of another game; the message is one sentence."""


@dataclass
class Checkpoint:
    """``meta`` is plain JSON, ``model`` nested dictionaries of tensors and numbers, ``networks`` weights by number."""

    meta: dict[str, Any]
    model: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    networks: dict[int, dict[str, torch.Tensor]]


class CheckpointStore:
    """The checkpoints of one run folder, the newest ``keep`` of them."""

    def __init__(self, run: Path, keep: int) -> None:
        self.folder = run / FOLDER
        self.keep = keep
        self.passed_over: list[CheckpointError] = []  # what was wrong with newer checkpoints than the one last loaded
        self._pool_sums: dict[int, str] = {}

    def save(self, step: int, checkpoint: Checkpoint) -> Path:
        """Write a checkpoint taken after ``step`` decisions and drop those that are too many. Returns its folder."""
        (self.folder / POOL).mkdir(parents=True, exist_ok=True)
        self._pool_sums = {number: self._save_network(number, weights) for number, weights in checkpoint.networks.items()}
        files = {MODEL: _torch_bytes(checkpoint.model), ARRAYS: _array_bytes(checkpoint.arrays)}
        meta = {
            "format": FORMAT,
            "step": step,
            **checkpoint.meta,
            "files": {name: _checksum(data) for name, data in files.items()},
            "networks": {str(number): checksum for number, checksum in self._pool_sums.items()},
        }
        target, part = self.folder / f"{step:012d}", self.folder / f".{step:012d}.part"
        for leftover in (part, target):
            shutil.rmtree(leftover, ignore_errors=True)
        part.mkdir()
        for name, data in {**files, META: json.dumps(meta).encode()}.items():
            (part / name).write_bytes(data)
        part.rename(target)
        self._prune()
        return target

    def load(self) -> Checkpoint:
        """Return the newest checkpoint that is whole.

        Raises ``CheckpointError`` if there is none: with a damaged one the message names the file at fault.
        """
        found = self.folders()
        if not found:
            raise CheckpointError(
                f"{self.folder.parent} holds no checkpoint to continue from: it was never trained as long as one iteration"
            )
        self.passed_over = faults = []
        for folder in reversed(found):
            try:
                checkpoint = read_checkpoint(folder)
            except CheckpointError as fault:
                faults.append(fault)
                continue
            self._pool_sums = {int(number): checksum for number, checksum in checkpoint.meta["networks"].items()}
            return checkpoint
        raise faults[0]

    def folders(self) -> list[Path]:
        """Return the folders of the checkpoints, the oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if path.is_dir() and path.name.isdigit())

    def _save_network(self, number: int, weights: Mapping[str, torch.Tensor]) -> str:
        """Write a policy of the pool unless it is already there. Returns its checksum."""
        path = _network_file(self.folder, number)
        if number in self._pool_sums and path.is_file():
            return self._pool_sums[number]
        return write_tensors(path, dict(weights))

    def _prune(self) -> None:
        """Drop checkpoints beyond ``keep``, and policies that no remaining one needs."""
        folders = self.folders()
        for folder in folders[: -self.keep]:
            shutil.rmtree(folder, ignore_errors=True)
        needed = set(self._pool_sums)
        for folder in folders[-self.keep : -1]:
            try:
                needed |= {int(number) for number in _read_json(folder / META)["networks"]}
            except (CheckpointError, KeyError, ValueError):
                continue
        for leftover in self.folder.glob(".*.part"):
            shutil.rmtree(leftover, ignore_errors=True)
        for path in (self.folder / POOL).glob("*.pt"):
            if path.stem.isdigit() and int(path.stem) not in needed:
                path.unlink(missing_ok=True)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the checkpoint in one folder. Raises ``CheckpointError`` that names the file at fault."""
    meta = _read_json(folder / META)
    if meta.get("format") != FORMAT:
        raise CheckpointError(f"{folder / META} is of format {meta.get('format')!r}; this version reads {FORMAT}")
    missing = [key for key in ("step", "iteration", "seconds", "best", "files", "networks", "pool", "game") if key not in meta]
    if missing:
        raise CheckpointError(f"{folder / META} lacks {missing[0]!r}")
    data = {name: _read_checked(folder / name, meta["files"].get(name, "")) for name in (MODEL, ARRAYS)}
    networks = {
        int(number): read_tensors(_network_file(folder.parent, int(number)), checksum)
        for number, checksum in meta["networks"].items()
    }
    try:
        with np.load(io.BytesIO(data[ARRAYS]), allow_pickle=False) as arrays:
            unpacked = {name: arrays[name] for name in arrays.files}
    except (ValueError, KeyError, zipfile.BadZipFile):
        raise CheckpointError(f"{folder / ARRAYS} is damaged") from None
    return Checkpoint(meta, _tensors(data[MODEL], folder / MODEL), unpacked, networks)


def write_tensors(path: Path, values: dict[str, Any]) -> str:
    """Write nested dictionaries of tensors and numbers to ``path``, whole or not at all. Returns the checksum."""
    data = _torch_bytes(values)
    with atomic_writer(path, "wb") as stream:
        stream.write(data)
    return _checksum(data)


def read_tensors(path: Path, checksum: str | None = None) -> dict[str, Any]:
    """Return what ``write_tensors`` wrote. Raises ``CheckpointError`` for a missing or damaged file."""
    return _tensors(_read_checked(path, checksum), path)


def _network_file(folder: Path, number: int) -> Path:
    return folder / POOL / f"{number:08d}.pt"


def _torch_bytes(values: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def _array_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _tensors(data: bytes, path: Path) -> dict[str, Any]:
    try:
        values = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except Exception:  # noqa: BLE001 - whatever torch raises for bytes it cannot read, the file is not ours
        raise CheckpointError(f"{path} is damaged, or holds more than tensors") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} holds no dictionary of tensors")
    return values


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_checked(path: Path, checksum: str | None) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from None
    if checksum is not None and _checksum(data) != checksum:
        raise CheckpointError(f"{path} is damaged: its content does not match the checksum in {META}")
    return data


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError:
        raise CheckpointError(f"{path} is damaged: it is not valid JSON") from None
    if not isinstance(values, dict):
        raise CheckpointError(f"{path} is damaged: it holds no object")
    return values
