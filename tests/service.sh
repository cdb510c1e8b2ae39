#!/usr/bin/env bash
# Drive a real service over its socket. Usage: service.sh PROGRAM [FILE...]: the files of tests/service to run, by default all.
# A test that is skipped, for want of a browser, say, is not a test that has passed: scripts/setup.sh installs what they need.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
GBOSE=$(realpath "$1")
export GBOSE PYTHONDONTWRITEBYTECODE=1
shift
cd "$here/service"
files=("$@")
[[ ${#files[@]} -gt 0 ]] || files=(.)
output=$(mktemp)
trap 'rm -f "$output"' EXIT
/usr/bin/python3 -m pytest -q -rs -p no:cacheprovider "${files[@]}" | tee "$output"
! grep '^SKIPPED' "$output" >/dev/null || { echo "service: tests were skipped" >&2; exit 1; }
