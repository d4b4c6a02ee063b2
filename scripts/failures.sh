#!/usr/bin/env bash
# Runs a command that runs tests. When it fails, says once more at the end which tests did and what a sanitizer
# reported: tests run side by side, and what a reader is shown of a long log is often its end.
#   scripts/failures.sh COMMAND…
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if ((status != 0)); then
  echo "── failed with status $status: $*"
  # An issue with the lines that explain it, which begin with an arrow or are indented.
  # Alternatives, and no set of characters: where awk reads bytes, the set has the cross's first byte too.
  awk '/^◇|^✔/ { told = 0 }
    /^✘|^ThreadSanitizer|^WARNING: |^SUMMARY: |^==[0-9]+==ERROR|[Ff]atal error:/ { told = 12 }
    told-- > 0' "$log" | cut -c1-1000 | tail -n 150
fi
exit "$status"
