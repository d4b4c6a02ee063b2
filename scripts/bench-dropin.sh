#!/usr/bin/env bash
# Times programs in C and with Swift Concurrency, built once for the toolchain's libdispatch.so, on
# that library and on ours.
#
#   scripts/bench-dropin.sh [FILTER] [--rounds N]     --help shows all options
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/bench_dropin.py "$@"
