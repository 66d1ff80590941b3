"""What the layers share: reading their graph argument, self-loops with edge attributes, PyG's keyword arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import InvalidArgument
from ..torch.operators import edge_sum, on_edges
from ..torch.tensors import GraphTensors, as_graph, looped


def check_options(layer: str, options: dict[str, Any], aggr: tuple[str, ...] = ("add", "sum")) -> None:
    """PyG's MessagePassing arguments: what the fused operators do is accepted, anything else is refused by name."""
    allowed = {"flow": ("source_to_target",), "node_dim": (0, -2), "aggr": aggr}
    for key, value in options.items():
        if key not in allowed:
            raise InvalidArgument(f"{layer} has no argument {key!r}")
        if value not in allowed[key]:
            advice = "; pass edge_index.flip(0) instead" if key == "flow" else ""
            raise InvalidArgument(
                f"{layer}: {key}={value!r} is not supported; allowed: {', '.join(map(str, allowed[key]))}{advice}"
            )


def graph_of(edge_index: Any, x_src: Tensor, x_dst: Tensor | None, size: Any = None) -> tuple[GraphTensors, Any]:
    """(graph, values of a matrix or None). size: PyG's (sources, destinations)."""
    num_src = x_src.shape[0]
    num_dst = num_src if x_dst is None else x_dst.shape[0]
    if size is not None:
        num_src = num_src if size[0] is None else size[0]
        num_dst = num_dst if size[1] is None else size[1]
    return as_graph(edge_index, num_src, num_dst)


def _mask_of_loops(g: GraphTensors, sources: int, like: Tensor) -> Tensor:
    """1 for edges between two nodes, 0 for self-loops; [edges, 1] in the caller's order."""
    rows = g.ptr.shape[0] - 1
    src = on_edges(g, torch.arange(sources, dtype=torch.float64).unsqueeze(1), "src")
    dst = on_edges(g, torch.arange(rows, dtype=torch.float64).unsqueeze(1), "dst")
    return (src != dst).to(like.dtype)


def _loop_attr(g: GraphTensors, attr: Tensor, sources: int, fill: float | Tensor | str) -> Tensor:
    """Attributes [nodes, D] of the loops: a number, a row, or a reduction of the attributes that enter each node."""
    rows = g.ptr.shape[0] - 1
    nodes = min(rows, sources)
    if isinstance(fill, Tensor):
        return fill.to(attr.dtype).view(1, -1).expand(nodes, attr.shape[1])
    if not isinstance(fill, str):
        return attr.new_full((nodes, attr.shape[1]), float(fill))
    between = _mask_of_loops(g, sources, attr)
    if fill in ("add", "sum", "mean"):
        total = edge_sum(g, (attr * between,), (False, rows))
        if fill == "mean":
            total = total / edge_sum(g, (between,), (False, rows)).clamp(min=1)
        return total[:nodes]
    reductions = {"min": "amin", "max": "amax", "mul": "prod"}
    if fill not in reductions:
        raise InvalidArgument(f"fill_value {fill!r} is unknown; allowed: a number, a tensor, add, mean, min, max, mul")
    dst = on_edges(g, torch.arange(rows, dtype=torch.float64).unsqueeze(1), "dst").long()
    kept = between.squeeze(1) > 0
    start = attr.new_full((rows, attr.shape[1]), 1.0 if fill == "mul" else 0.0)
    index = dst[kept].expand(-1, attr.shape[1])
    return start.scatter_reduce(0, index, attr[kept], reductions[fill], include_self=fill == "mul")[:nodes]


def with_loops(
    g: GraphTensors, attr: Tensor | None, sources: int, fill: float | Tensor | str
) -> tuple[GraphTensors, Tensor | None, Tensor]:
    """(graph with every self-loop replaced by one loop per node, its edge attributes, origin of its edges)."""
    made, origin = looped(g)
    if attr is None:
        return made, None, origin
    rows = attr if attr.dim() == 2 else attr.reshape(attr.shape[0], -1)
    return made, torch.cat([rows, _loop_attr(g, rows, sources, fill)])[origin], origin


def attention_in_callers_order(
    g: GraphTensors, alpha: Tensor, origin: Tensor | None, loops: GraphTensors | None, sources: int
) -> tuple[Tensor, Tensor]:
    """PyG's (edge_index, alpha): the caller's edges without loops in their order, then the loops."""
    if origin is None or loops is None:
        return edge_index_of(g, sources), alpha
    by_origin = torch.argsort(origin)
    return edge_index_of(loops, sources)[:, by_origin], alpha[by_origin]


def edge_index_of(g: GraphTensors, sources: int) -> Tensor:
    """int64 [2, edges] in the caller's order."""
    rows = g.ptr.shape[0] - 1
    src = on_edges(g, torch.arange(sources, dtype=torch.float64).unsqueeze(1), "src")
    dst = on_edges(g, torch.arange(rows, dtype=torch.float64).unsqueeze(1), "dst")
    return torch.cat([src, dst], dim=1).long().t().contiguous()
