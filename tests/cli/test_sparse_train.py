"""`pantile sparse train` and `pantile sparse eval`: from a data set to a checked model, without torch."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

MODELS = ["gcn", "sage", "gin", "gat", "gatv2", "agnn", "transformer", "mlp"]
PLANETOID = pathlib.Path(os.environ.get("PANTILE_DATA", "")) / "data" / "graphs" / "planetoid_plain"


@pytest.fixture
def toy(tmp_path):
    """120 nodes in three communities; features and edges both tell the class."""
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    x = random.normal(size=(120, 10)).astype(np.float32)
    x[np.arange(120), y] += 2
    src = np.repeat(np.arange(120), 3)
    dst = random.integers(0, 40, size=360) * 3 + y[src]
    path = tmp_path / "toy.npz"
    np.savez(path, edge_index=np.concatenate([[src, dst], [dst, src]], axis=1), x=x, y=y)
    return path


@pytest.mark.parametrize("model", MODELS)
def test_a_model_trains_is_saved_and_scores_the_same_when_read_back(pantile, toy, tmp_path, model):
    out = tmp_path / "model.safetensors"
    trained = pantile.ok("sparse", "train", "--data", toy, "--model", model, "--epochs", 60, "--out", out, "--json").json
    evaluated = pantile.ok("sparse", "eval", "--data", toy, "--model-file", out, "--predictions", tmp_path / "p.npy", "--json").json
    assert trained["runs"][0]["test"]["accuracy"] > 0.6
    assert evaluated["test"] == trained["runs"][0]["test"]
    predictions, y = np.load(tmp_path / "p.npy"), np.load(toy)["y"]
    assert predictions.shape == y.shape
    assert (predictions == y).mean() > 0.6


def test_seeds_give_mean_and_spread_and_repeat_exactly(pantile, toy):
    command = ["sparse", "train", "--data", toy, "--seeds", 3, "--epochs", 20, "--seed", 5, "--json"]
    first, second = pantile.ok(*command, "--threads", 1).json, pantile.ok(*command, "--threads", 2).json
    accuracies = [run["test"]["accuracy"] for run in first["runs"]]
    assert [run["seed"] for run in first["runs"]] == [5, 6, 7]
    assert first["test_accuracy"]["mean"] == pytest.approx(np.mean(accuracies))
    assert first["test_accuracy"]["standard_deviation"] == pytest.approx(np.std(accuracies, ddof=1))
    losses = [[run["train"]["loss"] for run in document["runs"]] for document in (first, second)]
    assert losses[0] == losses[1]


def test_text_goes_to_stdout_and_progress_to_stderr(pantile, toy):
    run = pantile.ok("sparse", "train", "--data", toy, "--epochs", 5)
    assert "GCNConv(10 -> 64, relu)" in run.out
    assert "random by seed 0" in run.out
    assert "per epoch" in run.out
    assert pantile.ok("sparse", "train", "--data", toy, "--epochs", 5, "--quiet").err == ""


def test_a_dry_run_writes_nothing(pantile, toy, tmp_path):
    run = pantile.ok("sparse", "train", "--data", toy, "--out", tmp_path / "m.safetensors", "--dry-run", "--json")
    assert run.json["model"]["parameters"] > 0
    assert not (tmp_path / "m.safetensors").exists()


def test_another_data_set_is_refused_by_name(pantile, toy, tmp_path):
    out = tmp_path / "model.safetensors"
    pantile.ok("sparse", "train", "--data", toy, "--epochs", 2, "--out", out)
    arrays = dict(np.load(toy))
    arrays["x"][0, 0] += 1
    np.savez(tmp_path / "other.npz", **arrays)
    run = pantile.fails("sparse", "eval", "--data", tmp_path / "other.npz", "--model-file", out, codes=(2,))
    assert "'toy'" in run.err and "'other'" in run.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": None}, ["no array 'x'", "edge_index [2, E]"]),
        ({"edge_index": np.array([[0, 500], [1, 2]])}, ["edge 1", "500", "[0, 120)"]),
        ({"edge_index": np.zeros((7, 2), np.int64)}, ["[7, 2]", "transpose"]),
        ({"y": np.zeros(119, np.int64)}, ["y is [119]"]),
        ({"train_mask": np.ones(120, bool)}, ["val_mask is missing"]),
    ],
)
def test_bad_data_is_named(pantile, toy, change, words):
    arrays = {k: v for k, v in {**np.load(toy), **change}.items() if v is not None}
    np.savez(toy, **arrays)
    run = pantile.fails("sparse", "train", "--data", toy, codes=(2,))
    for word in ["toy.npz", *words]:
        assert word in run.err


@pytest.mark.parametrize(
    "arguments",
    [["--model", "rnn"], ["--layers", 0], ["--hidden", -1], ["--dropout", 1.5], ["--lr", 0], ["--seeds", 0], ["--monitor", "x"]],
)
def test_senseless_options_are_refused(pantile, toy, arguments):
    pantile.fails("sparse", "train", "--data", toy, *arguments, codes=(2,))


def test_what_does_not_fit_in_memory_is_refused_at_once(pantile, toy):
    run = pantile.fails("sparse", "train", "--data", toy, "--hidden", 10**12, codes=(3,), timeout=20)
    assert "would fit" in run.err


if PLANETOID.is_dir():
    LONG = "PANTILE_LONG_TESTS" in os.environ

    @pytest.mark.parametrize(("model", "least"), [("gcn", 0.805), ("gat", 0.815)])
    def test_cora_reaches_the_published_accuracy(pantile, tmp_path, model, least):
        """Public split; ten seeds with PANTILE_LONG_TESTS, else three, whose mean may be one standard error lower."""
        script = pathlib.Path(__file__).resolve().parents[1] / "support" / "planetoid_to_npz.py"
        subprocess.run([sys.executable, script, PLANETOID, "cora", tmp_path / "cora.npz"], check=True)
        seeds = 10 if LONG else 3
        result = pantile.ok("sparse", "train", "--data", tmp_path / "cora.npz", "--model", model, "--seeds", seeds, "--json", timeout=900)
        accuracy = result.json["test_accuracy"]
        assert accuracy["mean"] >= least - (0 if LONG else accuracy["standard_deviation"] / seeds**0.5), accuracy
