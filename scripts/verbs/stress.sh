#!/usr/bin/env bash
# Repeats the stress tests, each time with another seed.
#
#   scripts/dev stress [SECONDS] [SEED]     by default for 60 seconds, with a new seed
#
# The first run uses SEED, each further run the next number. The first failure ends the script,
# which prints how to repeat it. GRANDCENTRAL_STRESS multiplies the work of a run.
source "$(dirname "$0")/../lib/common.sh"

limit=${1:-60}
seed=${2:-$RANDOM$RANDOM}
scripts/dev build .
set_build .

log=$(mktemp)
trap 'rm -f "$log"' EXIT
begin=$SECONDS
runs=0
while ((runs == 0 || SECONDS - begin < limit)); do
  if ! GRANDCENTRAL_SEED=$seed swift test --skip-build --disable-xctest "${build[@]}" \
    --filter '^StressTests\.' >"$log" 2>&1; then
    cat "$log"
    echo "stress: FAILED after $runs runs that passed. Again: scripts/dev stress 0 $seed" >&2
    exit 1
  fi
  runs=$((runs + 1))
  echo "stress: run $runs passed with GRANDCENTRAL_SEED=$seed ($((SECONDS - begin)) s)"
  seed=$((seed + 1))
done
