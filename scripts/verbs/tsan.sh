#!/usr/bin/env bash
# Runs the tests under the thread sanitizer.
#
#   scripts/dev tsan [FILTER]     by default the tests of the engine that run in the test process
exec bash "$(dirname "$0")/../lib/sanitize.sh" thread "$@"
