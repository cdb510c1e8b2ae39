#!/usr/bin/env bash
# Run every fuzzer for a share of HOURS (a number such as 0.5), two at a time, on what it has found before in
# build/fuzz/corpus. Ends with 1 if one of them found something: the input is in build/fuzz/crash-NAME-...
# Usage: scripts/fuzz.sh HOURS [NAME...]     names: state ticket spec schema plan journal log request http route
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! ${1-} =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
    echo "Usage: scripts/fuzz.sh HOURS [NAME...]" >&2
    exit 2
fi
hours=$1
shift
scripts/setup.sh test
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz >/dev/null
names=("$@")
if [[ ${#names[@]} == 0 ]]; then
    for source in fuzz/fuzz_*.c; do
        name=${source#fuzz/fuzz_}
        [[ ! -x build/fuzz/fuzz_${name%.c} ]] || names+=("${name%.c}")
    done
fi
seconds=$(awk -v h="$hours" -v n="${#names[@]}" 'BEGIN { s = 3600 * h * 2 / n; print int(s < 1 ? 1 : s) }')

# fuzz_one NAME: for that many seconds.
fuzz_one() {
    local name=$1 corpus=fuzz/corpus/fuzz_$1 arguments=()
    mkdir -p "build/fuzz/corpus/fuzz_$name"
    [[ ! -e $corpus.dict ]] || arguments+=("-dict=$corpus.dict")
    arguments+=("build/fuzz/corpus/fuzz_$name")
    [[ ! -d $corpus ]] || arguments+=("$corpus")
    ASAN_OPTIONS=allocator_may_return_null=1 "build/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=524288 -timeout=20 \
        -artifact_prefix="build/fuzz/crash-$name-" "${arguments[@]}" >"build/fuzz/$name.log" 2>&1 || {
        echo "$name: found something, see build/fuzz/$name.log" >&2
        return 1
    }
    echo "$name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "build/fuzz/$name.log") inputs in $seconds seconds"
}

export seconds
export -f fuzz_one
printf '%s\n' "${names[@]}" | xargs -P 2 -I{} bash -c 'fuzz_one {}' || exit 1
