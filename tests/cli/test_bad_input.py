"""Bad input gives a located message and code 2 or 3 in under a second, writes nothing and never crashes."""

import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import pytest

READERS = [
    ["graph", "info"],
    ["graph", "convert"],
    ["graph", "reorder"],
    ["sparse", "profile"],
    ["sparse", "plan"],
    ["sparse", "explain"],
    ["bench", "sparse"],
]


def arguments_for(verb, path):
    return [*verb, path, *(["out.pantile"] if verb == ["graph", "convert"] else [])]


def refused(pantile, *arguments, codes=(2, 3)):
    before = {p for p in pantile.folder.rglob("*") if "cache" not in p.parts}
    run = pantile.fails(*arguments, codes=codes, timeout=20)
    assert run.cpu_seconds < 1
    assert {p for p in pantile.folder.rglob("*") if "cache" not in p.parts} == before, "nothing is written"
    return run


@pytest.mark.parametrize("verb", READERS, ids=" ".join)
def test_missing_file_is_named(pantile, verb):
    assert "no-such-file.mtx" in refused(pantile, *arguments_for(verb, "no-such-file.mtx")).err


@pytest.mark.parametrize("verb", READERS, ids=" ".join)
def test_folder_instead_of_a_file_is_named(pantile, tmp_path, verb):
    (tmp_path / "folder").mkdir()
    assert "folder" in refused(pantile, *arguments_for(verb, "folder")).err


