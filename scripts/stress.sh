#!/usr/bin/env bash
# Repeats the stress tests, each time with another seed: scripts/stress.sh [SECONDS] [SEED]. Repeats
# them for 60 seconds, or for SECONDS. The first run uses SEED, each further run the next number.
# The first failure ends the script, which prints how to repeat it. GRANDCENTRAL_STRESS multiplies
# the work of a run.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${1:-60}
seed=${2:-$RANDOM$RANDOM}
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no}
build=(-Xswiftc -warnings-as-errors)
swift build --build-tests "${build[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
begin=$SECONDS
runs=0
while ((runs == 0 || SECONDS - begin < limit)); do
  if ! GRANDCENTRAL_SEED=$seed swift test --skip-build --disable-xctest "${build[@]}" \
    --filter '^StressTests\.' >"$log" 2>&1; then
    cat "$log"
    echo "stress: FAILED after $runs runs that passed. Again: scripts/stress.sh 0 $seed" >&2
    exit 1
  fi
  runs=$((runs + 1))
  echo "stress: run $runs passed with GRANDCENTRAL_SEED=$seed ($((SECONDS - begin)) s)"
  seed=$((seed + 1))
done
