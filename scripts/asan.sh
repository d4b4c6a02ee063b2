#!/usr/bin/env bash
# Runs the tests under the address sanitizer with its leak checker: scripts/asan.sh [FILTER].
exec "$(dirname "$0")/sanitize.sh" address "$@"
