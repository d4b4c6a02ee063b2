#!/usr/bin/env bash
# Formats all Swift sources.
source "$(dirname "$0")/../lib/common.sh"

swift format format --in-place --parallel --recursive "${sources[@]}"
