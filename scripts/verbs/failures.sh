#!/usr/bin/env bash
# Repeats at the end of a test run which tests failed and what a sanitizer reported.
#
#   scripts/dev failures COMMAND…
#
#   GRANDCENTRAL_FAILURES=FILE    also appends them to FILE, for a caller with several test runs
#   GRANDCENTRAL_AGAIN=3          if COMMAND is a `swift test` in which at most three tests failed,
#                                 runs these again alone, and passes if they pass
#
# Tests run in parallel, and often only the end of a long log is read.
#
# .ci/run tries again, so that one test that lost a race to the machine's other work does not refuse
# a change. It never does so after a crash or a sanitizer's report, it names what needed the second
# run, and the nightly run has no second one.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log" "$log.again"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Runs the tests that failed again, one at a time. Fails if one fails again, or if the first run
# shows more than failed expectations.
passes_alone() {
  local names expression command=()
  grep -q '^✘ Test run with .* failed after' "$log" || return 1
  if grep -qE 'WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer' "$log"; then return 1; fi
  names=$(sed -nE '/^✘ Test run/d; s/^✘ Test "?([^"]*)"? (with [0-9]+ test cases )?failed after .*/\1/p' "$log" | sort -u)
  if [[ -z $names ]] || (($(wc -l <<<"$names") > GRANDCENTRAL_AGAIN)); then return 1; fi
  # Special characters of a name stand for themselves.
  expression=$(sed -E 's/[][\.*^$+?(){}|]/\\&/g' <<<"$names" | paste -sd '|')
  # With two filters, tests of either would run.
  while (($# > 0)); do
    if [[ $1 == --filter ]]; then shift; else command+=("$1"); fi
    shift
  done
  printf '── again, alone:\n%s\n' "$names"
  "${command[@]}" --experimental-maximum-parallelization-width 1 --filter "$expression" 2>&1 | tee "$log.again"
  ((PIPESTATUS[0] == 0)) && grep -qE '^✔ Test run with [1-9][0-9]* test' "$log.again" || return 1
  sed 's/^/── failed beside others and passed alone: /' <<<"$names"
}

if ((status != 0 && ${GRANDCENTRAL_AGAIN:-0} > 0)) && passes_alone "$@"; then exit 0; fi
if ((status != 0)); then
  echo "── failed with status $status: $*"
  # Prints an issue with its explanation: lines that begin with an arrow or are indented. The
  # pattern uses alternatives instead of a character set: where awk reads bytes, the set would
  # contain the first byte of the cross too.
  awk '/^◇|^✔/ { reported = 0 }
    /^✘|^ThreadSanitizer|^WARNING: |^SUMMARY: |^==[0-9]+==ERROR|[Ff]atal error:/ { reported = 12 }
    reported-- > 0' "$log" | cut -c1-1000 | tail -n 150 | tee -a "${GRANDCENTRAL_FAILURES:-/dev/null}"
fi
exit "$status"
