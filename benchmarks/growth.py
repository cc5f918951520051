"""Measures how cost grows: with the number of tables, with threads and processes, and how many bytes a table takes."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.synchronize import Barrier as ProcessBarrier
from typing import Any

import numpy as np
import ours
from measuring import Effort, Row, alternating, rate

SIZES = (64, 256, 1024, 4096, 16_384, 65_536)
QUICK_SIZES = (64, 256)
LINEAR = 1.2  # dearest over cheapest cost of a decision
KILOBYTE = 1024
NANOSECONDS = 1e9
Barrier = threading.Barrier | ProcessBarrier


def size_rows(effort: Effort) -> list[Row]:
    """Cost of a decision for every size of batch, measured in turns, and by how much it varies."""
    sizes = QUICK_SIZES if effort.quick else SIZES
    found = alternating({str(size): ours.batch(tables=size) for size in sizes}, effort, lambda _: None)
    costs = {int(size): tuple(NANOSECONDS / run for run in runs) for size, runs in found.items()}
    rows = [Row(f"size_{size}", f"batch of {size:,} tables", "ns a decision", runs) for size, runs in costs.items()]
    by_round = np.array(list(costs.values()))
    worst = tuple((by_round.max(axis=0) / by_round.min(axis=0)).tolist())
    what = f"dearest over cheapest decision, {min(sizes):,} to {max(sizes):,} tables"
    return [*rows, Row("linear", what, "times", worst, LINEAR, "less")]


def worker_rows(effort: Effort) -> list[Row]:
    """Two threads and two processes against one, each with a batch of its own."""
    one, two_threads, two_processes = [], [], []
    with _Pair(effort.seconds) as processes:
        step = ours.batch()
        for _ in range(effort.repeats):
            one.append(rate(step, effort.seconds))
            two_threads.append(_threads(effort.seconds))
            two_processes.append(processes.rate())
    return [
        Row("threads", "two threads, a batch each, over one", "times", _over(two_threads, one), 1.8),
        Row("processes", "two processes, a batch each, over one", "times", _over(two_processes, one), 1.8),
    ]


def _over(many: list[float], one: list[float]) -> tuple[float, ...]:
    return tuple(a / b for a, b in zip(many, one, strict=True))


def _threads(seconds: float) -> float:
    """Decisions a second of two threads together."""
    found: list[float] = []
    barrier = threading.Barrier(2)
    work = [threading.Thread(target=_play, args=(ours.batch(), seconds, barrier, found.append)) for _ in range(2)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return sum(found)


def _play(step: Callable[[], int], seconds: float, barrier: Barrier, tell: Callable[[float], Any]) -> None:
    """Play from the moment when everybody is ready."""
    step()
    barrier.wait()
    tell(rate(step, seconds))


class _Pair:
    """Two processes that play whenever they are asked to."""

    def __init__(self, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.barrier = barrier = context.Barrier(2)
        pipes = [context.Pipe() for _ in range(2)]
        self.ends = [near for near, _ in pipes]
        self.work = [context.Process(target=_serve, args=(far, seconds, barrier), daemon=True) for _, far in pipes]

    def __enter__(self) -> _Pair:
        for process in self.work:
            process.start()
        self.rate()  # until both have loaded the engine
        return self

    def __exit__(self, *error: object) -> None:
        for end in self.ends:
            end.send(False)
        for process in self.work:
            process.join()

    def rate(self) -> float:
        """Decisions a second of both together."""
        for end in self.ends:
            end.send(True)
        return float(sum(end.recv() for end in self.ends))


def _serve(end: Any, seconds: float, barrier: Barrier) -> None:
    step = ours.batch()
    while end.recv():
        _play(step, seconds, barrier, end.send)


def memory_rows() -> list[Row]:
    """Bytes of a table's record, and of everything that a batch keeps for a table beside observation and mask."""
    game = ours.new_batch("points", 2, 4096)
    arrays = {name: value for name, value in vars(game).items() if isinstance(value, np.ndarray) and value.ndim}
    shown = sum(arrays.pop(name).nbytes for name in ("observations", "action_masks"))
    kept = sum(array.nbytes for array in arrays.values())
    bytes_of = {"record": game.tables.itemsize, "kept": kept / game.num_tables, "shown": shown / game.num_tables}
    return [
        Row("bytes_record", "a table's record", "bytes", (bytes_of["record"],), KILOBYTE, "less"),
        Row("bytes_kept", "a table's record, results, seats and players", "bytes", (bytes_of["kept"],)),
        Row("bytes_shown", "a table's observation and mask", "bytes", (bytes_of["shown"],)),
    ]
