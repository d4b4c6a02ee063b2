#!/usr/bin/env bash
# Lists the symbols that programs and libraries need and that a drop-in library lacks.
#
#   scripts/dev dropin-check LIBDISPATCH [FILE…]     FILE: a program or a library; by default the
#                                                    toolchain's libraries
#
# Also compares the sizes of data. The loader reports a missing function only when it is called, and
# data of another size with a warning at most. Check a client library of a newer or older toolchain
# before it runs. Relative paths start at the working folder.
set -euo pipefail

(($# >= 1)) || { echo "scripts/dev dropin-check LIBDISPATCH [FILE…]" >&2 && exit 64; }
library=$1
shift
files=("$@")
if ((${#files[@]} == 0)); then
  folder=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/linux
  mapfile -t files < <(
    find "$folder" -maxdepth 1 -name '*.so' ! -name libdispatch.so -print | sort)
fi

names='^(dispatch_|_dispatch_|_os_object_|libdispatch_init)'
exports=$(nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u)
status=0
for file in "${files[@]}"; do
  while read -r name; do
    if ! grep -qxF "$name" <<<"$exports"; then
      echo "$file wants $name, which $library has not: it is of another version." >&2
      status=1
    fi
  done < <(nm -D --undefined-only "$file" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' |
    grep -E "$names" || true)
  # A program has the size of the library's data that it was linked with: copy relocations.
  while read -r size name; do
    own=$(nm -D -S --defined-only "$library" | awk -v name="$name" '$4 == name { print $2 }')
    if [[ -n $own && $((16#$own)) -ne $((16#$size)) ]]; then
      echo "$file has $name at $((16#$size)) bytes, and $library at $((16#$own)): it is of another version." >&2
      status=1
    fi
  done < <(nm -D -S --defined-only "$file" | awk '$3 == "B" { sub(/@.*/, "", $4); print $2, $4 }' |
    grep -E " (dispatch_|_dispatch_)" || true)
done
exit $status
