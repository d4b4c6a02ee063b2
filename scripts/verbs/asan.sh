#!/usr/bin/env bash
# Runs the tests under the address sanitizer with its leak checker.
#
#   scripts/dev asan [FILTER]     by default the tests of the engine that run in the test process
exec bash "$(dirname "$0")/../lib/sanitize.sh" address "$@"
