"""sparse profile, plan, explain; bench sparse."""

import pytest


@pytest.fixture
def community(pantile):
    pantile.ok("graph", "generate", "community", "--nodes", 2048, "--degree", 12, "--out", "community.pantile")
    return "community.pantile"


def test_profile_adds_up(pantile, community):
    report = pantile.ok("sparse", "profile", community, "--width", "16,64", "--json").json
    bins = report["in_degrees"]
    assert sum(b["rows"] for b in bins) == report["profile"]["rows"]
    assert sum(b["edges"] for b in bins) == report["profile"]["edges"]
    assert all(b["from"] <= b["to"] for b in bins)
    total = report["forward"]["total_cost"]
    assert total == report["profile"]["edges"] + 2 * report["profile"]["rows"]
    assert report["forward"]["imbalance"] >= 1
    assert [f["width"] for f in report["feature_bytes"]] == [16, 64]


def test_profile_is_text_for_people(pantile, community):
    out = pantile.ok("sparse", "profile", community).out
    assert "in-degree" in out and "forward" in out and "backward" in out


def test_plan_predicts_each_operator_and_width(pantile, community):
    report = pantile.ok("sparse", "plan", community, "--op", "spmm,gcn", "--width", "16,33", "--json").json
    text = str(report)
    assert "spmm" in text and "gcn" in text
    assert report["peaks"]["copy_gb_per_s"] > 0
    table = pantile.ok("sparse", "plan", community, "--op", "spmm,gcn", "--width", "16,33").out.splitlines()
    assert len(table) == 5
    assert [line.split()[:2] for line in table[1:]] == [["spmm", "16"], ["spmm", "33"], ["gcn", "16"], ["gcn", "33"]]


def test_options_with_lists_leave_the_graph_alone(pantile, community):
    """A list option must take one word, not swallow the graph that follows it."""
    assert (
        pantile.ok("sparse", "plan", "--width", "16", "--op", "spmm", community).out.splitlines()[1].startswith("spmm")
    )


def test_plan_uses_the_peaks_of_an_earlier_run(pantile, community):
    first = pantile.ok("sparse", "plan", community, "--json")
    second = pantile.ok("sparse", "plan", community, "--json")
    assert "measuring the peaks" in first.err
    assert "measuring the peaks" not in second.err
    assert first.json["peaks"] == second.json["peaks"]


@pytest.mark.parametrize("op", ["spmm", "spmm_weighted", "sddmm", "gcn", "gat"])
def test_explain_measures_every_operator(pantile, community, op):
    run = pantile.ok("sparse", "explain", community, "--op", op, "--width", 16, "--budget", 0.02)
    assert op in run.out
    assert "measured" in run.out and "predicted" in run.out


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_plan_measures_every_type(pantile, community, dtype):
    run = pantile.ok("sparse", "plan", community, "--measure", "--dtype", dtype, "--budget", 0.02)
    assert "measured" in run.out.splitlines()[0]


def test_explain_can_predict_only(pantile, community):
    run = pantile.ok("sparse", "explain", community, "--no-measure")
    assert "spmm" in run.out


def test_explain_of_a_graph_without_edges(pantile, tmp_path):
    (tmp_path / "empty.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n5 5 0\n")
    pantile.ok("sparse", "explain", "empty.mtx", "--budget", 0.01)
    pantile.ok("sparse", "profile", "empty.mtx")


@pytest.mark.parametrize(
    "options",
    [["--width", "0"], ["--width", "-3"], ["--width", "abc"], ["--op", "spmv"], ["--dtype", "int8"], ["--budget", "0"]],
    ids=" ".join,
)
def test_options_outside_their_range_exit_2_and_name_the_option(pantile, community, options):
    run = pantile.fails("sparse", "plan", community, *options, codes=(2,))
    assert options[0] in run.err


def test_bench_compares_with_rooflines_and_points_to_the_rivals(pantile, community):
    options = ["--op", "spmm", "--width", "16,41", "--budget", "0.02"]
    run = pantile.ok("bench", "sparse", community, *options)
    assert "roofline" in run.out
    assert "./dev bench sparse" in run.out
    (graph,) = pantile.ok("bench", "sparse", community, *options, "--json").json["graphs"]
    assert [o["width"] for o in graph["operators"]] == [16, 41]
    assert all(o["measured_seconds"] > 0 for o in graph["operators"])


def test_bench_without_a_graph_makes_two(pantile):
    report = pantile.ok("bench", "sparse", "--op", "spmm", "--width", 16, "--budget", 0.02, "--json").json
    assert len(report["graphs"]) == 2


def test_quiet_is_quiet(pantile, community):
    assert pantile.ok("bench", "sparse", community, "--op", "spmm", "--width", 8, "--budget", 0.01, "--quiet").err == ""
