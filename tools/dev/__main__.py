"""`./dev <command>`: sets up what is missing, then does the work. `./dev help` lists the commands."""

from __future__ import annotations

import argparse
import shutil
import sys
import time

import bench
import build
import debian
import demo
import environment
import suite
from step import BUILD, ROOT, StepFailed, explain, run, say
from tally import Tally

COMMANDS = {}


def command(name: str, help: str, *options: tuple):
    """Registers a function as `./dev <name>`; options are (flags, keyword arguments) of add_argument."""

    def register(function):
        COMMANDS[name] = (function, help, options)
        return function

    return register


@command("demo", "train GNNs on real data, in C++ and in PyTorch", (["--data"], {"metavar": "DIR", "help": "your own graph: an OGB raw folder or an .npz"}),
         (["--quick"], {"action": "store_true", "help": "two seeds and fewer epochs"}))
def _demo(options) -> int:
    return demo.run_demo(options.data, options.quick)


@command("test", "prove it right; ends with `N passed, N failed`", (["--ci"], {"action": "store_true", "help": "with fuzzing and docs"}),
         (["--long"], {"action": "store_true", "help": "with long fuzzing and full matrices"}))
def _test(options) -> int:
    return suite.run_all(options.ci, options.long)


@command("build", "library, program, C++ tests and Python extension, in build/release")
def _build(options) -> int:
    debian.ensure(debian.BUILD + debian.TEST)
    build.release("library, program and C++ tests", tests=True)
    environment.ensure_venv()
    environment.ensure_requirements("build")
    build.python_package()
    return 0


@command("bench", "ours and the rivals in one run: ./dev bench sparse [--quick] [--json FILE]", (["module"], {"nargs": "?", "default": "sparse"}),
         (["--quick"], {"action": "store_true"}), (["--json"], {"metavar": "FILE"}))
def _bench(options) -> int:
    return bench.run_bench(options.module, options.quick, options.json)


@command("bench-setup", "install the rivals of the benchmarks")
def _bench_setup(options) -> int:
    bench.setup()
    return 0


@command("check", "formatting, include ladder, docstrings, leftovers, links; under a minute", (["names"], {"nargs": "*", "metavar": "NAME"}))
def _check(options) -> int:
    debian.ensure(["build-essential", "clang-format", *debian.BUILD[6:]])
    return run("check", "house checks", [sys.executable, "-B", "tools/check", *options.names], fix="change the lines named above").code


@command("asan", "C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer")
def _asan(options) -> int:
    return _only(suite.address_sanitizer)


@command("tsan", "C++ tests under ThreadSanitizer")
def _tsan(options) -> int:
    return _only(lambda tally: suite.thread_sanitizer(tally, everything=True))


@command("fuzz", "each fuzz target for a while", (["--seconds"], {"type": int, "default": 60}))
def _fuzz(options) -> int:
    return _only(lambda tally: suite.fuzz(tally, options.seconds))


def _only(runner) -> int:
    debian.ensure(debian.BUILD + debian.TEST)
    tally = Tally()
    runner(tally)
    return tally.close()


@command("gpu-check", "what needs a GPU")
def _gpu_check(options) -> int:
    print("There are no GPU kernels yet: Pantile 0.1 runs on the CPU. The ladder keeps a place for them (simt, docs/architecture.md).")
    return 3


@command("docs", "build the documentation site into site/")
def _docs(options) -> int:
    environment.ensure_venv()
    environment.ensure_requirements("docs")
    run("docs", "documentation site in site/", [environment.PYTHON, "-m", "mkdocs", "build", "--strict"], fix="the log names the page")
    return 0


@command("clean", "remove build trees, logs and reports; .venv stays unless --all", (["--all"], {"action": "store_true"}))
def _clean(options) -> int:
    folders = [BUILD, ROOT / "site", ROOT / "dist"] + ([environment.VENV] if options.all else [])
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for extension in (ROOT / "python" / "pantile").glob("*.so"):
        extension.unlink()
    say("ok", "removed " + ", ".join(folder.name for folder in folders))
    return 0


def main() -> int:
    """Parses the command line and runs one command."""
    parser = argparse.ArgumentParser(prog="./dev", description="One command for everything.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (_, text, options) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text)
        for flags, keywords in options:
            sub.add_argument(*flags, **keywords)
    commands.add_parser("help", help="this list")
    options = parser.parse_args()
    if options.command in (None, "help"):
        parser.print_help()
        return 0 if options.command else 2
    start = time.monotonic()
    try:
        code = COMMANDS[options.command][0](options)
    except StepFailed as failure:
        return explain(failure)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    if options.command != "test":
        say("done" if code == 0 else "exit " + str(code), f"./dev {options.command}", time.monotonic() - start)
    return code


if __name__ == "__main__":
    sys.exit(main())
