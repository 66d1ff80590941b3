"""graph info, convert, reorder, generate, knn."""

import hashlib

import numpy as np
import pytest


def test_info_counts_what_the_file_holds(pantile, graph):
    report = pantile.ok("graph", "info", graph, "--json").json
    profile = report["profile"]
    assert (profile["rows"], profile["cols"], profile["edges"]) == (6, 6, 7)
    assert profile["self_loops"] == 1
    assert profile["duplicates"] == 1
    assert profile["empty_rows"] == 1
    assert profile["max_degree"] == 2
    assert profile["symmetric"] is False
    assert report["file"]["weighted"] is True
    assert len(report["fingerprint"]) == 32


def test_info_text_is_aligned(pantile, graph):
    lines = pantile.ok("graph", "info", graph).out.splitlines()
    assert len(lines) > 8
    starts = {len(line) - len(line[2:].split("  ", 1)[1].lstrip()) for line in lines[1:]}
    assert len(starts) == 1, "values start in one column"


def test_info_of_the_same_graph_has_the_same_fingerprint_in_every_format(pantile, edges):
    first = pantile.ok("graph", "info", edges, "--json").json["fingerprint"]
    for name in ("ring.pantile", "ring.mtx", "ring.npz", "ring2.csv"):
        pantile.ok("graph", "convert", edges, name)
        assert pantile.ok("graph", "info", name, "--json").json["fingerprint"] == first


@pytest.mark.parametrize("name", ["out.pantile", "out.mtx", "out.npz", "out.csv", "out.mtx.gz"])
def test_convert_keeps_weights_duplicates_and_isolated_nodes(pantile, graph, name):
    before = pantile.ok("graph", "info", graph, "--json").json
    pantile.ok("graph", "convert", graph, name)
    after = pantile.ok("graph", "info", name, "--json").json
    assert after["fingerprint"] == before["fingerprint"]
    assert after["file"]["weighted"] is True


def test_convert_to_metis_and_back(pantile, edges):
    pantile.ok("graph", "convert", edges, "ring.graph", "--undirected")
    report = pantile.ok("graph", "info", "ring.graph", "--json").json["profile"]
    assert report["symmetric"] is True
    assert report["edges"] == 160


def test_convert_merges_duplicates_only_when_asked(pantile, graph):
    assert pantile.ok("graph", "convert", graph, "a.mtx", "--json").json["merged_edges"] == 0
    run = pantile.ok("graph", "convert", graph, "b.mtx", "--coalesce", "sum", "--json").json
    assert run["merged_edges"] == 1
    assert run["graph"]["edges"] == 6
    assert "4 1 12" in (pantile.folder / "b.mtx").read_text()


def test_convert_honours_the_number_of_nodes_and_the_base(pantile, tmp_path):
    (tmp_path / "one.csv").write_text("1,2\n2,3\n")
    run = pantile.ok("graph", "convert", "one.csv", "one.pantile", "--base", 1, "--num-nodes", 7, "--json").json
    assert (run["graph"]["rows"], run["graph"]["edges"]) == (7, 2)


def test_convert_dry_run_writes_nothing(pantile, graph, tmp_path):
    run = pantile.ok("graph", "convert", graph, "out.mtx", "--dry-run")
    assert run.out.startswith("would write")
    assert not (tmp_path / "out.mtx").exists()


def test_convert_leaves_no_temporary_file(pantile, graph, tmp_path):
    before = set(tmp_path.iterdir())
    pantile.ok("graph", "convert", graph, "out.pantile")
    assert set(tmp_path.iterdir()) - before == {tmp_path / "out.pantile"}


@pytest.mark.parametrize("how", ["degree", "bfs", "rcm", "community"])
def test_reorder_writes_a_permuted_graph_with_its_weights(pantile, graph, how):
    pantile.ok("graph", "convert", graph, "plain.npz")
    pantile.ok("graph", "reorder", graph, "--how", how, "--out", "new.npz", "--permutation", "map.npy")
    new_of_old = np.load(pantile.folder / "map.npy")
    assert sorted(new_of_old) == list(range(6))
    assert edge_set(pantile.folder / "new.npz") == {
        (new_of_old[i], new_of_old[j], w, n) for i, j, w, n in edge_set(pantile.folder / "plain.npz")
    }


def edge_set(path):
    """(row, column, weight, how often) of a scipy csr npz."""
    data = np.load(path)
    rows = np.repeat(np.arange(len(data["indptr"]) - 1), np.diff(data["indptr"]))
    triples = list(zip(rows.tolist(), data["indices"].tolist(), data["data"].tolist(), strict=True))
    return {(*t, triples.count(t)) for t in triples}


def test_reorder_says_after_how_many_calls_an_order_pays(pantile, edges):
    report = pantile.ok("graph", "reorder", edges, "--how", "rcm", "--json").json
    (tried,) = report["tried"]
    assert tried["order"] == "rcm"
    assert tried["predicted_speedup"] > 0
    assert "pays" in report["verdict"] or "pay" in report["verdict"]
    assert report["written"] is False


