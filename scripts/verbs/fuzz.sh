#!/usr/bin/env bash
# Runs random programs on an engine and judges their logs.
#
#   scripts/dev fuzz [SECONDS] [SEED] [OPTION…]
#   scripts/dev fuzz --options              lists all options
#
#   scripts/dev fuzz                        a minute on our engine, with a new seed
#   scripts/dev fuzz --programs 15000 --engine both
#   scripts/dev fuzz --replay SEED:PROGRAM  repeats a finding
#   scripts/dev fuzz --fault NAME           with a promise broken on purpose; --list-faults
#   scripts/dev fuzz 600 --busy 100         all programs contain items that poll and spin for others
#   SANITIZER=thread scripts/dev fuzz 600   under a sanitizer; its first report is a finding
#
# Prints a finding as a small Swift program, and exits with 1.
source "$(dirname "$0")/../lib/common.sh"

if [[ ${1:-} == --options ]]; then set -- --help; fi
if [[ -n ${SANITIZER:-} ]]; then
  build=(--package-path Comparison --scratch-path "Comparison/.build-$SANITIZER"
    --sanitize="$SANITIZER" --product fuzz)
  swift build "${build[@]}" >&2
  program=$(swift build "${build[@]}" --show-bin-path)/fuzz
  export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/scripts/lib/thread.supp ${TSAN_OPTIONS:-}"
else
  build_program Comparison fuzz
fi
exec "$program" "$@"
