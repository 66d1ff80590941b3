"""How the tests start the built program: PANTILE_CLI, else the newest build/*/cli/pantile."""

import json
import os
import pathlib
import resource
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_program() -> str:
    named = os.environ.get("PANTILE_CLI")
    if named:
        return named
    built = sorted(ROOT.glob("build/*/cli/pantile"), key=lambda p: p.stat().st_mtime)
    if not built:
        raise pytest.UsageError("no pantile program: build it, or name it in PANTILE_CLI")
    return str(built[-1])


@dataclass
class Run:
    """What one start of the program gave."""

    code: int
    out: str
    err: str
    cpu_seconds: float

    @property
    def json(self):
        return json.loads(self.out)


class Pantile:
    """Starts the program in a folder of its own."""

    def __init__(self, folder: pathlib.Path):
        self.program = find_program()
        self.folder = folder
        self.environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PANTILE_NUM_THREADS")}
        self.environment["XDG_CACHE_HOME"] = str(folder / "cache")

    def __call__(self, *arguments, env=None, timeout=120, **options) -> Run:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.folder,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            **options,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode(), cpu)

    def ok(self, *arguments, **options) -> Run:
        run = self(*arguments, **options)
        assert run.code == 0, f"{arguments}: exit {run.code}\n{run.out}\n{run.err}"
        return run

    def fails(self, *arguments, codes=(2, 3), **options) -> Run:
        """An error: one of the codes, nothing on stdout, a message of ours on stderr, no crash."""
        run = self(*arguments, **options)
        assert run.code in codes, f"{arguments}: exit {run.code}\n{run.out}\n{run.err}"
        assert run.out == "", run.out
        assert run.err.startswith("pantile: error: "), run.err
        return run


@pytest.fixture
def pantile(tmp_path):
    return Pantile(tmp_path)


@pytest.fixture
def graph(tmp_path):
    """Six nodes: a duplicate edge, a self-loop, an isolated node; directed, weighted."""
    path = tmp_path / "small.mtx"
    entries = [(1, 2, 0.5), (1, 3, 1.5), (2, 3, -1), (3, 3, 2), (4, 1, 4), (4, 1, 8), (5, 4, 1)]
    lines = ["%%MatrixMarket matrix coordinate real general", f"6 6 {len(entries)}"]
    lines += [f"{i} {j} {w}" for i, j, w in entries]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def edges(tmp_path):
    """A plain edge list of a ring of 40 nodes with some chords."""
    path = tmp_path / "ring.csv"
    pairs = [(i, (i + step) % 40) for i in range(40) for step in (1, 7)]
    path.write_text("".join(f"{a},{b}\n" for a, b in pairs))
    return path


@pytest.fixture
def features(tmp_path):
    """60 rows of 8 values in three clear clusters, and their labels."""
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    centres = np.eye(3, 8, dtype=np.float32) * 4
    x = (centres[labels] + random.normal(size=(60, 8)) * 0.1).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", labels.astype(np.int64))
    return tmp_path / "x.npy", tmp_path / "y.npy"
