#!/usr/bin/env bash
# The tests under the thread sanitizer: scripts/tsan.sh [FILTER].
exec "$(dirname "$0")/sanitize.sh" thread "$@"
