#!/usr/bin/env bash
# Runs the C conformance suite: programs that know only the C API, built by clang with blocks and by
# gcc, against our headers and the toolchain's, each case in a process of its own. It checks the
# headers first (with every compiler and language that they support; declarations, types and
# constants against the lists and the toolchain's), then the toolchain's library as the oracle, then
# ours.
#
#   scripts/conformance.sh [--ours FOLDER] [--filter REGEX] …     --help shows all options
#
# FOLDER holds a drop-in libdispatch.so.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/conformance.py "$@"
