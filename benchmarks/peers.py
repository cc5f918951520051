"""Measures Tonk beside card games of other libraries, in turns, in one run: `python benchmarks/peers.py`.

Nothing is installed: what can be imported is measured. `make bench-peers` makes an environment that has all of them.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import ours
import theirs
from measuring import Effort, Row, Stepper, alternating, console, machine, ratios, show, write_section

OURS: dict[str, tuple[str, Callable[[], Stepper]]] = {
    "batch": ("Tonk, batch, mask and observation", lambda: ours.batch()),
    "table": ("Tonk, one Table from Python, mask and observation", lambda: ours.table()),
    "aec": ("Tonk, tonk_v0.env(), last()", lambda: ours.aec()),
}
NAMES = {
    "spiel_gin": "OpenSpiel gin rummy from Python, mask and observation",
    "spiel_eights": "OpenSpiel crazy eights from Python, mask and observation",
    "spiel_eights_inside": "OpenSpiel crazy eights inside C++, without either",
    "rlcard_gin": "RLCard gin rummy, legal actions and observation",
    "pettingzoo_gin": "PettingZoo gin_rummy_v4, last()",
}
COMPARED = (  # ours, theirs, how many times as fast ours should be
    ("batch", "spiel_gin", 200.0),
    ("batch", "spiel_eights", 20.0),
    ("batch", "spiel_eights_inside", 4.0),
    ("batch", "rlcard_gin", None),
    ("table", "spiel_eights", 1.0),
    ("aec", "pettingzoo_gin", 20.0),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print two tables, and write them to a file if one is named."""
    parser = argparse.ArgumentParser(description="Measure Tonk beside card games of other libraries, in one run.")
    parser.add_argument("--quick", action="store_true", help="very short runs: only shows that everything works")
    parser.add_argument("--json", type=Path, help="file whose section `peers` is written")
    given = parser.parse_args(arguments)
    effort, before, screen = Effort.of(given.quick), machine(), console()
    makers = theirs.available()
    steppers: dict[str, Stepper] = {key: make() for key, (_, make) in OURS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other libraries
        steppers.update({key: make() for key, make in makers.items()})
        found = alternating(steppers, effort, lambda text: screen.print(text, style="dim"))
    rows, compared = rate_rows(found), ratio_rows(found)
    show(rows, "Decisions a second, random legal play, one core", screen)
    show(compared, "How many times as fast, median of the rounds", screen)
    if given.json:
        write_section(
            given.json, "peers", effort, before, rates=[r.to_dict() for r in rows], ratios=[r.to_dict() for r in compared]
        )
    return 0


def rate_rows(found: dict[str, tuple[float, ...]]) -> list[Row]:
    """A row for everything that was measured and for every library that is missing."""
    names = {key: name for key, (name, _) in OURS.items()} | NAMES
    return [
        Row(key, name, "decisions/s", found.get(key, ()), note="" if key in found else "not installed")
        for key, name in names.items()
    ]


def ratio_rows(found: dict[str, tuple[float, ...]]) -> list[Row]:
    """A row for every comparison."""
    rows = []
    for mine, other, target in COMPARED:
        both = mine in found and other in found
        runs = ratios(found[mine], found[other]) if both else ()
        what = f"{OURS[mine][0]} / {NAMES[other]}"
        rows.append(Row(f"{mine}/{other}", what, "times", runs, target, note="" if both else "not installed"))
    return rows


if __name__ == "__main__":
    sys.exit(main())
