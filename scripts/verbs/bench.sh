#!/usr/bin/env bash
# Measures this engine beside the toolchain's Dispatch, and beside libuv where that can do the same.
#
#   scripts/dev bench [FILTER] [OPTION…]     e.g. scripts/dev bench sync/idle --rounds 15
#   scripts/dev bench --list                 the workloads; FILTER is part of a workload's name
#   scripts/dev bench --options              lists all options
#
# scripts/dev setup --benchmarks installs libuv.
source "$(dirname "$0")/../lib/common.sh"

arguments=()
if [[ $# -gt 0 && $1 != -* ]]; then
  arguments+=(--filter "$1")
  shift
elif [[ ${1:-} == --options ]]; then
  set -- --help
fi
arguments+=("$@")

# Without libuv the table has one column less.
if echo '#include <uv.h>' | clang -E - >/dev/null 2>&1; then
  export BENCHMARKS_LIBUV=1
else
  echo "bench: no libuv here; scripts/dev setup --benchmarks installs it" >&2
fi
build_program Benchmarks bench
exec "$program" "${arguments[@]}"
