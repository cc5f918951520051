"""Checks that measurements run and say what they measured, that docs/performance.md is theirs, and that speed's causes stay."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tonk_env.batch import Batch
from tonk_env.kernels.bits import COMPILED
from tonk_env.kernels.one import do
from tonk_env.kernels.tree import walk
from tonk_env.replay import check_hand, play_on
from tonk_env.rules import PRESETS
from tonk_env.table import Table
from tonk_env.tree import build_tree

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
import peers  # noqa: E402 (these lie in benchmarks/)
import report  # noqa: E402
import throughput  # noqa: E402
from measuring import Row, verdict  # noqa: E402

needs_compiler = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
FACTS = {"processor", "cores", "platform", "python", "load", "versions", "commit", "date"}


def results_of(script: Any, path: Path, *arguments: str) -> Any:
    assert script.main(["--quick", "--json", str(path), *arguments]) == 0
    results = json.loads(path.read_text(encoding="utf-8"))
    assert all(set(results[part]["machine"]) == FACTS for part in results if part != "format")
    return results


# ----- the scripts


def test_throughput_measures_every_group_and_draws_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "growth.png"
    results = results_of(throughput, tmp_path / "all.json", "--plot", str(picture))
    groups = results["throughput"]["groups"]
    assert list(groups) == list(throughput.GROUPS)
    rows = [Row.from_dict(row) for group in groups.values() for row in group]
    assert len({row.key for row in rows}) == len(rows) > 30
    assert all(row.median > 0 for row in rows if row.runs)
    assert all(row.note for row in rows if not row.runs)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert all(row.what.split()[0] in capsys.readouterr().out for row in rows[:1])


def test_peers_measures_ours_and_names_what_is_missing(tmp_path: Path) -> None:
    results = results_of(peers, tmp_path / "all.json")["peers"]
    rates = {row["key"]: row for row in results["rates"]}
    assert set(rates) == set(peers.OURS) | set(peers.NAMES)
    assert all(rates[key]["median"] > 0 for key in peers.OURS)
    assert all(row["runs"] or row["note"] == "not installed" for row in rates.values())
    assert len(results["ratios"]) == len(peers.COMPARED)


def test_training_measures_in_a_process_of_its_own_and_keeps_other_sections(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text('{"format": 1, "peers": {}}', encoding="utf-8")
    command = [sys.executable, "benchmarks/training.py", "--quick", "--threads", "1", "--json", str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    results = json.loads(path.read_text(encoding="utf-8"))
    assert results["peers"] == {}
    measured = results["training"]["threads"]["1"]
    assert {row["key"] for row in measured["rows"]} > {"selfplay", "free", "library", "bare", "selfplay/free"}
    assert set(measured["shares"]) == {"env", "opponents", "policy", "update"}
    assert sum(measured["shares"].values()) == pytest.approx(1)


def test_a_row_says_whether_it_meets_its_target() -> None:
    more, less = Row("a", "a", "s", (3.0, 1.0, 2.0), 2.0), Row("a", "a", "s", (3.0, 1.0, 2.0), 1.9, "less")
    assert (more.median, more.met, less.met) == (2.0, True, False)
    assert [verdict(row) for row in (more, less, Row("a", "a", "s", (1.0,)), Row("a", "a", "s", (), 1.0))] == [
        "met", "missed", "", "not measured",
    ]  # fmt: skip
    assert Row.from_dict(json.loads(json.dumps(less.to_dict()))) == less


# ----- the page


def test_the_page_holds_what_was_measured() -> None:
    text = report.PAGE.read_text(encoding="utf-8")
    assert report.rebuilt(text, report.read()) == text, "run `python benchmarks/report.py`"
    assert sorted(found["name"] for found in report.MARKED.finditer(text)) == sorted(report.TABLES)
    assert report.PLOT.is_file()


def test_every_miss_has_a_reason() -> None:
    missed = [row for row in report.all_rows(report.read()) if row.target is not None and not row.met]
    assert not [row.key for row in missed if "no reason" in report.why(row)], "add it to benchmarks/reasons.py"


# ----- causes of speed


@needs_compiler
def test_one_compiled_code_serves_single_tables_of_all_rule_sets() -> None:
    for name, rules in PRESETS.items():
        table = Table(rules, rules.min_players, seed=0)
        table.reset()
        table.step(int(table.legal_actions()[0]))
        assert len(do.signatures) == 1, name


@needs_compiler
def test_a_step_allocates_the_same_for_few_tables_as_for_many() -> None:
    code = (
        "import sys; from numba.core.runtime import rtsys; from tonk_env.batch import Batch\n"
        "def allocated(tables):\n"
        "    batch = Batch('rockets', 3, tables, seed=0); batch.reset(); actions = batch.choose_random()\n"
        "    before = rtsys.get_allocation_stats().alloc; batch.step(actions)\n"
        "    return rtsys.get_allocation_stats().alloc - before\n"
        "print(allocated(4), allocated(4), allocated(512))"
    )
    _, few, many = map(int, fresh(code, NUMBA_NRT_STATS="1").stdout.split())
    assert few == many


@needs_compiler
def test_a_second_process_finds_everything_compiled() -> None:
    code = (
        "import numpy as np; from tonk_env.batch import Batch; from tonk_env.kernels import many\n"
        "from tonk_env.table import Table\n"
        "batch = Batch('points', num_tables=2, seed=0); batch.reset(); batch.step(batch.choose_random())\n"
        "table = Table('points', seed=0); table.reset(); table.step(int(table.legal_actions()[0]))\n"
        "print(sum(many.step_rows.stats.cache_misses.values()), sum(many.step_rows.stats.cache_hits.values()))"
    )
    fresh(code)
    second = fresh(code)
    assert second.stdout.split() == ["0", "1"]
    assert "compiling" not in second.stderr


def test_who_waits_for_a_part_to_compile_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cold = {play_on, walk}
    monkeypatch.setattr("tonk_env.compiling.is_cold", lambda kernel: kernel in cold)
    table = Table("micro", seed=0)
    table.reset()
    while not table.over:
        table.step(int(table.legal_actions()[0]))
    assert table.last_hand is not None
    check_hand(table.last_hand)
    build_tree("micro")
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["tonk_env"] * 2
    assert "compiling what replays hands" in said[0]
    assert "compiling what writes down game trees" in said[1]
    cold.clear()
    check_hand(table.last_hand)
    assert capsys.readouterr().err == ""


@needs_compiler
def test_parts_of_kernels_run_only_inside_their_callers() -> None:
    # Handed to Numba's engine by themselves, parts would be emitted as they stand, and callers might run those copies.
    code = (
        "import numba; from numba.core.registry import cpu_target; from tonk_env.kernels.bits import kernel\n"
        "part = kernel(lambda x: x * 3 + 1)\n"
        "print(numba.njit(lambda x: part(x) + 1)(4))\n"
        "engine = cpu_target.target_context.codegen()._engine\n"
        "names = [found.fndesc.mangled_name for found in part.overloads.values()]\n"
        "print(len(names), sum(engine.is_symbol_defined(name) for name in names))"
    )
    assert fresh(code).stdout.split() == ["14", "1", "0"]


@needs_compiler
def test_no_view_of_an_array_is_counted_while_tables_are_stepped() -> None:
    # Counting is atomic: it waits for every write before it, at each table again.
    code = (
        "import numba, numpy as np; from tonk_env.batch import Batch; from tonk_env.kernels import many\n"
        "step = numba.njit(error_model='numpy')(many.step_rows.py_func)\n"
        "b = Batch('points', num_tables=2, seed=0); b.reset()\n"
        "step(b._rules, b._layouts, b.tables, b._outs, b._players, b._all, b.choose_random(), False, True, b.observations,\n"
        "     b.action_masks, b.seats, b.rewards)\n"
        "counted = {}\n"
        "for text in next(iter(step.inspect_llvm().values())).split('\\ndefine ')[1:]:\n"
        "    counted[text.split('{')[0].split('@')[1]] = text.count('NRT_incref')\n"
        "hot = [n for n in counted if any(part in n for part in ('write_view', 'view_of', 'deal_cards', 'advance'))]\n"
        "print(len(hot) > 2, sum(counted[name] for name in hot))"
    )
    assert fresh(code).stdout.split() == ["True", "0"]


def fresh(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python in a new process."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )


def test_what_a_step_writes_stays_where_it_was() -> None:
    batch = Batch("points", 2, 64, seed=0)
    batch.reset()
    arrays = {name: value for name, value in vars(batch).items() if isinstance(value, np.ndarray)}
    addresses = {name: array.ctypes.data for name, array in arrays.items()}
    for _ in range(20):
        batch.step(batch.choose_random())
    assert {name: vars(batch)[name].ctypes.data for name in arrays} == addresses
