#!/usr/bin/env bash
# Make the Debian package of gbose for this system. Usage: scripts/package.sh [DIR]   (build/package)
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
to=$(realpath -m "${1:-$top/build/package}")

"$top/scripts/setup.sh" package
mkdir -p "$to"
# Without MPI, which would bring a hundred packages along.
cmake -S "$top" -B "$to/build" -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_BUILD_TYPE=Release -DGBOSE_USE_MPI=OFF \
    -DGBOSE_ZSH_DIR=share/zsh/vendor-completions \
    -DGBOSE_TESTS=OFF -DGBOSE_EXAMPLES=OFF -DGBOSE_BENCH=OFF >"$to/log" 2>&1 &&
    cmake --build "$to/build" >>"$to/log" 2>&1 &&
    (cd "$to" && cpack --config build/CPackConfig.cmake) >>"$to/log" 2>&1 || {
    cat "$to/log" >&2
    exit 1
}
rm -rf "$to/_CPack_Packages"
ls "$to"/gbose_*.deb
