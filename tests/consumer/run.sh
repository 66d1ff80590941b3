#!/usr/bin/env bash
# run.sh BUILD_TREE PREFIX SCRATCH: installs the tree, then builds and runs the consumer twice, through CMake and through pkg-config.
set -euo pipefail
tree=$1 prefix=$2 scratch=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

cmake --install "$tree" --prefix "$prefix"
cmake -S "$here" -B "$scratch/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$scratch/cmake"
"$scratch/cmake/consumer"

# The file names its prefix; what was installed elsewhere than configured says so with a variable, as pkg-config allows.
pc=$(find "$prefix" -name pantile.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" --cflags --libs pantile)
# shellcheck disable=SC2086 # flags are words
"${CXX:-c++}" -O1 "$here/consumer.cpp" $flags -o "$scratch/consumer"
"$scratch/consumer"
