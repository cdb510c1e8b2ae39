#!/usr/bin/env bash
# Install a build, move the installed tree, and use its two libraries from outside in four ways: through the CMake
# package and through pkg-config, each shared and static. Usage: run.sh BUILD_DIR C_COMPILER
set -euo pipefail
build=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install: $*" >&2
    exit 1
}

# The shared objects that a program or library asks for, one per line.
needed() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# Run a program and see that it uses the library in the way it should: shared or static.
try() {
    local program=$1 how=$2
    LD_LIBRARY_PATH=$lib "$program" >"$work/output" || fail "$program failed"
    grep -qx "gbose $version" "$work/output" || fail "$program is not of version $version: $(cat "$work/output")"
    if needed "$program" | grep -q '^libgbose'; then
        [[ $how == shared ]] || fail "$program should not need the shared library"
    else
        [[ $how == static ]] || fail "$program should need the shared library"
    fi
}

cmake --install "$build" --prefix "$work/installed" >"$work/log" || fail "$(cat "$work/log")"
prefix=$work/moved
mv "$work/installed" "$prefix"
lib=$(dirname "$(find "$prefix" -name libgbose.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig
version=$(pkg-config --modversion gbose)

# The command's man pages and completions.
if [[ -e $prefix/bin/gbose ]]; then
    for file in man/man1/gbose.1 man/man1/gbose-simulate.1 bash-completion/completions/gbose \
        zsh/site-functions/_gbose fish/vendor_completions.d/gbose.fish; do
        [[ -s $prefix/share/$file ]] || fail "share/$file is not installed"
    done
fi

# The CMake package.
cmake -S "$here" -B "$work/outside" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
cmake --build "$work/outside" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
for program in package study; do
    try "$work/outside/${program}_shared" shared
    try "$work/outside/${program}_static" static
done

# pkg-config. The flags are words to be split.
for library in gbose:main.c gbose_study:study.c; do
    source=$here/${library#*:}
    library=${library%:*}
    # shellcheck disable=SC2046
    "$cc" "$source" -o "$work/pc_shared" $(pkg-config --cflags --libs "$library")
    try "$work/pc_shared" shared
    # shellcheck disable=SC2046
    "$cc" -static "$source" -o "$work/pc_static" $(pkg-config --static --cflags --libs "$library")
    try "$work/pc_static" static
done

# A shared library offers what its headers declare, no more and no less.
declared() {
    (cd "$prefix/include" && sed -n 's/^GBOSE_API.*[ *]\(gbose_[a-z_]*\)(.*/\1/p' "$@") | sort
}
exported() {
    nm -D --defined-only "$lib/$1.so" | awk '{ print $3 }' | sort
}
diff <(declared gbose.h gbose_schema.h gbose_log.h) <(exported libgbose) || fail "declared (<) and exported (>) functions differ"
diff <(declared gbose.h gbose_schema.h gbose_log.h gbose_world.h gbose_study.h) <(exported libgbose_study) || fail "declared (<) and exported (>) differ"

# It depends on libc and libm only.
if needed "$lib/libgbose.so" | grep -vE '^(libc|libm|ld-linux[-_a-z0-9]*)\.so'; then
    fail "the shared library depends on more than libc and libm"
fi

# The headers are C++ too.
if command -v c++ >/dev/null; then
    printf '#include <%s>\n' gbose_schema.h gbose_study.h | c++ -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ -I"$prefix/include" -
fi
