"""--manifest and rerun."""

import json

import pytest


@pytest.fixture
def manifest(pantile):
    pantile.ok("graph", "generate", "rmat", "--scale", 8, "--seed", 3, "--out", "g.pantile", "--manifest", "run.json")
    return pantile.folder / "run.json"


def test_manifest_holds_what_a_replay_needs(manifest):
    run = json.loads(manifest.read_text())
    assert run["pantile_manifest"] == 1
    assert run["argv"][:3] == ["graph", "generate", "rmat"]
    assert run["seed"] == 3
    assert run["versions"]["pantile"]
    assert run["machine"]["cpu"]
    (output,) = run["outputs"]
    assert output["path"] == "g.pantile"
    assert output["hash"].startswith("xxh3-128:")
    assert run["timings"]["generate"] >= 0
    assert run["results"]["graph"]


def test_replay_of_an_unchanged_run_is_the_same(pantile, manifest):
    run = pantile.ok("rerun", manifest)
    assert run.out.startswith("same")
    assert pantile.ok("rerun", manifest, "--json").json == {
        "command": "pantile graph generate rmat --scale 8 --seed 3 --out g.pantile --manifest run.json",
        "same": True,
        "compared": 2,
        "differences": [],
    }


def test_replay_leaves_the_first_outputs_alone(pantile, manifest):
    target = pantile.folder / "g.pantile"
    target.write_bytes(b"mine")
    pantile.ok("rerun", manifest)
    assert target.read_bytes() == b"mine"


def test_replay_does_not_depend_on_threads(pantile, manifest):
    pantile.ok("rerun", manifest, env={"PANTILE_NUM_THREADS": "3"})


def test_replay_that_differs_exits_1_and_says_what(pantile, manifest):
    run = json.loads(manifest.read_text())
    run["outputs"][0]["hash"] = "xxh3-128:" + "0" * 32
    manifest.write_text(json.dumps(run))
    done = pantile("rerun", manifest)
    assert done.code == 1
    assert done.out.startswith("different")
    assert "output g.pantile" in done.out


def test_changed_input_is_named(pantile, graph):
    pantile.ok("graph", "convert", graph, "out.pantile", "--manifest", "run.json")
    graph.write_text(graph.read_text().replace("1 2 0.5", "1 2 0.75"))
    done = pantile("rerun", "run.json", "--json")
    assert done.code == 1
    assert {d["what"] for d in done.json["differences"]} == {f"input {graph}", "output out.pantile"}


def test_missing_input_is_named(pantile, graph):
    pantile.ok("graph", "info", graph, "--manifest", "run.json")
    graph.unlink()
    done = pantile("rerun", "run.json")
    assert done.code == 1
    assert str(graph) in done.out


def test_keep_saves_the_replayed_outputs(pantile, manifest):
    pantile.ok("rerun", manifest, "--keep", "kept")
    (kept,) = (pantile.folder / "kept").glob("*g.pantile")
    assert kept.read_bytes() == (pantile.folder / "g.pantile").read_bytes()


def test_dry_run_prints_the_command(pantile, manifest):
    assert "pantile graph generate rmat" in pantile.ok("rerun", manifest, "--dry-run").out


def test_dry_run_writes_no_manifest(pantile):
    pantile.ok("graph", "generate", "grid", "--out", "g.mtx", "--dry-run", "--manifest", "run.json")
    assert not (pantile.folder / "run.json").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"pantile_manifest": 1}', '{"pantile_manifest": 1, "argv": []}', "[" * 100000, "\x00\xff"],
    ids=["empty", "cut", "list", "other", "no argv", "empty argv", "deep", "garbage"],
)
def test_a_file_that_is_no_manifest_exits_2(pantile, text):
    (pantile.folder / "run.json").write_text(text)
    run = pantile.fails("rerun", "run.json", codes=(2,))
    assert "run.json" in run.err


def test_manifest_of_a_rerun_is_refused(pantile, manifest):
    pantile.ok("rerun", manifest, "--manifest", "second.json")
    assert "first run" in pantile.fails("rerun", "second.json", codes=(2,)).err
