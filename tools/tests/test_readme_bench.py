"""The benchmark table of the README comes from a document and from nowhere else."""

import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "readme_bench.py"


def test_the_table_replaces_what_stood_between_the_markers(tmp_path):
    document = {"summary": {"geomean_vs_torch": 2.345, "geomean_vs_dgl": None}, "machine": {"cpu": "Some CPU"}, "versions": {"torch": "2"}}
    (tmp_path / "b.json").write_text(json.dumps(document), encoding="utf-8")
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n", encoding="utf-8")
    for _ in range(2):
        subprocess.run([sys.executable, TOOL, tmp_path / "b.json", "--readme", readme], check=True)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert text.count("2.35x faster") == 1 or text.count("2.34x faster") == 1
    assert "unavailable here" in text and "Some CPU" in text
