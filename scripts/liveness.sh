#!/usr/bin/env bash
# Measures how long an item waits for a thread behind items that compute, poll, yield or block for
# ever, on our drop-in libdispatch.so (scripts/dropin.sh) and on the toolchain's.
#
#   scripts/liveness.sh [REGEX] [--rounds N] [--launcher 'taskset -c 0'] …     --help shows all
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/liveness.py "$@"
