#!/usr/bin/env bash
# Runs the checks of .ci/run for hours.
#
#   scripts/dev nightly [HOURS] [SEED]     by default eight hours
#
# Each search without an end of its own takes a 24th of HOURS, and what is left of HOURS goes to the
# fuzzer and the stress tests. The other steps take what they take.
#
# The default seed is the date; all random steps use it and print it. A failure does not stop the
# other steps, and is reported at the end. Each step's output is in .build/nightly.
source "$(dirname "$0")/../lib/common.sh"
set +e

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
search=$((hours * 3600 / 24))

# Steps below use this library, whichever of them fail.
step drop-in scripts/dev dropin
step tests scripts/dev test
step models scripts/dev model --share 1 --seed "$seed"
step mutants scripts/dev model mutants
step orderings scripts/dev model orderings
step self-test scripts/dev model self-test 100000 "$seed"
step fibers scripts/dev fibers
step thread-sanitizer env GRANDCENTRAL_STRESS=10 scripts/dev tsan
step thread-sanitizer-faults scripts/dev tsan '^FaultTests\.'
step address-sanitizer env GRANDCENTRAL_STRESS=10 scripts/dev asan
step address-sanitizer-faults scripts/dev asan '^FaultTests\.'
# Random lifetimes, in each C mode and then in Swift; each C case under valgrind.
step lifetimes scripts/dev lifetimes "$search" "$seed"
step conformance scripts/dev conformance --ours .build-dropin/release --fuzz "$search" --seed "$seed"
step known-issues scripts/dev known-issues --print
step memcheck scripts/dev conformance --ours .build-dropin/release --only-ours --no-headers --memcheck
# Builds the package that .ci/run only checks the types of.
step scaling scripts/dev scaling list
step docs scripts/dev docs
step snippets scripts/dev snippets --ours .build-dropin/release
step coverage scripts/dev coverage
# In Chromium and in Perfetto's processor, if they are installed.
step timeline scripts/dev timeline --items 1000000
step embedding scripts/dev embedding
step traits scripts/dev traits
step dropin-tour scripts/dev dropin-tour
step packages scripts/dev package-test --reproducible
step licences .build-reuse/bin/reuse lint --lines
step readme scripts/dev readme
step arm64 scripts/dev arm64
# Checks that every row ends on both libraries; the figures of such a run mean little.
step bench-dropin scripts/dev bench-dropin --rounds 1
step toolchain scripts/dev fuzz "$search" "$seed" --engine toolchain
# Every program contains items that wait for each other without a call into the engine.
step fuzz-busy scripts/dev fuzz "$search" "$seed" --busy 100
step fuzz-thread-sanitizer env SANITIZER=thread scripts/dev fuzz "$search" "$seed"
round=0
while ((SECONDS < finish)); do
  round=$((round + 1))
  step "fuzz-$round" scripts/dev fuzz 1800 $((seed + round)) --engine ours
  ((SECONDS < finish)) && step "stress-$round" scripts/dev stress 1800 $((seed + round))
done

if ((${#failures[@]} > 0)); then
  echo "── FAILED: ${failures[*]}"
  exit 1
fi
echo "── nothing found in $SECONDS s, seed $seed"
