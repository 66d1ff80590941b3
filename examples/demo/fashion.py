"""Fashion-MNIST as the demo takes it: 2x2 averages of the images as rows of bytes, labels, and a split with few labels.

Reads Debian's package dataset-fashion-mnist. Only the standard library, so that the C++ half of the demo needs nothing else."""

from __future__ import annotations

import argparse
import gzip
import random
import struct
import sys
import zipfile
from pathlib import Path

FOLDER = Path("/usr/share/datasets/fashion-mnist")
CLASSES = 10


def read_idx(path: Path, count: int) -> tuple:
    """(shape, bytes) of the first `count` items of a gzipped IDX file of unsigned bytes."""
    with gzip.open(path, "rb") as file:
        zero, kind, dimensions = struct.unpack(">HBB", file.read(4))
        if zero != 0 or kind != 8:
            raise SystemExit(f"{path}: not an IDX file of unsigned bytes")
        shape = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        if shape[0] < count:
            raise SystemExit(f"{path}: holds {shape[0]} items, {count} were asked for")
        size = count
        for extent in shape[1:]:
            size *= extent
        return (count, *shape[1:]), file.read(size)


def npy(shape: tuple, dtype: str, data: bytes) -> bytes:
    """The bytes of a .npy file, format 1.0."""
    extents = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({extents}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + data


def pooled(shape: tuple, pixels: bytes) -> tuple:
    """Averages of 2x2 pixels: a quarter of the width, and little lost for clothes."""
    count, height, width = shape
    out = bytearray()
    for at in range(0, count * height * width, 2 * width):
        upper, lower = pixels[at : at + width], pixels[at + width : at + 2 * width]
        out += bytes((a + b + c + d + 2) >> 2 for a, b, c, d in zip(upper[::2], upper[1::2], lower[::2], lower[1::2]))
    return (count, height // 2 * (width // 2)), bytes(out)


def write_images(folder: Path, count: int) -> None:
    """images.npy [count, 196] and labels.npy [count], both unsigned bytes."""
    shape, pixels = pooled(*read_idx(FOLDER / "train-images-idx3-ubyte.gz", count))
    (folder / "images.npy").write_bytes(npy(shape, "|u1", pixels))
    shape, labels = read_idx(FOLDER / "train-labels-idx1-ubyte.gz", count)
    (folder / "labels.npy").write_bytes(npy(shape, "|u1", labels))


def add_split(dataset: Path, labels: bytes, per_class: int, validation: int, seed: int) -> None:
    """Adds train_mask, val_mask and test_mask to an npz: per_class labels of each class, `validation` nodes, the rest for the test."""
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    taken, train = [0] * CLASSES, []
    for node in order:
        if taken[labels[node]] < per_class:
            taken[labels[node]] += 1
            train.append(node)
    chosen = set(train)
    rest = [node for node in order if node not in chosen]
    parts = {"train_mask": train, "val_mask": rest[:validation], "test_mask": rest[validation:]}
    with zipfile.ZipFile(dataset, "a") as archive:
        for name, nodes in parts.items():
            mask = bytearray(len(labels))
            for node in nodes:
                mask[node] = 1
            archive.writestr(f"{name}.npy", npy((len(labels),), "|b1", bytes(mask)))


def main() -> int:
    """`images`: write images.npy and labels.npy. `split`: add the masks to dataset.npz."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["images", "split"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--validation", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print(f"{FOLDER} is missing: apt-get install dataset-fashion-mnist", file=sys.stderr)
        return 2
    if options.what == "images":
        options.folder.mkdir(parents=True, exist_ok=True)
        write_images(options.folder, options.count)
        return 0
    _, labels = read_idx(FOLDER / "train-labels-idx1-ubyte.gz", options.count)
    add_split(options.folder / "dataset.npz", labels, options.per_class, options.validation, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
