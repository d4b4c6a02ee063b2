#!/usr/bin/env bash
# Runs the tests. scripts/test.sh [FILTER]: only tests whose name matches the regular expression.
#   GRANDCENTRAL_STRESS=10    ten times the work in the stress tests
#   GRANDCENTRAL_SEED=42      replays a random test; each prints its seed
#   GRANDCENTRAL_PATIENCE=300 the seconds after which a waiting test fails, for very slow machines
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests crash processes on purpose, and symbolising each stack would take most of the time.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no}

arguments=(--disable-xctest)
if (($# > 0)); then arguments+=(--filter "$1"); fi
# With the warnings flag of tidy.sh, so that both use the same build.
swift build --build-tests -Xswiftc -warnings-as-errors
scripts/failures.sh swift test --skip-build -Xswiftc -warnings-as-errors "${arguments[@]}"
