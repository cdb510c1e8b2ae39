#!/usr/bin/env bash
# Install what is missing to build and run gbose, to test it, or to measure it beside others, on Debian and Ubuntu.
# When nothing is missing this only looks, on any system. Usage: scripts/setup.sh run|test|bench
set -euo pipefail

missing=()

# need PACKAGE COMMAND...: the package is missing if the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

header() {
    echo "#include <$1>" | cc -E -x c -
}

library() {
    echo 'int main(void) { return 0; }' | cc -x c -o /dev/null - -l"$1"
}

# Packages are for the system's own Python, which need not be the first one on the path.
debian_python() {
    if [[ -x /usr/bin/python3 ]]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}

# clang's sanitizer runtime is a package of its own in some distributions, named after clang's version.
clang_sanitizes() {
    echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c -o /dev/null -
}

# Where the distribution's Python has its headers.
python_include() {
    /usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true
}

install_missing() {
    local sudo=()
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "setup: missing, and there is no apt-get to install it: ${missing[*]} (names of Debian packages)" >&2
        exit 1
    fi
    [[ $(id -u) == 0 ]] || sudo=(sudo)
    echo "setup: installing ${missing[*]}" >&2
    "${sudo[@]}" apt-get -qq update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
    missing=()
}

need build-essential header stdlib.h
need cmake command -v cmake
need ninja-build command -v ninja
need pkg-config command -v pkg-config
need libcmocka-dev header cmocka.h
need librandom123-dev header Random123/philox.h
need libjansson-dev header jansson.h
need zlib1g-dev header zlib.h
need gnuplot-nox command -v gnuplot
if [[ ${1-} == test ]]; then
    need libopenmpi-dev command -v mpicc
    need openmpi-bin command -v mpirun
    need procps command -v pgrep
    need clang command -v clang
    need valgrind command -v valgrind
    need python3 command -v /usr/bin/python3
    need python3-venv /usr/bin/python3 -c 'import ensurepip'
    need python3-dev test -e "$(python_include)/Python.h"
    for module in cffi numpy setuptools wheel pytest hypothesis pandas matplotlib; do
        need "python3-$module" /usr/bin/python3 -c "import $module"
    done
    need mypy command -v mypy
fi
if [[ ${1-} == bench ]]; then
    need libopenblas-dev library openblas
    need libblis-dev library blis
    need python3-numpy debian_python -c 'import numpy'
fi
install_missing

if [[ ${1-} == test ]]; then
    need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" clang_sanitizes
    install_missing
fi
