#!/usr/bin/env bash
# Other machines: build the library for each with Debian's cross compilers, run the fingerprint program under qemu, and
# compare it with that of this machine. Then make sure that a compiler which was told to be careless is refused.
# Usage: machines/run.sh CC, the compiler of this machine
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "machines: $*" >&2
    exit 1
}

# Random123 by itself, since what else is beside it in the system's include folder is for this machine.
header=$(echo '#include <Random123/philox.h>' | "$cc" -E -x c - | sed -n 's/^# 1 "\(.*\)\/Random123\/philox.h".*/\1/p' | head -1)
mkdir "$work/include"
ln -s "$header/Random123" "$work/include/Random123"

# build NAME COMPILER [FLAGS]: the library, and the fingerprint program on top of it.
build() {
    local name=$1 compiler=$2
    cmake -S "$top" -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGBOSE_WERROR=ON "${@:3}" \
        -DCMAKE_C_COMPILER="$compiler" -DRANDOM123_INCLUDE_DIR="$work/include" -DGBOSE_STUDY=ON \
        -DGBOSE_COMMAND=OFF -DGBOSE_TESTS=OFF -DGBOSE_EXAMPLES=OFF -DGBOSE_BENCH=OFF >"$work/log" 2>&1 &&
        cmake --build "$work/$name" >>"$work/log" 2>&1 &&
        "$compiler" -std=c11 -O2 -Wall -Werror -I"$top/include" -static -o "$work/$name/fingerprint" \
            "$top/tests/machines/fingerprint.c" "$work/$name/libgbose.a" -lm >>"$work/log" 2>&1
}

build here "$cc" || fail "no build for this machine: $(tail -20 "$work/log")"
"$work/here/fingerprint" >"$work/want"
[[ $(grep -vc refused "$work/want") -gt 50 ]] || fail "the fingerprint program played hardly anything"

for program in {aarch64,s390x,powerpc64,i686}-linux-gnu-gcc qemu-{aarch64,s390x,ppc64,i386}; do
    command -v "$program" >/dev/null || fail "$program is missing; scripts/setup.sh full installs it"
done

# name of the compiler, as CMake calls the processor, qemu
while read -r target processor qemu; do
    build "$target" "$target-linux-gnu-gcc" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" ||
        fail "no build for $target: $(tail -20 "$work/log")"
    "$qemu" "$work/$target/fingerprint" >"$work/got" || fail "the fingerprint program failed on $target"
    diff "$work/want" "$work/got" >"$work/diff" || fail "$target computes other bytes: $(head -20 "$work/diff")"
    echo "$target: $(wc -l <"$work/got") lives, the same bytes"
done <<'END'
aarch64 aarch64 qemu-aarch64
s390x s390x qemu-s390x
powerpc64 ppc64 qemu-ppc64
i686 i686 qemu-i386
END

for flag in -ffast-math -Ofast -ffinite-math-only; do
    ! build "careless$flag" "$cc" -DCMAKE_C_FLAGS_RELEASE="$flag" || fail "$flag was accepted"
    grep -q 'gbose needs exact IEEE arithmetic' "$work/log" || fail "$flag was refused without saying why"
done
echo "careless flags are refused"
