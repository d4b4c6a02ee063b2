#!/usr/bin/env bash
# Formats all Swift sources, and wraps the paragraphs of all Markdown at 100 columns.
source "$(dirname "$0")/../lib/common.sh"

swift format format --in-place --parallel --recursive "${sources[@]}"
git ls-files '*.md' | xargs python3 scripts/lib/reflow.py
