#!/usr/bin/env bash
# scripts/setup.sh without the right to install: it says what is missing, and what only tests and figures need is not asked
# of somebody who wants neither. Usage: setup.sh
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "setup: $*" >&2
    exit 1
}

# A system that has nothing, and a user who may not install.
mkdir "$work/bin"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\ntouch "%s/called"\n' "$work" >"$work/bin/apt-get"
chmod +x "$work/bin"/*
for what in run study; do
    code=0
    PATH=$work/bin "$BASH" "$top/scripts/setup.sh" $what >"$work/out" 2>"$work/err" || code=$?
    [[ $code == 1 && ! -s $work/out ]] || fail "$what: exit code $code: $(cat "$work/out")"
    [[ $(wc -l <"$work/err") == 1 ]] || fail "$what: not one line: $(cat "$work/err")"
    grep -q 'apt-get install .*build-essential.*libjansson-dev' "$work/err" || fail "$what: $(cat "$work/err")"
    ! grep -q cmocka "$work/err" || fail "$what does not need cmocka"
done
grep -q gnuplot "$work/err" || fail "a study needs gnuplot"
PATH=$work/bin "$BASH" "$top/scripts/setup.sh" run 2>"$work/err" || true
! grep -q gnuplot "$work/err" || fail "a command without figures does not need gnuplot"
[[ ! -e $work/called ]] || fail "apt-get was started without the right to"

# Help with the benchmark installs and builds nothing.
PATH=$work/bin:$PATH "$top/run" bench --quick --help >"$work/out" || fail "run bench --help"
grep -q '^Usage: ./run bench' "$work/out" || fail "run bench --help: $(cat "$work/out")"
[[ ! -e $work/called ]] || fail "run bench --help installs"
