#!/usr/bin/env bash
# The tests under the address sanitizer and its leak checker: scripts/asan.sh [FILTER].
exec "$(dirname "$0")/sanitize.sh" address "$@"
