#!/usr/bin/env bash
# Runs the checks of .ci/run for hours: scripts/nightly.sh [HOURS] [SEED]; by default eight hours.
# The default seed is the date; all random steps use it and print it. A failure does not stop the
# other steps, and is reported at the end. Each step's output is in .build/nightly.
set -uo pipefail
cd "$(dirname "$0")/.."

hours=${1:-8}
seed=${2:-$(date +%Y%m%d)}
logs=.build/nightly
mkdir -p "$logs"
failures=()

# step NAME COMMAND…
step() {
  local name=$1 begin=$SECONDS
  shift
  echo "── $name: $*"
  if "$@" >"$logs/$name.log" 2>&1; then
    echo "── $name took $((SECONDS - begin)) s"
  else
    failures+=("$name")
    echo "── $name FAILED after $((SECONDS - begin)) s: $logs/$name.log"
  fi
}

# The rest of the time goes to the fuzzer and the stress tests alternately, half an hour each.
finish=$((SECONDS + hours * 3600))

step models scripts/model.sh --share 1 --seed "$seed"
step mutants scripts/model.sh mutants
step orderings scripts/model.sh orderings
step self-test scripts/model.sh self-test 100000 "$seed"
step fibers scripts/fibers.sh
step thread-sanitizer env GRANDCENTRAL_STRESS=10 scripts/tsan.sh
step thread-sanitizer-faults scripts/tsan.sh '^FaultTests\.'
step address-sanitizer env GRANDCENTRAL_STRESS=10 scripts/asan.sh
step address-sanitizer-faults scripts/asan.sh '^FaultTests\.'
# Random lifetimes, 20 minutes in each C mode and then in Swift; each C case under valgrind.
step lifetimes scripts/lifetimes.sh 1200 "$seed"
step memcheck scripts/conformance.sh --ours .build-dropin/release --only-ours --no-headers --memcheck
step coverage scripts/coverage.sh
step embedding scripts/embedding.sh
step dropin-tour scripts/dropin-tour.sh
# Checks that every row ends on both libraries; the figures of such a run mean little.
step bench-dropin scripts/bench-dropin.sh --rounds 1
step toolchain scripts/fuzz.sh 1200 "$seed" --engine toolchain
# Every program contains items that wait for each other without a call into the engine.
step fuzz-busy scripts/fuzz.sh 1200 "$seed" --busy 100
step fuzz-thread-sanitizer env SANITIZER=thread scripts/fuzz.sh 1200 "$seed"
round=0
while ((SECONDS < finish)); do
  round=$((round + 1))
  step "fuzz-$round" scripts/fuzz.sh 1800 $((seed + round)) --engine ours
  ((SECONDS < finish)) && step "stress-$round" scripts/stress.sh 1800 $((seed + round))
done

if ((${#failures[@]} > 0)); then
  echo "── FAILED: ${failures[*]}"
  exit 1
fi
echo "── nothing found in $SECONDS s, seed $seed"
