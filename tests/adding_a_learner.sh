#!/usr/bin/env bash
# docs/adding-a-learner.md, followed to the letter in a copy of the tree: its files are taken from the page, the name is
# added to the table, and the learner is built, tested with its own test and by those that walk the table, and played.
# Usage: adding_a_learner.sh COMPILER
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
page=$root/docs/adding-a-learner.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir tree
cp -r "$root"/{CMakeLists.txt,cmake,include,src,tests,examples,bench} tree
mapfile -t files < <(sed -n 's/^<!-- file: \(.*\) -->$/\1/p' "$page")
((${#files[@]} == 2)) || { echo "the page should hold a learner and its test; it has: ${files[*]}"; exit 1; }
for file in "${files[@]}"; do
    awk -v mark="<!-- file: $file -->" '
        $0 == mark { found = 1; next }
        found && /^```c$/ { inside = 1; next }
        /^```$/ { if (inside) exit }
        inside' "$page" >"tree/$file"
done
sed -i 's/X(uniform)/X(uniform) X(duel)/' tree/src/learners/table.c
grep -q 'X(duel)' tree/src/learners/table.c

# Nothing else is touched. -O1: it is built to be run once.
CC=$1 cmake -S tree -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DGBOSE_WERROR=ON >log
cmake --build build -j2 --target test_duel test_spec test_ticket test_ticket_for test_grow test_decide_at gbose_cli >>log 2>&1 ||
    { tail -30 log; exit 1; }
for test in duel spec ticket ticket_for grow decide_at; do
    "build/tests/test_$test" >log 2>&1 || { cat log; exit 1; }
done
build/gbose simulate --world gallery --learner duel uniform --reps 2 --rounds 500 --out "$work/out" >log 2>&1 ||
    { cat log; exit 1; }
grep -q duel "$work/out/runs.csv"
