"""Prints what the demo found: accuracy with and without the graph, agreement of C++ and PyTorch, time per epoch against plain torch."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

NAMES = {"mlp": "MLP, no graph", "gcn": "GCN", "gat": "GAT"}
RIVALS = {
    "gcn": {"plain_gcn_sparse_mm": "torch.sparse.mm", "plain_gcn_scatter": "gather + index_add"},
    "gat": {"plain_gat_scatter": "gather + index_add"},
}


def mean_and_spread(values: list) -> tuple:
    """Mean and sample standard deviation."""
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def agree(a: list, b: list) -> tuple:
    """(difference of means, bound within which it is noise): three standard errors, and half a point for the few seeds."""
    (mean_a, spread_a), (mean_b, spread_b) = mean_and_spread(a), mean_and_spread(b)
    return mean_a - mean_b, 3 * (spread_a**2 / len(a) + spread_b**2 / len(b)) ** 0.5 + 0.005


def accuracies(halves: dict, seeds: int) -> bool:
    """The table of accuracies; True when every network with a graph beats the one without."""
    print(f"test accuracy, mean and spread (standard deviation) over {seeds} seeds")
    better = True
    for half, result in halves.items():
        for model, values in result["test_accuracy"].items():
            mean, spread = mean_and_spread(values)
            line = f"  {half:8s} {NAMES[model]:14s} {100 * mean:6.2f} % +- {100 * spread:.2f}"
            if model != "mlp":
                gain = mean - statistics.mean(result["test_accuracy"]["mlp"])
                better = better and gain > 0
                line += f"   {100 * gain:+.2f} over the same network without the graph"
            print(line)
    return better


def agreement(halves: dict) -> bool:
    """Whether both halves found the same, within noise."""
    same = True
    for model in halves["C++"]["test_accuracy"]:
        difference, bound = agree(*(halves[half]["test_accuracy"][model] for half in ("C++", "PyTorch")))
        verdict = "within noise" if abs(difference) <= bound else "MORE THAN NOISE"
        same = same and abs(difference) <= bound
        print(f"  {NAMES[model]:14s} C++ - PyTorch {100 * difference:+.2f} points, noise {100 * bound:.2f}: {verdict}")
    return same


def times(halves: dict) -> None:
    """Seconds of one training epoch: ours in C++ and in PyTorch, and plain torch."""
    print("\ntime of one training epoch (forward, backward, update) on one thread")
    torch = halves.get("PyTorch", {}).get("seconds_per_epoch", {})
    for model in halves["C++"]["seconds_per_epoch"]:
        print(f"  {NAMES[model]:14s} C++ {1e3 * halves['C++']['seconds_per_epoch'][model]:8.1f} ms", end="")
        if model in torch:
            print(f"   PyTorch {1e3 * torch[model]:8.1f} ms", end="")
            for rival, name in RIVALS.get(model, {}).items():
                print(f"   {name} {1e3 * torch[rival]:.1f} ms ({torch[rival] / torch[model]:.1f} x)", end="")
        print()


def main() -> int:
    """Exit code 1 when a graph did not help or the two halves disagree."""
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    halves = document["halves"]
    good = accuracies(halves, document["seeds"])
    if "PyTorch" in halves:
        print()
        good = agreement(halves) and good
    else:
        print("\n  no torch here: the PyTorch half is left out")
    times(halves)
    if not good:
        print("\nthe graph did not help, or the halves disagree: on data of your own that can be the truth", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
