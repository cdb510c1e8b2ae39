#!/usr/bin/env bash
# A guard against slowing down that cannot flake: instructions of a round (decide and learn), counted by callgrind, may
# exceed those recorded in instructions.csv by a tenth at most. Usage: instructions.sh GBOSE_BENCH COMPILER [--record]
#
# Figures are recorded for one version of a compiler; with another the test is skipped. After a change that makes a
# round cheaper, or more expensive for a good reason, run it with --record and commit the file.
set -euo pipefail
bench=$1 compiler=$2
file=$(dirname "$(realpath "$0")")/instructions.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# counted FILE ISA ROUNDS: instructions of the whole process
counted() {
    echo "count $1 $3" | GBOSE_ISA=$2 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# per_round ISA LEARNER ARMS DIM TRAINING: the difference of two runs, so that what comes before the rounds is left out
per_round() {
    local path=$work/$2-$3-$4-$5 spec=$2:gamma=1 few many
    [[ $2 != gbose-auto ]] || spec=$2
    [[ -f $path ]] || echo "prepare $spec $3 $4 $5 $path" | "$bench" >/dev/null
    few=$(counted "$path" "$1" 20)
    many=$(counted "$path" "$1" 120)
    echo $(((many - few) / 100))
}

shapes=("gbose 10 18 0" "gbose 100 50 2000" "semi-ts 10 18 0"
    "gbose-auto 10 18 0" "gbose-auto 10 18 2000" "gbose-auto 10 90 0" "gbose-auto 10 90 2000")
isas=(baseline)
! grep -qw avx2 /proc/cpuinfo || isas+=(avx2)

if [[ ${3-} == --record ]]; then
    echo "compiler,isa,learner,arms,dim,training,instructions" >"$file"
    for isa in "${isas[@]}"; do
        for shape in "${shapes[@]}"; do
            # shellcheck disable=SC2086
            echo "$compiler,$isa,${shape// /,},$(per_round "$isa" $shape)" >>"$file"
        done
    done
    cat "$file"
    exit
fi

checked=0 slow=0
for isa in "${isas[@]}"; do
    for shape in "${shapes[@]}"; do
        recorded=$(sed -n "s/^$compiler,$isa,${shape// /,},//p" "$file")
        [[ $recorded ]] || continue
        # shellcheck disable=SC2086
        now=$(per_round "$isa" $shape)
        echo "$isa $shape: $now instructions a round, $recorded recorded"
        checked=$((checked + 1))
        if ((now * 10 > recorded * 11)); then
            echo "    that is more than a tenth above"
            slow=1
        fi
    done
done
((checked)) || exit 77
exit $slow
