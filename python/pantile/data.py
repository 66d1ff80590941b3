"""Data sets for node classification: the one npz form that the command line, the C++ layers and Python share."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from .errors import Corrupt, InvalidArgument, IoError
from .graph import Graph
from .inputs import edge_index_rows


@dataclass
class NodeDataset:
    """edge_index [2, E], x [N, F] float32, y [N] int64, and masks [N] bool (None when the file has no split)."""

    edge_index: np.ndarray
    x: np.ndarray
    y: np.ndarray
    train_mask: np.ndarray | None = None
    val_mask: np.ndarray | None = None
    test_mask: np.ndarray | None = None

    @property
    def num_nodes(self) -> int:
        """Rows of x."""
        return self.x.shape[0]

    @property
    def num_classes(self) -> int:
        """1 + the largest label."""
        return int(self.y.max(initial=-1)) + 1

    def graph(self) -> Graph:
        """The edges as a Graph."""
        return Graph.from_edge_index(self.edge_index, self.num_nodes)


def load_npz(path: str | os.PathLike[str]) -> NodeDataset:
    """Reads an npz with edge_index, x, y and optional train_mask, val_mask, test_mask. Errors name the array and its
    shape."""
    name = os.fspath(path)
    try:
        with np.load(name, allow_pickle=False) as file:
            wanted = ("edge_index", "x", "y", "train_mask", "val_mask", "test_mask")
            arrays = {key: file[key] for key in wanted if key in file.files}
            found = list(file.files)
    except FileNotFoundError as error:
        raise IoError(f"{name}: no such file") from error
    except IsADirectoryError as error:
        raise IoError(f"{name} is a directory; expected an npz file") from error
    except Exception as error:
        raise Corrupt(f"{name} is not a readable npz file: {error}") from error
    for key in ("edge_index", "x", "y"):
        if key not in arrays:
            raise InvalidArgument(f"{name}: array {key!r} is missing (found: {', '.join(found) or 'none'})")
    x, y = arrays["x"], arrays["y"]
    if x.ndim != 2 or x.dtype.kind not in "fiub":
        raise InvalidArgument(f"{name}: x has shape {x.shape} and dtype {x.dtype}; expected floats [nodes, features]")
    if y.dtype.kind not in "iu" or y.shape != (x.shape[0],):
        raise InvalidArgument(
            f"{name}: y has shape {y.shape} and dtype {y.dtype}; expected integers [{x.shape[0]}], one class per node"
        )
    src, dst = edge_index_rows(arrays["edge_index"])
    masks = {}
    for key in ("train_mask", "val_mask", "test_mask"):
        if key in arrays:
            mask = arrays[key]
            if mask.shape != (x.shape[0],):
                raise InvalidArgument(
                    f"{name}: {key} has shape {mask.shape}; expected [{x.shape[0]}], one flag per node"
                )
            masks[key] = mask.astype(bool)
    return NodeDataset(
        np.stack([src, dst]).astype(np.int64, copy=False),
        np.ascontiguousarray(x, np.float32),
        y.astype(np.int64),
        **masks,
    )


def save_npz(path: str | os.PathLike[str], data: NodeDataset) -> None:
    """Writes the form that load_npz reads: to a temporary name, fsynced, renamed."""
    name = os.fspath(path)
    arrays = {key: value for key, value in vars(data).items() if value is not None}
    temporary = f"{name}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise IoError(f"{name}: {error.strerror}") from error
