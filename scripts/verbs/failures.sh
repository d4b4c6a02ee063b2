#!/usr/bin/env bash
# Repeats at the end of a test run which tests failed and what a sanitizer reported.
#
#   scripts/dev failures COMMAND…
#
#   GRANDCENTRAL_FAILURES=FILE    also appends them to FILE, for a caller with several test runs
#
# Tests run in parallel, and often only the end of a long log is read.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
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
