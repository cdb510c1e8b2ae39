#!/usr/bin/env bash
# Lay out every C file as .clang-format says. With --check: change nothing, and fail if a file would change.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
case ${1-} in
"") ;;
--check) mode=(--dry-run --Werror) ;;
*)
    echo "format: unknown argument '$1'; it takes --check or nothing" >&2
    exit 2
    ;;
esac
folders=()
for folder in include src python tests examples bench fuzz; do
    [[ ! -d $folder ]] || folders+=("$folder")
done
find "${folders[@]}" -path python/build -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format "${mode[@]}"
