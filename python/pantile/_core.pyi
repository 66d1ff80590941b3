from typing import Any

import numpy as np

from .operands import Operand

__version__: str

class Graph:
    @staticmethod
    def from_edges(src: np.ndarray, dst: np.ndarray, num_dst: int, num_src: int) -> Graph: ...
    @staticmethod
    def from_csr(rows: int, cols: int, ptr: np.ndarray, col: np.ndarray) -> Graph: ...
    def set_order(self, order: np.ndarray) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    @property
    def edges(self) -> int: ...
    def ptr(self) -> np.ndarray: ...
    def col(self) -> np.ndarray: ...
    def order(self) -> np.ndarray: ...
    def transposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def fingerprint(self) -> str: ...
    def prepare(self) -> None: ...
    def profile(self) -> dict[str, Any]: ...
    def with_self_loops(self) -> tuple[Graph, np.ndarray]: ...
    def with_remaining_self_loops(self) -> tuple[Graph, np.ndarray]: ...
    def without_self_loops(self) -> tuple[Graph, np.ndarray]: ...
    def reversed(self) -> tuple[Graph, np.ndarray]: ...
    def symmetrised(self) -> tuple[Graph, np.ndarray]: ...
    def coalesce(self, weights: Operand | None, how: int) -> tuple[Graph, np.ndarray]: ...
    def reorder(self, how: int) -> tuple[Graph, np.ndarray, np.ndarray]: ...

class GcnCoefficients: ...

class Forecast:
    def as_dict(self) -> dict[str, Any]: ...

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def borrow_openmp_threads() -> bool: ...
def advise_huge_pages(address: int, bytes: int) -> None: ...
def cpu_info() -> dict[str, Any]: ...
def hash_bytes(address: int, bytes: int) -> str: ...
def measure_peaks(threads: int) -> dict[str, float]: ...
def read_graph(
    path: str, format: str, num_nodes: int, undirected: bool, base: int
) -> tuple[Graph, np.ndarray | None]: ...
def map_graph(path: str) -> tuple[Graph, np.ndarray | None]: ...
def write_graph(path: str, graph: Graph, weights: Operand | None, format: str) -> None: ...
def generate_rmat(scale: int, edge_factor: int, a: float, b: float, c: float, simple: bool, seed: int) -> Graph: ...
def generate_community(
    nodes: int, degree: int, community: int, inside: float, scramble: bool, simple: bool, seed: int
) -> Graph: ...
def generate_sbm(
    nodes: int, blocks: int, degree_in: float, degree_out: float, seed: int
) -> tuple[Graph, list[int]]: ...
def generate_grid(width: int, height: int, neighbours: int) -> Graph: ...
def nearest_neighbours(x: Operand, k: int, metric: int, symmetric: bool, progress: bool) -> Graph: ...
def spmm(
    graph: Graph, by_column: bool, reduce: int, x: Operand, w: Operand | None, y: Operand, threads: int = 0
) -> None: ...
def spmm_arg(
    graph: Graph, reduce: int, x: Operand, w: Operand | None, y: Operand, arg: Operand, threads: int = 0
) -> None: ...
def spmm_grad(
    graph: Graph,
    reduce: int,
    x: Operand | None,
    w: Operand | None,
    dy: Operand,
    arg: Operand | None,
    dx: Operand | None,
    dw: Operand | None,
    threads: int = 0,
) -> None: ...
def segment_reduce(ptr: int, segments: int, reduce: int, x: Operand, y: Operand, threads: int = 0) -> None: ...
def edge_reduce(graph: Graph, by_column: bool, reduce: int, e: Operand, y: Operand, threads: int = 0) -> None: ...
def gcn_coefficients(
    graph: Graph, norm: int, loop_weight: float, w: Operand | None, dtype: int, threads: int = 0
) -> GcnCoefficients: ...
def gcn(
    graph: Graph,
    by_column: bool,
    coefficients: GcnCoefficients,
    x: Operand,
    bias: int,
    activation: int,
    slope: float,
    y: Operand,
    threads: int = 0,
) -> None: ...
def sddmm(
    graph: Graph,
    op: int,
    lhs_target: int,
    lhs: Operand | None,
    rhs_target: int,
    rhs: Operand | None,
    heads: int,
    out: Operand,
    threads: int = 0,
) -> None: ...
def edge_softmax(graph: Graph, by_column: bool, z: Operand, p: Operand, threads: int = 0) -> None: ...
def edge_softmax_grad(
    graph: Graph, by_column: bool, p: Operand, dp: Operand, dz: Operand, threads: int = 0
) -> None: ...
def dropout_factors(graph: Graph, p: float, seed: int, out: Operand) -> None: ...
def gat(
    graph: Graph,
    a_src: Operand,
    a_dst: Operand,
    a_edge: Operand | None,
    v: Operand,
    heads: int,
    slope: float,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    threads: int = 0,
) -> None: ...
def gat_grad(
    graph: Graph,
    a_src: Operand,
    a_dst: Operand,
    a_edge: Operand | None,
    v: Operand,
    heads: int,
    slope: float,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    dy: Operand,
    da_src: Operand,
    da_dst: Operand,
    da_edge: Operand | None,
    dv: Operand,
    threads: int = 0,
) -> None: ...
def gatv2(
    graph: Graph,
    l: Operand,
    r: Operand,
    e: Operand | None,
    a: Operand,
    heads: int,
    slope: float,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    threads: int = 0,
) -> None: ...
def gatv2_grad(
    graph: Graph,
    l: Operand,
    r: Operand,
    e: Operand | None,
    a: Operand,
    heads: int,
    slope: float,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    dy: Operand,
    dl: Operand,
    dr: Operand,
    de: Operand | None,
    da: Operand,
    threads: int = 0,
) -> None: ...
def transformer(
    graph: Graph,
    q: Operand,
    k: Operand,
    v: Operand,
    e: Operand | None,
    heads: int,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    threads: int = 0,
) -> None: ...
def transformer_grad(
    graph: Graph,
    q: Operand,
    k: Operand,
    v: Operand,
    e: Operand | None,
    heads: int,
    dropout: tuple[float, int],
    y: Operand,
    lse: Operand,
    dy: Operand,
    dq: Operand,
    dk: Operand,
    dv: Operand,
    de: Operand | None,
    threads: int = 0,
) -> None: ...
def agnn(graph: Graph, x: Operand, beta: float, y: Operand, lse: Operand, threads: int = 0) -> None: ...
def agnn_grad(
    graph: Graph, x: Operand, beta: float, y: Operand, lse: Operand, dy: Operand, dx: Operand, threads: int = 0
) -> float: ...
def forecast(graph: Graph, op: str, width: int, dtype: int, peaks: dict[str, float], threads: int) -> Forecast: ...
def measure(graph: Graph, forecast: Forecast, budget_seconds: float) -> Forecast: ...
def explain(graph: Graph, forecasts: list[Forecast]) -> str: ...
def plan_json(graph: Graph, forecasts: list[Forecast]) -> str: ...
def plan_summary(graph: Graph) -> dict[str, Any]: ...
def gather_roofline(graph: Graph, x: Operand, threads: int = 0) -> None: ...