def test_reorder_auto_tries_all_and_may_keep_the_graph(pantile, edges):
    report = pantile.ok("graph", "reorder", edges, "--calls", 1, "--out", "kept.pantile", "--json").json
    assert [t["order"] for t in report["tried"]] == ["degree", "bfs", "rcm", "community"]
    if report["chosen"] is None:
        same = pantile.ok("graph", "info", "kept.pantile", "--json").json["fingerprint"]
        assert same == pantile.ok("graph", "info", edges, "--json").json["fingerprint"]


@pytest.mark.parametrize(
    "kind, options",
    [
        ("rmat", ["--scale", 8, "--edge-factor", 4]),
        ("community", ["--nodes", 256, "--degree", 6, "--community", 16]),
        ("sbm", ["--nodes", 200, "--blocks", 4]),
        ("grid", ["--columns", 7, "--rows", 5]),
    ],
)
def test_generate_repeats_with_the_seed(pantile, kind, options):
    digests = []
    for name in ("a.pantile", "b.pantile"):
        pantile.ok("graph", "generate", kind, *options, "--seed", 11, "--out", name)
        digests.append(hashlib.sha256((pantile.folder / name).read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    other = pantile.ok("graph", "generate", kind, *options, "--seed", 12, "--out", "c.pantile", "--json").json
    first = pantile.ok("graph", "info", "a.pantile", "--json").json
    if kind != "grid":
        assert other["graph"]["fingerprint"] != first["fingerprint"]
        assert other["seed"] == 12


def test_generate_grid_has_the_edges_of_a_grid(pantile):
    run = pantile.ok("graph", "generate", "grid", "--columns", 7, "--rows", 5, "--out", "g.mtx", "--json").json
    assert run["graph"]["rows"] == 35
    assert run["graph"]["edges"] == 2 * (6 * 5 + 7 * 4)


def test_generate_sbm_writes_its_blocks(pantile):
    pantile.ok("graph", "generate", "sbm", "--nodes", 100, "--blocks", 4, "--out", "s.npz", "--labels", "y.npy")
    assert np.load(pantile.folder / "y.npy").tolist() == [i * 4 // 100 for i in range(100)]


def test_generate_labels_are_of_sbm_only(pantile):
    run = pantile.fails("graph", "generate", "grid", "--out", "g.mtx", "--labels", "y.npy", codes=(2,))
    assert "sbm" in run.err


def test_generate_dry_run_writes_nothing(pantile, tmp_path):
    run = pantile.ok("graph", "generate", "grid", "--out", "g.mtx", "--dry-run", "--json")
    assert run.json["written"] is False
    assert not (tmp_path / "g.mtx").exists()


def brute_force(x, k):
    """In-neighbours by cosine, smaller id on ties."""
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    near = unit.astype(np.float64) @ unit.T.astype(np.float64)
    np.fill_diagonal(near, -np.inf)
    return {(i, int(j)) for i in range(len(x)) for j in np.argsort(-near[i], kind="stable")[:k]}


def test_knn_finds_the_nearest_neighbours(pantile, features):
    x, _ = features
    pantile.ok("graph", "knn", x, "--k", 3, "--directed", "--out", "knn.npz")
    found = {(i, j) for i, j, _, _ in edge_set(pantile.folder / "knn.npz")}
    assert found == brute_force(np.load(x), 3)


def test_knn_with_labels_writes_a_data_set(pantile, features):
    x, y = features
    pantile.ok("graph", "knn", x, "--k", 4, "--labels", y, "--out", "data.npz")
    data = np.load(pantile.folder / "data.npz")
    assert data["edge_index"].shape[0] == 2
    assert np.array_equal(data["x"], np.load(x))
    assert np.array_equal(data["y"], np.load(y))
    source, target = data["edge_index"]
    assert (data["y"][source] == data["y"][target]).mean() > 0.95
    forward = set(zip(source.tolist(), target.tolist(), strict=True))
    assert forward == {(b, a) for a, b in forward}, "both directions"


def test_knn_takes_bytes_a_limit_and_a_scale(pantile, tmp_path):
    images = np.random.default_rng(1).integers(0, 255, size=(30, 4, 5), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    pantile.ok("graph", "knn", "images.npy", "--limit", 20, "--scale", 0.5, "--dataset", "--out", "d.npz", "--k", 2)
    data = np.load(tmp_path / "d.npz")
    assert np.array_equal(data["x"], images[:20].reshape(20, 20).astype(np.float32) * 0.5)
    assert "y" not in data


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--k", 60], "60"),
        (["--labels", "short.npy"], "short.npy"),
        (["--labels", "floats.npy"], "floats.npy"),
    ],
)
def test_knn_refuses_what_does_not_fit(pantile, features, arguments, words):
    x, _ = features
    np.save(pantile.folder / "short.npy", np.zeros(3, np.int64))
    np.save(pantile.folder / "floats.npy", np.zeros(60))
    run = pantile.fails("graph", "knn", x, "--out", "o.npz", *arguments)
    assert words in run.err
    assert not (pantile.folder / "o.npz").exists()


def test_knn_refuses_values_that_are_not_finite(pantile, tmp_path):
    x = np.ones((5, 3), np.float32)
    x[3, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    run = pantile.fails("graph", "knn", "x.npy", "--k", 2, "--out", "o.pantile", codes=(2,))
    assert "3" in run.err