@pytest.mark.parametrize("name", ["x.mtx", "x.csv", "x.graph", "x.npz", "x.pantile", "x.mtx.gz", "x.unheard"])
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02garbage\xff" * 50, b"PK\x03\x04", b"\x1f\x8b\x08\x00"],
    ids=["empty", "garbage", "zip", "gzip"],
)
def test_garbage_is_refused_by_name(pantile, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    run = pantile("graph", "info", name, timeout=20)
    if run.code == 0:
        # An empty edge list is a graph without nodes: legal.
        assert content == b"" and name in ("x.csv", "x.unheard"), run.out
        return
    assert name in refused(pantile, "graph", "info", name).err


@pytest.mark.parametrize("suffix", [".pantile", ".npz", ".mtx", ".csv.gz", ".mtx.gz"])
def test_every_truncation_is_refused(pantile, edges, tmp_path, suffix):
    pantile.ok("graph", "convert", edges, f"whole{suffix}")
    whole = (tmp_path / f"whole{suffix}").read_bytes()
    for keep in (len(whole) // 3, len(whole) // 2, len(whole) * 4 // 5):
        (tmp_path / f"cut{suffix}").write_bytes(whole[:keep])
        assert f"cut{suffix}" in refused(pantile, "graph", "info", f"cut{suffix}").err


@pytest.mark.parametrize(
    "text, words",
    [
        ("0,1\n5,-2\n", "-2"),
        ("0,1\n1,zwei\n", "zwei"),
        ("0,1\n1,2\n3\n", ":3"),
        ("0,99999999999999999999\n", ":1"),
        ("0,1\n1,2.5\n", "2.5"),
    ],
)
def test_bad_edge_list_lines_are_located(pantile, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    run = refused(pantile, "graph", "info", "bad.csv", codes=(2,))
    assert "bad.csv" in run.err and words in run.err


def test_id_outside_the_given_number_of_nodes_is_located(pantile, tmp_path):
    (tmp_path / "g.csv").write_text("0,1\n1,9\n")
    run = refused(pantile, "graph", "info", "g.csv", "--num-nodes", 5, codes=(2,))
    assert "9" in run.err and "5" in run.err


def test_graph_too_large_for_memory_is_refused(pantile, tmp_path):
    (tmp_path / "huge.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 9000000000000000000\n1 1\n"
    )
    assert "huge.mtx" in refused(pantile, "graph", "info", "huge.mtx").err


@pytest.mark.parametrize("scale", [31, 62, 63, 9007199254740991])
def test_rmat_scale_out_of_range_is_refused(pantile, scale):
    refused(pantile, "graph", "generate", "rmat", "--scale", scale, "--out", "g.pantile")


@pytest.mark.parametrize(
    "options",
    [
        ["rmat", "--scale", "-1"],
        ["rmat", "--edge-factor", "-5"],
        ["community", "--nodes", "-10"],
        ["community", "--inside", "1.5"],
        ["community", "--inside", "nan"],
        ["sbm", "--blocks", "0"],
        ["grid", "--columns", "-1"],
        ["grid", "--neighbours", "5"],
        ["grid", "--columns", "9007199254740992", "--rows", "9007199254740992"],
        ["rmat", "--seed", "-1"],
        ["rmat", "--seed", "99999999999999999999"],
        ["rmat", "--threads", "-2"],
        ["rmat", "--threads", "many"],
        ["hypercube"],
    ],
    ids=" ".join,
)
def test_numbers_outside_their_range_exit_2(pantile, options):
    refused(pantile, "graph", "generate", *options, "--out", "g.pantile", codes=(2,))


@pytest.mark.parametrize("out", ["no/such/folder/g.mtx", "g.xlsx", "", ".", "/proc/g.mtx"])
def test_unwritable_outputs_are_refused(pantile, graph, out):
    refused(pantile, "graph", "convert", graph, out)


def test_read_only_folder_is_refused(pantile, graph, tmp_path):
    if os.geteuid() == 0:
        target = pathlib.Path("/sys/kernel/g.mtx")
    else:
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        target = locked / "g.mtx"
    assert str(target) in refused(pantile, "graph", "convert", graph, target, codes=(3,)).err


def test_full_disk_leaves_no_file(pantile, graph):
    """/dev/full is no regular file; a file-size limit stands for a full disk."""
    big = ["graph", "generate", "rmat", "--scale", 12, "--out", "g.pantile"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$0" "$@"', pantile.program, *map(str, big)],
        cwd=pantile.folder,
        env=pantile.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("pantile: error: ") and "g.pantile" in done.stderr
    assert not list(pantile.folder.glob("*g.pantile*"))


def test_closed_stdout_pipe_exits_3_with_a_message(pantile, graph):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [pantile.program, "graph", "info", str(graph)], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=20
    )
    os.close(writer)
    assert done.returncode == 3
    assert done.stderr.startswith("pantile: error: cannot write the result to stdout: Broken pipe")


def test_full_stdout_exits_3(pantile, graph):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [pantile.program, "graph", "info", str(graph)], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 3
    assert "stdout" in done.stderr


def test_missing_stdout_exits_3(pantile, graph):
    done = subprocess.run(
        ["bash", "-c", 'exec "$0" graph info "$1" >&-', pantile.program, str(graph)],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 3
    assert "stdout is closed" in done.stderr


def test_pickled_features_are_refused(pantile, tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    assert "x.npy" in refused(pantile, "graph", "knn", "x.npy", "--out", "g.pantile").err


@pytest.mark.parametrize("shape", [(5,), (), (0, 4)])
def test_features_need_rows(pantile, tmp_path, shape):
    np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
    run = pantile("graph", "knn", "x.npy", "--k", 1, "--out", "g.pantile")
    assert run.code in (0, 2)
    if len(shape) < 2:
        assert run.code == 2 and "x.npy" in run.err


def test_hostile_text_in_a_name_is_only_text(pantile):
    run = refused(pantile, "graph", "info", "{}%s%n\n{0}")
    assert "{}%s%n" in run.err


def test_manifest_in_a_missing_folder_is_refused_before_the_work(pantile, graph, tmp_path):
    run = refused(pantile, "graph", "convert", graph, "out.mtx", "--manifest", "no/such/run.json")
    assert "--manifest" in run.err
    assert not (tmp_path / "out.mtx").exists()


def interrupt(pantile, arguments, seconds, number=signal.SIGINT):
    process = subprocess.Popen(
        [pantile.program, *map(str, arguments)],
        cwd=pantile.folder,
        env=pantile.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A program started in the background of a script inherits an ignored SIGINT; a user's terminal does not do that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(seconds)
    process.send_signal(number)
    start = time.monotonic()
    out, err = process.communicate(timeout=30)
    return process.returncode, out.decode(), err.decode(), time.monotonic() - start


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["graph", "generate", "rmat", "--scale", 23, "--edge-factor", 32, "--out", "big.pantile"],
        ["sparse", "explain", "community.pantile", "--budget", 600],
    ],
    ids=["generate", "explain"],
)
def test_ctrl_c_ends_with_a_message_and_no_half_written_file(pantile, arguments, number):
    pantile.ok("graph", "generate", "community", "--nodes", 4096, "--out", "community.pantile")
    before = set(pantile.folder.iterdir())
    code, out, err, _ = interrupt(pantile, arguments, 1.0, number)
    assert code == 130, (code, out, err)
    assert out == ""
    assert "interrupted" in err
    assert {p for p in pantile.folder.iterdir() if p.name != "cache"} <= before
