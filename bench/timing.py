"""Interleaved timing: every contestant is called once per round, and only minima and ratios are reported.

Machines are shared and noisy, so the noise is measured with the contestants: one of them runs twice under two names,
and the spread of that ratio, which should be 1, is what `compare.py` holds wins against.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable

WARM_BELOW_S = 4e-3  # shorter calls are repeated once untimed: the contestant before them emptied the caches


def interleave(
    contestants: dict[str, Callable[[], object]], budget_s: float, least_rounds: int = 5
) -> dict[str, float]:
    """Seconds of the fastest call of each; rounds go on until the budget is spent and `least_rounds` are done."""
    best = {}
    for name, call in contestants.items():  # first calls build caches and plans; they are not counted
        start = time.perf_counter()
        call()
        best[name] = time.perf_counter() - start
    measured = dict.fromkeys(contestants, math.inf)
    order, shuffled = list(contestants.items()), random.Random(0)  # who runs after whom decides what caches hold
    enabled = gc.isenabled()
    gc.disable()
    try:
        rounds, begin = 0, time.perf_counter()
        while rounds < least_rounds or time.perf_counter() - begin < budget_s:
            rounds += 1
            shuffled.shuffle(order)
            for name, call in order:
                if min(best[name], measured[name]) < WARM_BELOW_S:
                    call()
                start = time.perf_counter()
                call()
                measured[name] = min(measured[name], time.perf_counter() - start)
            if (
                time.perf_counter() - begin > 8 * budget_s and rounds >= 3
            ):  # a very slow rival must not hold up the rest
                break
    finally:
        if enabled:
            gc.enable()
    return measured


def geomean(values) -> float | None:
    """Geometric mean of positive numbers; None for none."""
    values = [v for v in values if v is not None]
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None
