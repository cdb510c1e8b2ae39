#!/usr/bin/env bash
# Drive a real service over its socket. Usage: service.sh PROGRAM [FILE...]: the files of tests/service to run, by default all.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
GBOSE=$(realpath "$1")
export GBOSE PYTHONDONTWRITEBYTECODE=1
shift
cd "$here/service"
files=("$@")
[[ ${#files[@]} -gt 0 ]] || files=(.)
exec /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider "${files[@]}" # in place of this shell: who ends it ends the tests
