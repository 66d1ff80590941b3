"""`./dev demo`: from nothing to trained networks on real data, in C++ and in PyTorch, side by side."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Optional

import build
import debian
import environment
from step import BUILD, ROOT, StepFailed, run, side_by_side

FOLDER = BUILD / "demo"
EXAMPLES = ROOT / "examples" / "demo"
MODELS = ("mlp", "gcn", "gat")
IMAGES, NEIGHBOURS = 20000, 10
# One set of hyper-parameters for both halves.
SETTINGS = {"epochs": 60, "hidden": 32, "heads": 2, "dropout": 0.5, "input-dropout": 0.0, "learning-rate": 0.01, "weight-decay": 5e-4}


def setup() -> bool:
    """Packages, program and Python side; True when torch is there. Python packages arrive while the C++ compiles."""
    debian.ensure(debian.BUILD + debian.DEMO)
    torch = []

    def python_side() -> None:
        environment.ensure_venv()
        found = environment.ensure_torch(must=False)
        torch.append(environment.ensure_requirements("build", must=False) and found)

    side_by_side(python_side, lambda: build.release("library and program", ["pantile_cli"]))
    if torch[0]:
        build.python_package()
    return torch[0]


def fashion() -> Path:
    """The nearest-neighbour graph over 20,000 images with few labels, as a data set."""
    dataset = FOLDER / "fashion" / "dataset.npz"
    fix = "apt-get install dataset-fashion-mnist; the program's own message is in the log"
    if not dataset.exists():
        made, script = FOLDER / "making", EXAMPLES / "fashion.py"
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(dataset.parent, ignore_errors=True)
        count = ["--count", str(IMAGES)]
        run("demo-images", f"read {IMAGES} images of Fashion-MNIST", [sys.executable, script, "images", made, *count], fix=fix)
        knn = [build.PROGRAM, "graph", "knn", made / "images.npy", "--labels", made / "labels.npy", "--scale", str(1 / 255)]
        knn += ["--k", str(NEIGHBOURS), "--out", made / "dataset.npz", "--quiet"]
        run("demo-knn", f"find the {NEIGHBOURS} nearest of each of {IMAGES} images (pantile graph knn)", knn, fix=fix)
        run("demo-split", "choose 20 labels per class", [sys.executable, script, "split", made, *count], fix=fix)
        made.rename(dataset.parent)
    return dataset


def own(data: str) -> Path:
    """The user's own graph as a data set with masks; what is missing is said by prepare.py."""
    source = Path(data).resolve()
    dataset = FOLDER / "own" / "dataset.npz"
    dataset.parent.mkdir(parents=True, exist_ok=True)
    command = [environment.PYTHON, EXAMPLES / "prepare.py", source, dataset]
    outcome = run("demo-own", f"read {source}", command, fix="", must=False, env=build.program_environment(), quiet_failure=True)
    if not outcome.passed:
        said = outcome.log.read_text(encoding="utf-8").splitlines()[1:]
        raise StepFailed(f"read {source}", "\n    ".join(said[-4:]) or "see the log", code=2)
    return dataset


def train_cpp(dataset: Path, seeds: int, settings: dict) -> dict:
    """`pantile sparse train` for every model and seed: test accuracies and seconds per epoch."""
    accuracy, seconds = {}, {}
    for model in MODELS:
        document = FOLDER / f"cpp-{model}.json"
        command = [build.PROGRAM, "sparse", "train", "--data", dataset, "--model", model, "--seeds", str(seeds), "--patience", "0", "--json"]
        command += ["--attention-dropout", "0"]  # the layers of the PyTorch half have none by default
        command += [part for name, value in settings.items() for part in (f"--{name}", str(value))]
        words = " ".join(shlex.quote(str(part)) for part in command)
        fix = "the program's own message is in the log"
        run(f"demo-cpp-{model}", f"C++: train {model} with {seeds} seeds", ["bash", "-c", f"{words} >{shlex.quote(str(document))}"], fix=fix)
        runs = json.loads(document.read_text(encoding="utf-8"))["runs"]
        accuracy[model] = [one["test"]["accuracy"] for one in runs]
        seconds[model] = min(one["seconds_per_epoch"] for one in runs)
    return {"test_accuracy": accuracy, "seconds_per_epoch": seconds}


def train_torch(dataset: Path, seeds: int, settings: dict) -> dict:
    """examples/demo/train.py: the same networks in PyTorch, and the time of an epoch against plain torch."""
    command = [environment.PYTHON, EXAMPLES / "train.py", dataset, "--seeds", str(seeds), "--out", FOLDER / "torch.json"]
    command += [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    fix = "the end of the log says why; the C++ half above does not need torch"
    run("demo-torch", f"PyTorch: train mlp, gcn, gat with {seeds} seeds, then time epochs against plain torch", command, fix=fix,
        env=build.program_environment())
    return json.loads((FOLDER / "torch.json").read_text(encoding="utf-8"))


def run_demo(data: Optional[str], quick: bool) -> int:
    """The whole demo; its result is the report on stdout."""
    if data is not None and not Path(data).exists():
        raise StepFailed(f"read {data}", "there is no such file or folder; give an OGB raw folder or an .npz (docs/guides/data.md)", code=2)
    have_torch = setup()
    dataset = own(data) if data is not None and have_torch else Path(data).resolve() if data is not None else fashion()
    seeds = 2 if quick else 5
    settings = {**SETTINGS, **({"epochs": 20} if quick else {})}
    FOLDER.mkdir(parents=True, exist_ok=True)
    halves = {"C++": train_cpp(dataset, seeds, settings)}
    if have_torch:
        halves["PyTorch"] = train_torch(dataset, seeds, settings)
    document = FOLDER / "result.json"
    document.write_text(json.dumps({"dataset": os.path.relpath(dataset, ROOT), "seeds": seeds, "settings": settings, "halves": halves}, indent=1), encoding="utf-8")
    print(flush=True)
    return subprocess.run([sys.executable, str(EXAMPLES / "report.py"), str(document)], check=False).returncode
