#!/usr/bin/env bash
# Checks the engine's promises with random programs: scripts/fuzz.sh [SECONDS] [SEED] [OPTION…]
#
#   scripts/fuzz.sh                         a minute on our engine, with a new seed
#   scripts/fuzz.sh --programs 15000 --engine both
#   scripts/fuzz.sh --replay SEED:PROGRAM   repeats a finding
#   scripts/fuzz.sh 600 --busy 100          all programs contain items that poll and spin for others
#   SANITIZER=thread scripts/fuzz.sh 600    under a sanitizer; its first report is a finding
#
# --help shows all options. Prints a finding as a small Swift program, and exits with 1.
set -euo pipefail
cd "$(dirname "$0")/.."

# A crash is part of the report, and symbolising it takes seconds.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no}
build=(swift build -c release --product fuzz)
if [[ -n ${SANITIZER:-} ]]; then
  build=(swift build --sanitize="$SANITIZER" --scratch-path ".build-$SANITIZER" --product fuzz)
  export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
fi
"${build[@]}" >&2
exec "$("${build[@]}" --show-bin-path)/fuzz" "$@"
