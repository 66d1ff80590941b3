#!/usr/bin/env bash
# From a graph file to a measured operator, in the shell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

pantile graph generate rmat --scale 12 --out "$folder/web.mtx" --seed 7
pantile graph info "$folder/web.mtx"
pantile graph convert "$folder/web.mtx" "$folder/web.pantile"
pantile graph info "$folder/web.pantile" --json >"$folder/info.json"
pantile sparse plan "$folder/web.pantile" --op spmm,gat --width 16,64
pantile sparse explain "$folder/web.pantile" --op spmm --width 64

# A missing file is exit code 2 and one line on stderr.
code=0
pantile graph info "$folder/gone.mtx" 2>"$folder/error" || code=$?
cat "$folder/error"
test "$code" = 2 || test "$code" = 3
