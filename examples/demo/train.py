"""The PyTorch half of the demo: MLP, GCN and GAT of two layers, trained with pantile.nn; then the time of one epoch against plain torch.

Writes one JSON document; progress goes to stderr."""

from __future__ import annotations

import argparse
import json
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, dropout

from pantile.data import load_npz
from pantile.nn import GATConv, GCNConv

from plain import PlainGAT, PlainGCN


class TwoLayers(nn.Module):
    """dropout, layer, activation, dropout, layer: the network of `pantile sparse train`."""

    def __init__(self, first: nn.Module, second: nn.Module, activation: nn.Module, probability: float, input_probability: float):
        super().__init__()
        self.first, self.second, self.activation = first, second, activation
        self.probability, self.input_probability = probability, input_probability

    def forward(self, x: torch.Tensor, *graph) -> torch.Tensor:
        """Logits [nodes, classes]; `graph` is what the layers take besides features."""
        x = dropout(x, self.input_probability, self.training)
        x = self.activation(self.first(x, *graph))
        return self.second(dropout(x, self.probability, self.training), *graph)


class LinearOnly(nn.Linear):
    """A layer that does not look at the graph."""

    def forward(self, x: torch.Tensor, *graph) -> torch.Tensor:
        return super().forward(x)


def make_network(kind: str, features: int, classes: int, options: argparse.Namespace) -> TwoLayers:
    """mlp, gcn or gat with pantile.nn, plain_gcn_* or plain_gat with torch alone."""
    hidden, heads = options.hidden, options.heads
    inner = hidden * heads
    layers = {
        "mlp": lambda: (LinearOnly(features, hidden), LinearOnly(hidden, classes)),
        "gcn": lambda: (GCNConv(features, hidden), GCNConv(hidden, classes)),
        "gat": lambda: (GATConv(features, hidden, heads=heads), GATConv(inner, classes, heads=1, concat=False)),
        "plain_gcn_scatter": lambda: (PlainGCN(features, hidden, "scatter"), PlainGCN(hidden, classes, "scatter")),
        "plain_gcn_sparse_mm": lambda: (PlainGCN(features, hidden, "sparse_mm"), PlainGCN(hidden, classes, "sparse_mm")),
        "plain_gat_scatter": lambda: (PlainGAT(features, hidden, heads), PlainGAT(inner, classes, 1)),
    }
    activation = nn.ELU() if "gat" in kind else nn.ReLU()
    return TwoLayers(*layers[kind](), activation, options.dropout, options.input_dropout)


class Task:
    """The data set as tensors, and one epoch of training on it."""

    def __init__(self, path: str):
        data = load_npz(path)
        self.x, self.y = torch.from_numpy(data.x), torch.from_numpy(data.y)
        self.masks = [torch.from_numpy(mask) for mask in (data.train_mask, data.val_mask, data.test_mask)]
        self.edge_index, self.graph, self.classes = torch.from_numpy(data.edge_index), data.graph(), data.num_classes

    def epoch(self, model: nn.Module, optimizer: torch.optim.Optimizer, *graph) -> None:
        """Forward, backward, update."""
        model.train()
        optimizer.zero_grad()
        train = self.masks[0]
        cross_entropy(model(self.x, *graph)[train], self.y[train]).backward()
        optimizer.step()

    @torch.no_grad()
    def scores(self, model: nn.Module, *graph) -> tuple:
        """(validation accuracy, minus validation loss, test accuracy): the first two choose the best epoch."""
        model.eval()
        logits = model(self.x, *graph)
        right = logits.argmax(1) == self.y
        _, validation, test = self.masks
        loss = cross_entropy(logits[validation], self.y[validation]).item()
        return right[validation].float().mean().item(), -loss, right[test].float().mean().item()


def adam(model: nn.Module, options: argparse.Namespace) -> torch.optim.Adam:
    """The optimiser of both halves."""
    return torch.optim.Adam(model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)


def train(task: Task, kind: str, seed: int, options: argparse.Namespace) -> float:
    """Test accuracy at the epoch that was best on the validation nodes."""
    torch.manual_seed(seed)
    model = make_network(kind, task.x.shape[1], task.classes, options)
    optimizer = adam(model, options)
    best = (-1.0, 0.0, 0.0)
    for _ in range(options.epochs):
        task.epoch(model, optimizer, task.graph)
        best = max(best, task.scores(model, task.graph), key=lambda scores: scores[:2])
    return best[2]


def seconds_per_epoch(task: Task, kinds: list, rounds: int, options: argparse.Namespace) -> dict:
    """Minimum time of a training epoch of each network; the networks take turns, so that noise meets all of them."""
    runs = {}
    for kind in kinds:
        model = make_network(kind, task.x.shape[1], task.classes, options)
        graph = task.edge_index if kind.startswith("plain") else task.graph
        runs[kind] = (model, adam(model, options), graph)
    best = dict.fromkeys(kinds, float("inf"))
    for at in range(rounds + 1):
        for kind, (model, optimizer, graph) in runs.items():
            start = time.perf_counter()
            task.epoch(model, optimizer, graph)
            if at:  # the first epoch makes plans and caches
                best[kind] = min(best[kind], time.perf_counter() - start)
    return best


def main() -> int:
    """Trains every network with every seed, then measures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="an npz with edge_index, x, y and the three masks")
    parser.add_argument("--out", required=True, help="where the JSON document goes")
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each network; 0: none")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--input-dropout", type=float, default=0.0)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="epochs that are timed; 0: none")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)  # Pantile follows
    task = Task(options.data)
    accuracy = {}
    for kind in ("mlp", "gcn", "gat") if options.seeds else ():
        accuracy[kind] = [train(task, kind, seed, options) for seed in range(options.seeds)]
        print(f"{kind}: {' '.join(f'{value:.4f}' for value in accuracy[kind])}", file=sys.stderr, flush=True)
    kinds = ["mlp", "gcn", "plain_gcn_sparse_mm", "plain_gcn_scatter", "gat", "plain_gat_scatter"]
    seconds = seconds_per_epoch(task, kinds, options.rounds, options) if options.rounds else {}
    document = {"test_accuracy": accuracy, "seconds_per_epoch": seconds, "torch": torch.__version__}
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
