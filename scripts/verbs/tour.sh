#!/usr/bin/env bash
# Runs the tour: real work through the queues, in chapters that check their own results.
#
#   scripts/dev tour [ARGUMENT…]     as `tour`: see scripts/dev tour -- --help
#
# The same as `swift run -c release --package-path Examples tour`, built as the tests build it.
source "$(dirname "$0")/../lib/common.sh"

if [[ ${1:-} == -- ]]; then shift; fi
build_program Examples tour
exec "$program" "$@"
