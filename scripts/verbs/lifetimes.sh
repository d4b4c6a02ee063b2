#!/usr/bin/env bash
# Races the last release of an object against each call, in C and in Swift, with sanitizers.
#
#   scripts/dev lifetimes [SECONDS] [SEED]      by default 10 seconds and seed 1
#   LIFETIME_MODES="address thread perturb swift"    selects the modes
#
# Runs C programs in which the last reference to an object meets each call
# (Tests/CConformance/Cases/Lifetimes*.c), on the drop-in library: with the address sanitizer, with
# the thread sanitizer, and unsanitized with freed memory overwritten. Runs each kind by itself,
# then random kinds together for SECONDS. Then runs 100 * SECONDS rounds of the same in Swift, with
# optimisation and the address sanitizer (Tests/Probes/LifetimeProbe).
source "$(dirname "$0")/../lib/common.sh"

seconds=${1:-10}
export LIFETIME_SECONDS=$seconds FUZZ_SEED=${2:-1} FUZZ_BEYOND=1
# Sanitized code is slow, and a deadline only ends a case that hangs.
export GRANDCENTRAL_DEADLINE=${GRANDCENTRAL_DEADLINE:-120}
suite=(--only-ours --no-headers --filter '^lifetime' --variant '^clang, ours' --limit $((seconds + 200)))

for mode in ${LIFETIME_MODES:-address thread perturb swift}; do
  echo "── lifetimes: $mode"
  case $mode in
  perturb)
    scripts/dev dropin
    MALLOC_PERTURB_=85 scripts/dev conformance --ours .build-dropin/release "${suite[@]}"
    ;;
  swift)
    build=(-c release --sanitize=address --scratch-path .build-release-address --product LifetimeProbe)
    swift build "${build[@]}"
    ASAN_OPTIONS=detect_leaks=0 .build-release-address/release/LifetimeProbe $((seconds * 100))
    ;;
  *)
    DROPIN_SANITIZER=$mode scripts/dev dropin 2>&1 | grep -v 'Cannot export local symbol'
    LIFETIME_ROUNDS=${LIFETIME_ROUNDS:-100} scripts/dev conformance \
      --ours ".build-dropin/release-$mode" --sanitize "$mode" "${suite[@]}"
    ;;
  esac
done
