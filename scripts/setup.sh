#!/usr/bin/env bash
# Install what is missing on Debian and Ubuntu. When nothing is missing this only looks, on any system.
# Usage: scripts/setup.sh run|study|serve|fleet|test|full|bench|package
#   run    to build gbose        study  to draw figures too      bench  to measure it beside others
#   test   to test it            full   and with the long tests: other machines under emulation
#   serve  the page of the service with its charts               package  to make a Debian package
#   fleet  and a PostgreSQL for scripts/fleet.sh
set -euo pipefail
what=${1-run}

case $what in
    run | study | serve | fleet | test | full | bench | package) ;;
    -h | --help) sed -n '2,/^set /{/^set /!s/^# \?//p}' "$0"; exit ;;
    *) echo "setup: '$what' is not one of run, study, serve, fleet, test, full, bench, package" >&2; exit 2 ;;
esac

# for_any WHAT...: is this one of the things that it is for?
for_any() {
    [[ " $* " == *" $what "* ]]
}

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
    if [[ $(id -u) != 0 ]]; then
        sudo=(sudo)
        if ! command -v sudo >/dev/null; then
            echo "setup: missing: ${missing[*]}. Somebody with the rights must run: apt-get install ${missing[*]}" >&2
            exit 1
        fi
    fi
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
need librandom123-dev header Random123/philox.h
need libjansson-dev header jansson.h
need zlib1g-dev header zlib.h
need libsqlite3-dev header sqlite3.h
need libsodium-dev header sodium.h
need libpq-dev header postgresql/libpq-fe.h
if for_any study test full bench; then
    need gnuplot-nox command -v gnuplot
fi
if for_any test full; then
    need libcmocka-dev header cmocka.h
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
    need groff-base command -v groff
    need zsh command -v zsh
    need fish command -v fish
    need locales test -e /usr/share/i18n/locales/de_DE
    need nginx-light command -v nginx
    need openssl command -v openssl
    need systemd command -v systemd-analyze
    need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/initdb'
fi
if for_any full package; then
    need dpkg-dev command -v dpkg-shlibdeps
    need file command -v file
fi
if for_any full; then
    need debootstrap command -v debootstrap
    for machine in aarch64 s390x powerpc64 i686; do
        need "gcc-$machine-linux-gnu" command -v "$machine-linux-gnu-gcc"
    done
    need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdlib.h
    need libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/include/stdlib.h
    need libc6-dev-ppc64-cross test -e /usr/powerpc64-linux-gnu/include/stdlib.h
    need libc6-dev-i386-cross test -e /usr/i686-linux-gnu/include/stdlib.h
    need qemu-user command -v qemu-s390x
fi
# The page of gbose serve draws its charts with uPlot; its tests drive a browser and Personalizer's own clients.
npm=(uplot@1.6.32)
if for_any serve fleet test full package; then
    need npm command -v npm
fi
if for_any fleet; then
    need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/initdb'
    need python3 command -v python3
fi
if for_any test full; then
    need chromium command -v chromium
    npm+=(playwright-core@1.56.1 @azure/cognitiveservices-personalizer@2.0.1 @azure/ms-rest-js@2.7.0
        @azure-rest/ai-personalizer@1.0.0-beta.1)
    # What these need, in the last versions for Node.js 18, which is Debian 12's.
    npm+=(@azure/core-auth@1.9.0 @azure/core-rest-pipeline@1.21.0 @azure/core-util@1.12.0 @azure/core-tracing@1.2.0
        @azure/logger@1.2.0 @azure/abort-controller@2.1.2 @typespec/ts-http-runtime@0.2.3)
fi
if for_any bench; then
    need wrk command -v wrk
    need libmicrohttpd-dev header microhttpd.h
    need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/initdb'
    need libopenblas-dev library openblas
    need libblis-dev library blis
    need python3-numpy debian_python -c 'import numpy'
fi
install_missing

if for_any test full; then
    need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" clang_sanitizes
    install_missing
fi

# npm's packages go into build/npm, and are looked for there by CMake and the tests.
if for_any serve fleet test full package; then
    here=$(cd "$(dirname "$0")/.." && pwd)/build/npm
    absent=()
    for package in "${npm[@]}"; do
        name=${package%@*}
        [[ -n $name ]] || name=$package
        [[ -d $here/node_modules/$name ]] || absent+=("$package")
    done
    if [[ ${#absent[@]} -gt 0 ]]; then
        mkdir -p "$here"
        echo "setup: installing ${absent[*]} (npm)" >&2
        for try in 1 2 3; do # it may wait for ever for nothing
            ! timeout 240 npm install --silent --no-audit --no-fund --prefix "$here" "${npm[@]}" </dev/null >/dev/null 2>&1 || break
            [[ $try != 3 ]] ||
                echo "setup: npm could not install ${absent[*]}; the page will have no charts, and its tests fail" >&2
        done
    fi
fi
