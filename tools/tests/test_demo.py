"""The parts of the demo: what it reads, how it says what is missing, when it calls two results the same."""

import gzip
import io
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"
sys.path.insert(0, str(DEMO))

import fashion  # noqa: E402
import report  # noqa: E402


def idx(path: Path, values: np.ndarray) -> None:
    head = struct.pack(">HBB", 0, 8, values.ndim) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(gzip.compress(head + values.astype(np.uint8).tobytes()))


def test_images_become_averages_of_2x2_pixels(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    idx(tmp_path / "images.gz", images)
    shape, pixels = fashion.pooled(*fashion.read_idx(tmp_path / "images.gz", 3))
    expected = (images[:3].reshape(3, 14, 2, 14, 2).sum((2, 4)) + 2) // 4
    assert np.array_equal(np.frombuffer(pixels, np.uint8).reshape(shape), expected.reshape(3, 196))


@pytest.mark.parametrize("shape, dtype", [((3,), "|u1"), ((2, 3), "|u1"), ((4,), "|b1")])
def test_npy_bytes_are_what_numpy_reads(shape, dtype):
    data = np.arange(np.prod(shape)).astype(dtype)
    assert np.array_equal(np.load(io.BytesIO(fashion.npy(shape, dtype, data.tobytes()))), data.reshape(shape))


def test_the_split_takes_few_labels_of_each_class_and_every_node_once(tmp_path):
    labels = bytes(np.random.default_rng(1).integers(0, 10, 500).astype(np.uint8))
    np.savez(tmp_path / "dataset.npz", x=np.zeros(1))
    fashion.add_split(tmp_path / "dataset.npz", labels, per_class=4, validation=50, seed=0)
    with np.load(tmp_path / "dataset.npz") as file:
        masks = [file[name] for name in ("train_mask", "val_mask", "test_mask")]
    assert np.bincount(np.frombuffer(labels, np.uint8)[masks[0]], minlength=10).tolist() == [4] * 10
    assert masks[1].sum() == 50 and np.array_equal(sum(mask.astype(int) for mask in masks), np.ones(500))


def prepare(source: Path, target: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, DEMO / "prepare.py", source, target], capture_output=True, text=True, check=False)


def graph_arrays(nodes: int = 90) -> dict:
    rng = np.random.default_rng(2)
    return {"edge_index": rng.integers(0, nodes, (2, 300)), "x": rng.random((nodes, 4), np.float32), "y": np.arange(nodes) % 3}


def write_ogb(folder: Path, arrays: dict) -> None:
    folder.mkdir(parents=True)
    tables = {"edge": arrays["edge_index"].T, "num-node-list": [len(arrays["y"])], "node-feat": arrays["x"], "node-label": arrays["y"]}
    for name, table in tables.items():
        with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
            np.savetxt(file, table, delimiter=",", fmt="%g")


def test_an_npz_and_an_ogb_folder_of_the_same_graph_become_the_same_data_set(tmp_path):
    arrays = graph_arrays()
    np.savez(tmp_path / "graph.npz", **arrays)
    write_ogb(tmp_path / "folder" / "raw", arrays)
    for source, target in (("graph.npz", "a.npz"), ("folder", "b.npz")):
        assert prepare(tmp_path / source, tmp_path / target).returncode == 0
    with np.load(tmp_path / "a.npz") as a, np.load(tmp_path / "b.npz") as b:
        assert set(a.files) == set(b.files) and {"train_mask", "val_mask", "test_mask"} <= set(a.files)
        for name in a.files:
            assert np.allclose(a[name], b[name], atol=1e-5), name


@pytest.mark.parametrize("missing", ["edge_index", "x", "y"])
def test_an_npz_without_an_array_is_refused_by_the_name_of_the_array(tmp_path, missing):
    arrays = graph_arrays()
    del arrays[missing]
    np.savez(tmp_path / "graph.npz", **arrays)
    result = prepare(tmp_path / "graph.npz", tmp_path / "out.npz")
    assert result.returncode == 2 and repr(missing) in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "out.npz").exists()


def test_a_folder_that_is_no_ogb_folder_is_refused_with_what_one_has(tmp_path):
    result = prepare(tmp_path, tmp_path / "out.npz")
    assert result.returncode == 2 and "node-feat.csv.gz" in result.stderr and "Traceback" not in result.stderr


def test_means_agree_within_three_standard_errors_and_half_a_point():
    near, far = report.agree([0.75, 0.76, 0.77], [0.755, 0.765, 0.76]), report.agree([0.75, 0.751, 0.752], [0.78, 0.781, 0.782])
    assert abs(near[0]) <= near[1] and abs(far[0]) > far[1]
