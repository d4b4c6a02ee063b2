#!/usr/bin/env bash
# Runs the tests under the thread sanitizer: scripts/tsan.sh [FILTER].
exec "$(dirname "$0")/sanitize.sh" thread "$@"
