"""Records what torch-geometric's layers give on one small graph: golden/nn_layers.json, read by nn/parity_test.cpp.

    python record_nn_golden.py OUT.json

The graph has a duplicate edge, a self-loop and an isolated node; everything is float64.
"""

import json
import pathlib
import sys

import torch
import torch_geometric.nn as pyg

NODES, WIDTH, OUT, HEADS = 9, 5, 3, 2
SRC = [0, 1, 1, 2, 3, 3, 3, 4, 5, 6, 7, 2, 0]
DST = [1, 0, 2, 3, 3, 4, 4, 5, 0, 7, 6, 7, 6]


def flat(tensor: torch.Tensor) -> list[float]:
    return tensor.detach().reshape(-1).tolist()


def record() -> dict:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    edges = torch.tensor([SRC, DST])
    x = torch.randn(NODES, WIDTH)
    inner = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4), torch.nn.ReLU(), torch.nn.Linear(4, OUT))
    layers = {
        "gcn": pyg.GCNConv(WIDTH, OUT),
        "gcn_wide": pyg.GCNConv(WIDTH, 8),
        "sage_mean": pyg.SAGEConv(WIDTH, OUT),
        "sage_max": pyg.SAGEConv(WIDTH, OUT, aggr="max"),
        "sage_sum": pyg.SAGEConv(WIDTH, 8, aggr="sum"),
        "gin": pyg.GINConv(inner, eps=0.25),
        "gat_concat": pyg.GATConv(WIDTH, OUT, heads=HEADS),
        "gat_mean": pyg.GATConv(WIDTH, OUT, heads=HEADS, concat=False),
        "gatv2_concat": pyg.GATv2Conv(WIDTH, OUT, heads=HEADS),
        "gatv2_mean": pyg.GATv2Conv(WIDTH, OUT, heads=HEADS, concat=False),
        "transformer_concat": pyg.TransformerConv(WIDTH, OUT, heads=HEADS),
        "transformer_mean": pyg.TransformerConv(WIDTH, OUT, heads=HEADS, concat=False),
        "agnn": pyg.AGNNConv(),
    }
    cases = {}
    for name, layer in layers.items():
        for parameter in layer.parameters():  # biases start at 0, which would hide an error in them
            if parameter.dim() == 1:
                torch.nn.init.normal_(parameter)
        leaf = x.clone().requires_grad_()
        y = layer(leaf, edges)
        weights = torch.randn_like(y)
        (y * weights).sum().backward()
        cases[name] = {
            "parameters": {key: flat(p) for key, p in layer.named_parameters()},
            "gradients": {key: flat(p.grad) for key, p in layer.named_parameters() if p.grad is not None},
            "dy": flat(weights),
            "y": flat(y),
            "dx": flat(leaf.grad),
        }
    return {"nodes": NODES, "width": WIDTH, "out": OUT, "heads": HEADS, "src": SRC, "dst": DST, "x": flat(x), "cases": cases}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record(), separators=(",", ":")) + "\n")
