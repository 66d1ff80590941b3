"""From feature rows to a model: what knn writes, sparse train reads; replays; options refused before the work."""

import numpy as np
import pytest

SPLIT = ["--train-per-class", 5, "--validation-nodes", 15, "--test-nodes", 30]


@pytest.fixture
def data(pantile, features):
    x, y = features
    pantile.ok("graph", "knn", x, "--k", 4, "--labels", y, "--out", "data.npz")
    return "data.npz"


def test_training_repeats_with_the_seed_for_any_thread_count(pantile, data):
    files = []
    for threads in (1, 3):
        name = f"m{threads}.safetensors"
        options = [*SPLIT, "--epochs", 5, "--seed", 4, "--threads", threads, "--out", name]
        pantile.ok("sparse", "train", "--data", data, *options)
        files.append((pantile.folder / name).read_bytes())
    assert files[0] == files[1]


def test_training_replays(pantile, data):
    options = [*SPLIT, "--epochs", 4, "--seed", 2, "--out", "m.safetensors", "--manifest", "run.json"]
    pantile.ok("sparse", "train", "--data", data, *options)
    assert pantile.ok("rerun", "run.json").out.startswith("same")


@pytest.mark.parametrize(
    "options, words",
    [
        (["--model", "gnc"], "gnc"),
        (["--hidden", "-1"], "--hidden"),
        (["--epochs", "0"], "--epochs"),
        (["--lr", "fast"], "--learning-rate"),
        (["--dropout", "2"], "--dropout"),
        (["--out", "no/such/m.safetensors"], "no/such"),
    ],
)
def test_bad_options_exit_before_the_work(pantile, data, options, words):
    run = pantile.fails("sparse", "train", "--data", data, *options)
    assert words in run.err
    assert run.cpu_seconds < 1


def test_data_set_without_labels_says_what_is_missing(pantile, tmp_path):
    np.savez(tmp_path / "d.npz", edge_index=np.zeros((2, 1), np.int64), x=np.ones((3, 2), np.float32))
    run = pantile.fails("sparse", "train", "--data", "d.npz", codes=(2,))
    assert "d.npz" in run.err and "y" in run.err


def test_eval_of_what_is_no_model_is_refused(pantile, data, tmp_path):
    (tmp_path / "m.safetensors").write_bytes(b"no model")
    run = pantile.fails("sparse", "eval", "--data", data, "--model", "m.safetensors", codes=(2,))
    assert "m.safetensors" in run.err
