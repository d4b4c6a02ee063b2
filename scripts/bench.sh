#!/usr/bin/env bash
# Measures Grand Central beside the toolchain's Dispatch, and beside libuv if it is installed and
# can do the same job (scripts/setup.sh --benchmarks installs it).
#
#   scripts/bench.sh [FILTER] [OPTION…]     e.g. scripts/bench.sh sync/idle --rounds 15
#
# FILTER is part of a workload's name; scripts/bench.sh --help shows the options, --list the rows.
set -euo pipefail

folder="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/Benchmarks"

arguments=()
if [[ $# -gt 0 && $1 != -* ]]; then
  arguments+=(--filter "$1")
  shift
fi
arguments+=("$@")

# Without libuv the table has one column less.
if echo '#include <uv.h>' | clang -E - >/dev/null 2>&1; then
  export BENCHMARKS_LIBUV=1
else
  echo "bench: no libuv here; scripts/setup.sh --benchmarks installs it" >&2
fi

build=(swift build -c release --package-path "$folder" --product bench)
# The build's output goes to standard error, so that the table can be piped.
"${build[@]}" >&2
exec "$("${build[@]}" --show-bin-path)/bench" "${arguments[@]}"
