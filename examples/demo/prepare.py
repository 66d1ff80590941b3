"""A graph of your own for the demo: an OGB raw folder or an npz becomes one npz with masks. Says clearly what is missing.

    python examples/demo/prepare.py FOLDER_OR_NPZ dataset.npz"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np

from pantile.data import NodeDataset, load_npz, save_npz
from pantile.errors import Error

PER_CLASS, VALIDATION = 20, 500
SPLITS = {"train_mask": "train.csv.gz", "val_mask": "valid.csv.gz", "test_mask": "test.csv.gz"}


class Unfit(Exception):
    """Data that the demo cannot use, and what it would take."""


def numbers(path: Path, dtype: type) -> np.ndarray:
    """A gzipped CSV file of numbers as a matrix."""
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=dtype, ndmin=2)


def read_ogb(folder: Path) -> NodeDataset:
    """The files of an OGB raw folder, and its split/ when there is one."""
    raw = folder / "raw" if (folder / "raw").is_dir() else folder
    needed = ("edge.csv.gz", "num-node-list.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")
    missing = [name for name in needed if not (raw / name).exists()]
    if missing:
        raise Unfit(f"{raw}: {', '.join(missing)} missing; an OGB raw folder for node classification has {', '.join(needed)}")
    nodes = int(numbers(raw / "num-node-list.csv.gz", np.int64).sum())
    x, y = numbers(raw / "node-feat.csv.gz", np.float32), numbers(raw / "node-label.csv.gz", np.float64)
    if x.shape[0] != nodes or y.shape[0] != nodes:
        raise Unfit(f"{raw}: num-node-list says {nodes} nodes, node-feat has {x.shape[0]} rows, node-label {y.shape[0]}")
    labels = np.where(np.isnan(y[:, 0]), -1, y[:, 0]).astype(np.int64)
    data = NodeDataset(np.ascontiguousarray(numbers(raw / "edge.csv.gz", np.int64).T), x, labels)
    for split in sorted((raw.parent / "split").glob("*")):
        if all((split / name).exists() for name in SPLITS.values()):
            for mask, name in SPLITS.items():
                flags = np.zeros(nodes, bool)
                flags[numbers(split / name, np.int64)[:, 0]] = True
                setattr(data, mask, flags)
            break
    return data


def add_split(data: NodeDataset, seed: int = 0) -> None:
    """Few labels of each class for training, some nodes for validation, the rest for the test."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(data.y >= 0))
    train = np.concatenate([order[data.y[order] == label][:PER_CLASS] for label in range(data.num_classes)])
    rest = order[~np.isin(order, train)]
    validation = rest[: min(VALIDATION, len(rest) // 3)]
    for mask, nodes in zip(SPLITS, (train, validation, rest[len(validation) :]), strict=True):
        flags = np.zeros(data.num_nodes, bool)
        flags[nodes] = True
        setattr(data, mask, flags)


def main() -> int:
    """Exit code 2 and one line on what is missing when the data does not fit."""
    source, target = Path(sys.argv[1]), sys.argv[2]
    try:
        data = read_ogb(source) if source.is_dir() else load_npz(source)
        if data.train_mask is None or data.val_mask is None or data.test_mask is None:
            add_split(data)
        if data.test_mask.sum() == 0 or data.train_mask.sum() == 0:
            raise Unfit(f"{source}: no labelled nodes are left for training and testing")
        data.graph()
        save_npz(target, data)
    except (Error, Unfit, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{data.num_nodes} nodes, {data.edge_index.shape[1]} edges, {data.x.shape[1]} features, {data.num_classes} classes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
