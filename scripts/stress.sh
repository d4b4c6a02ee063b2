#!/usr/bin/env bash
# Runs the stress tests again and again, each time with another seed: scripts/stress.sh [SECONDS] [SEED].
# For 60 seconds, or SECONDS. The first run takes SEED, each further one the next number. The first run
# that fails ends it and says how to have it again. GRANDCENTRAL_STRESS multiplies the work of a run.
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
