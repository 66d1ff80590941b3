"""doctor: the machine, its measured peaks, and the libraries beside it."""

import shutil


def test_json_names_machine_peaks_and_libraries(pantile):
    report = pantile.ok("doctor", "--json").json
    machine = report["machine"]
    assert machine["logical_cpus"] >= 1
    assert machine["simd_target"]
    assert machine["simd_reason"]
    assert machine["memory_bytes"] > 2**20
    peaks = report["peaks"]
    assert set(peaks) == {"copy_gb_per_s", "gather_gb_per_s", "gather_cached_gb_per_s", "gflop_per_s"}
    assert all(v > 0 for v in peaks.values())
    assert report["versions"]["pantile"]


def test_every_library_is_found_or_comes_with_the_line_that_installs_it(pantile):
    libraries = {entry["name"]: entry for entry in pantile.ok("doctor", "--no-measure", "--json").json["libraries"]}
    assert {"torch", "numpy", "scipy", "torch_geometric", "dgl", "nvcc", "METIS", "UCX", "OpenMPI"} <= set(libraries)
    for entry in libraries.values():
        assert entry["install"].startswith(("apt install", "pip install"))
        assert entry["found"] == (entry["where"] is not None)


def test_a_python_without_packages_has_them_missing(pantile, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "bin" / "python").chmod(0o755)
    run = pantile.ok("doctor", "--no-measure", "--json", env={"VIRTUAL_ENV": str(tmp_path)})
    found = {entry["name"]: entry["found"] for entry in run.json["libraries"]}
    assert found["python"] and not found["torch"] and not found["numpy"]


def test_no_measure_is_quick_and_says_nothing_of_peaks(pantile):
    run = pantile.ok("doctor", "--no-measure")
    assert "Peaks" not in run.out
    assert "kernels" in run.out and "huge pages" in run.out


def test_measuring_takes_at_most_three_seconds_a_thread(pantile):
    threads = 2
    assert pantile.ok("doctor", "--threads", threads).cpu_seconds < 3 * threads


def test_text_names_where_the_thread_count_comes_from(pantile):
    assert "1 of" in pantile.ok("doctor", "--no-measure", "--threads", 1).out
    assert "(--threads)" in pantile.ok("doctor", "--no-measure", "--threads", 1).out
    assert "(PANTILE_NUM_THREADS)" in pantile.ok("doctor", "--no-measure", env={"PANTILE_NUM_THREADS": "1"}).out


def test_peaks_are_kept_for_plans_and_not_kept_by_dry_runs(pantile, tmp_path):
    pantile.ok("doctor", "--dry-run")
    assert not (tmp_path / "cache").exists()
    pantile.ok("doctor")
    assert list((tmp_path / "cache" / "pantile").glob("peaks-*.json"))
    shutil.rmtree(tmp_path / "cache")
