#!/usr/bin/env bash
# Programs in C and with Swift Concurrency, built once for the toolchain's libdispatch.so and timed on it and on ours.
#
#   scripts/bench-dropin.sh [FILTER] [--rounds N]     --help tells the rest
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/bench_dropin.py "$@"
