"""What every verb shares: help, versions, mistyped words, colours, JSON, completions."""

import json
import subprocess

import pytest

VERBS = [
    ["doctor"],
    ["graph", "info"],
    ["graph", "convert"],
    ["graph", "reorder"],
    ["graph", "generate"],
    ["graph", "knn"],
    ["sparse", "profile"],
    ["sparse", "plan"],
    ["sparse", "explain"],
    ["sparse", "train"],
    ["sparse", "eval"],
    ["bench", "sparse"],
    ["rerun"],
    ["completion"],
]


def test_without_arguments_shows_help_on_stderr_and_exits_2(pantile):
    run = pantile()
    assert run.code == 2
    assert run.out == ""
    assert "Commands:" in run.err


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_help_of_every_verb_has_usage_options_and_an_example(pantile, verb):
    run = pantile.ok(*verb, "--help")
    path = "pantile " + " ".join(verb)
    assert run.out.startswith(path + ": ")
    assert f"Usage: {path}" in run.out
    assert "--json" in run.out and "--seed" in run.out
    assert path in run.out.split("Options of every command:")[1], "an example to copy"
    assert max(map(len, run.out.splitlines())) <= 120
    assert run.err == ""


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["help"]])
def test_help_of_the_program_lists_every_command(pantile, words):
    run = pantile.ok(*words)
    for command in ("doctor", "graph", "sparse", "bench", "rerun", "completion"):
        assert f"\n  {command} " in run.out


def test_help_verb_explains_a_command(pantile):
    assert pantile.ok("help", "graph", "info").out == pantile.ok("graph", "info", "--help").out


def test_version(pantile):
    assert pantile.ok("--version").out.startswith("pantile 0.")


@pytest.mark.parametrize(
    "arguments, suggestion",
    [
        (["grph", "info", "x"], "'graph'"),
        (["graph", "inof", "x"], "'info'"),
        (["graph", "gen", "rmat"], "'generate'"),
        (["sparse", "explian", "x"], "'explain'"),
        (["graph", "info", "x", "--jsn"], "'--json'"),
        (["graph", "reorder", "x", "--permutations", "p.npy"], "'--permutation'"),
        (["--colour", "never", "doctor"], "'--color'"),
    ],
)
def test_mistyped_word_gets_a_suggestion(pantile, arguments, suggestion):
    run = pantile.fails(*arguments, codes=(2,))
    assert f"did you mean {suggestion}" in run.err
    assert "--help" in run.err


def test_unlike_word_gets_the_list_of_commands(pantile):
    run = pantile.fails("graph", "zzzzzz", codes=(2,))
    assert "did you mean" not in run.err
    assert "info, convert, reorder, generate, knn" in run.err


@pytest.mark.parametrize("arguments", [["graph"], ["sparse"], ["graph", "info"], ["graph", "convert", "a.mtx"]])
def test_incomplete_command_exits_2(pantile, arguments):
    pantile.fails(*arguments, codes=(2,))


def test_options_stand_before_and_after_the_command(pantile, graph):
    first = pantile.ok("--json", "graph", "info", graph).json
    last = pantile.ok("graph", "info", graph, "--json").json
    assert first["fingerprint"] == last["fingerprint"]


def test_text_has_colours_only_when_asked(pantile, graph):
    assert "\x1b[" not in pantile.ok("graph", "info", graph).out
    assert "\x1b[" in pantile.ok("graph", "info", graph, "--color", "always").out
    assert "\x1b[" not in pantile.ok("graph", "info", graph, "--color", "never").out


def on_terminal(pantile, arguments, env):
    """Output of the program on a pseudo-terminal."""
    quoted = " ".join([pantile.program, *map(str, arguments)])
    done = subprocess.run(
        ["script", "-qec", quoted, "/dev/null"],
        cwd=pantile.folder,
        env={**pantile.environment, "TERM": "xterm", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    return done.stdout.decode()


def test_no_color_is_honoured_on_a_terminal(pantile, graph):
    assert "\x1b[1m" in on_terminal(pantile, ["graph", "info", graph], {})
    assert "\x1b[" not in on_terminal(pantile, ["graph", "info", graph], {"NO_COLOR": "1"})
    assert "\x1b[" not in on_terminal(pantile, ["graph", "info", graph], {"TERM": "dumb"})


def test_json_is_one_document(pantile, graph):
    run = pantile.ok("graph", "info", graph, "--json")
    decoded, end = json.JSONDecoder().raw_decode(run.out)
    assert run.out[end:].strip() == ""
    assert decoded["profile"]["edges"] == 7


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_commands_options_and_choices(pantile, shell):
    script = pantile.ok("completion", shell).out
    for word in ("graph", "explain", "num-nodes", "bfloat16", "rmat"):
        assert word in script


def test_bash_completion_parses(pantile, tmp_path):
    script = tmp_path / "completion.bash"
    script.write_text(pantile.ok("completion", "bash").out)
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize(
    "line, expected",
    [
        ("pantile ", {"graph", "sparse", "doctor"}),
        ("pantile gra", {"graph"}),
        ("pantile graph re", {"reorder"}),
        ("pantile --threads 2 graph re", {"reorder"}),
        ("pantile graph reorder x --how ", {"auto", "rcm", "community"}),
        ("pantile sparse plan x --dty", {"--dtype"}),
        ("pantile sparse plan x --js", {"--json"}),
        ("pantile graph generate ", {"rmat", "sbm"}),
        ("pantile completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_bash_completes(pantile, tmp_path, line, expected):
    script = tmp_path / "completion.bash"
    script.write_text(pantile.ok("completion", "bash").out)
    words = line.split(" ")
    quoted = " ".join(f"'{w}'" for w in words)
    program = (
        f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _pantile; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert expected <= set(done.stdout.split())


def test_threads_do_not_change_results(pantile):
    for threads in (1, 3):
        pantile.ok("graph", "generate", "rmat", "--scale", 10, "--out", f"g{threads}.pantile", "--threads", threads)
    assert (pantile.folder / "g1.pantile").read_bytes() == (pantile.folder / "g3.pantile").read_bytes()
