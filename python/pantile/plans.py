"""Profile, plan, run, explain: what the cost model says of a graph, and how it comes out."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from . import _core
from .graph import Graph
from .operands import dtype_code


@lru_cache(maxsize=8)
def machine_peaks(threads: int = 0) -> dict[str, float]:
    """Measured copy, gather and arithmetic peaks of this machine (about a second, once per thread count)."""
    return _core.measure_peaks(threads)


class Plan:
    """A graph made ready for operators, with forecasts for the operators asked about. Printable, comparable, JSON."""

    def __init__(self, graph: Graph, forecasts: list[Any]) -> None:
        self.graph = graph
        self._forecasts = forecasts

    @property
    def forecasts(self) -> list[dict[str, Any]]:
        """One dict per operator: bytes, bound, path, reason, predicted (and measured, roofline) seconds; -1 means not
        measured."""
        return [f.as_dict() for f in self._forecasts]

    def measured(self, budget_seconds: float = 0.2) -> Plan:
        """The same plan with measured times, within the budget per operator."""
        return Plan(self.graph, [_core.measure(self.graph._core, f, budget_seconds) for f in self._forecasts])

    def to_json(self) -> str:
        """Plan and forecasts as one JSON document."""
        return _core.plan_json(self.graph._core, self._forecasts)

    def as_dict(self) -> dict[str, Any]:
        """The same as Python objects."""
        return json.loads(self.to_json())

    def explain(self) -> str:
        """For people: predicted against measured, and the reason for each choice."""
        return _core.explain(self.graph._core, self._forecasts)

    def __str__(self) -> str:
        return self.explain()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Plan)
            and self.graph.fingerprint() == other.graph.fingerprint()
            and self.forecasts == other.forecasts
        )

    __hash__ = None  # type: ignore[assignment]


def plan(
    graph: Any,
    ops: tuple[str, ...] | str = ("spmm",),
    widths: tuple[int, ...] | int = (64,),
    dtype: str = "float32",
    threads: int = 0,
    peaks: dict[str, float] | None = None,
) -> Plan:
    """What each operator will cost on this graph. Runs no operator; measures the machine's peaks once unless they are
    given."""
    g = Graph.of(graph)
    names = (ops,) if isinstance(ops, str) else ops
    sizes = (widths,) if isinstance(widths, int) else widths
    known = machine_peaks(threads) if peaks is None else peaks
    code = dtype_code(dtype, "plan")
    return Plan(g, [_core.forecast(g._core, op, width, code, known, threads) for op in names for width in sizes])


def explain(
    graph: Any, ops: tuple[str, ...] | str = ("spmm",), widths: tuple[int, ...] | int = (64,), measure: bool = True
) -> str:
    """plan(...), measured when asked, as text."""
    made = plan(graph, ops, widths)
    return (made.measured() if measure else made).explain()
