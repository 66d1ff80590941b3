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
SETTINGS = {"epochs": 40, "hidden": 32, "heads": 2, "dropout": 0.5, "input-dropout": 0.0, "learning-rate": 0.02, "weight-decay": 5e-4}


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


def cpp_training(name: str, what: str, dataset: Path, model: str, seeds: int, settings: dict) -> list:
    """Runs `pantile sparse train` and returns its runs, one a seed."""
    document = FOLDER / f"{name}.json"
    command = [build.PROGRAM, "sparse", "train", "--data", dataset, "--model", model, "--seeds", str(seeds), "--patience", "0", "--json"]
    command += ["--threads", "1", "--attention-dropout", "0", "--normalise", "none"]  # as the PyTorch half
    command += [part for key, value in settings.items() for part in (f"--{key}", str(value))]
    words = " ".join(shlex.quote(str(part)) for part in command)
    fix = "the program's own message is in the log"
    run(f"demo-{name}", what, ["bash", "-c", f"{words} >{shlex.quote(str(document))}"], fix=fix)
    return json.loads(document.read_text(encoding="utf-8"))["runs"]


def train_cpp(dataset: Path, seeds: int, settings: dict) -> dict:
    """Test accuracies of every model and seed."""
    accuracy = {}
    for model in MODELS:
        runs = cpp_training(f"cpp-{model}", f"C++: train {model} with {seeds} seeds", dataset, model, seeds, settings)
        accuracy[model] = [one["test"]["accuracy"] for one in runs]
    return {"test_accuracy": accuracy}


def time_cpp(dataset: Path, settings: dict) -> dict:
    """Seconds of a training epoch of every model."""
    seconds, few = {}, {**settings, "epochs": 10}
    for model in MODELS:
        runs = cpp_training(f"cpp-time-{model}", f"C++: time epochs of {model}", dataset, model, 2, few)
        seconds[model] = min(one["seconds_per_epoch"] for one in runs)
    return seconds


def torch_script(name: str, what: str, dataset: Path, settings: dict, *options: str) -> dict:
    """Runs examples/demo/train.py and returns its document."""
    document = FOLDER / f"{name}.json"
    command = [environment.PYTHON, EXAMPLES / "train.py", dataset, "--out", document, *options]
    command += [part for key, value in settings.items() for part in (f"--{key}", str(value))]
    fix = "the end of the log says why; the C++ half does not need torch"
    run(f"demo-{name}", what, command, fix=fix, env={**build.program_environment(), "OMP_NUM_THREADS": "1"})
    return json.loads(document.read_text(encoding="utf-8"))


def train_torch(dataset: Path, seeds: int, settings: dict) -> dict:
    """The same networks in PyTorch, with pantile.nn."""
    what = f"PyTorch: train {', '.join(MODELS)} with {seeds} seeds"
    return torch_script("torch", what, dataset, settings, "--seeds", str(seeds), "--rounds", "0")


def time_torch(dataset: Path, settings: dict) -> dict:
    """Seconds of a training epoch of every model, and of the same layers in plain torch."""
    what = "PyTorch: time epochs, ours and plain torch in turn"
    return torch_script("torch-time", what, dataset, settings, "--seeds", "0", "--rounds", "8")["seconds_per_epoch"]


def run_demo(data: Optional[str], quick: bool) -> int:
    """The whole demo; its result is the report on stdout."""
    if data is not None and not Path(data).exists():
        raise StepFailed(f"read {data}", "there is no such file or folder; give an OGB raw folder or an .npz (docs/guides/data.md)", code=2)
    have_torch = setup()
    dataset = own(data) if data is not None and have_torch else Path(data).resolve() if data is not None else fashion()
    seeds = 2 if quick else 5
    settings = {**SETTINGS, **({"epochs": 20} if quick else {})}
    FOLDER.mkdir(parents=True, exist_ok=True)
    halves = {"C++": {}, **({"PyTorch": {}} if have_torch else {})}
    jobs = [lambda: halves["C++"].update(train_cpp(dataset, seeds, settings))]
    if have_torch:
        jobs.append(lambda: halves["PyTorch"].update(train_torch(dataset, seeds, settings)))
    side_by_side(*jobs)  # one thread each; both time their epochs alone
    halves["C++"]["seconds_per_epoch"] = time_cpp(dataset, settings)
    if have_torch:
        halves["PyTorch"]["seconds_per_epoch"] = time_torch(dataset, settings)
    document = FOLDER / "result.json"
    document.write_text(json.dumps({"dataset": os.path.relpath(dataset, ROOT), "seeds": seeds, "settings": settings, "halves": halves}, indent=1), encoding="utf-8")
    print(flush=True)
    return subprocess.run([sys.executable, str(EXAMPLES / "report.py"), str(document)], check=False).returncode
