"""Builds a node-classification .npz from one graph of the planetoid collection in its plain form.

    python planetoid_to_npz.py FOLDER NAME OUT.npz

FOLDER holds NAME.edges.csv.gz (undirected pairs, each once), NAME.nodes.csv.gz (node, label, split) and
NAME.features_csr.npz (indptr, indices, data, shape). Every pair becomes two edges, a self-loop one; features stay as they
are: normalising them is the reader's choice.
"""

import csv
import gzip
import pathlib
import sys

import numpy as np


def read_edges(path: pathlib.Path) -> np.ndarray:
    """Both directions of every pair, [2, E]."""
    with gzip.open(path, "rt") as lines:
        pairs = np.loadtxt(lines, delimiter=",", dtype=np.int64, comments="#").reshape(-1, 2)
    back = pairs[pairs[:, 0] != pairs[:, 1]][:, ::-1]
    return np.ascontiguousarray(np.concatenate([pairs, back]).T)


def read_features(path: pathlib.Path) -> np.ndarray:
    """Dense float32, [N, F]."""
    with np.load(path) as arrays:
        rows, width = (int(n) for n in arrays["shape"])
        x = np.zeros((rows, width), np.float32)
        row = np.repeat(np.arange(rows), np.diff(arrays["indptr"]))
        x[row, arrays["indices"]] = arrays["data"]
    return x


def convert(folder: pathlib.Path, name: str, out: pathlib.Path) -> None:
    with gzip.open(folder / f"{name}.nodes.csv.gz", "rt") as lines:
        nodes = list(csv.DictReader(lines))
    y = np.array([int(n["label"]) if n["label"] not in ("", "-1") else -1 for n in nodes], np.int64)
    split = np.array([n["split"] for n in nodes])
    arrays = {
        "edge_index": read_edges(folder / f"{name}.edges.csv.gz"),
        "x": read_features(folder / f"{name}.features_csr.npz"),
        "y": y,
        "train_mask": split == "train",
        "val_mask": split == "val",
        "test_mask": split == "test",
    }
    for mask in ("train_mask", "val_mask", "test_mask"):
        if not arrays[mask].any():
            raise SystemExit(f"{name}: no node has the split of {mask}; splits are {sorted(set(split))}")
    np.savez_compressed(out, **arrays)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    convert(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]))
