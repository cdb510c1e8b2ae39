#!/usr/bin/env bash
# The Python package as a new user meets it: installed with pip into a new virtual environment, from the tree and from
# a source distribution; then its tests, and its types. Usage: python.sh PROGRAM, or the build directory that holds it.
set -euo pipefail
program=$(realpath -m "$1")
[[ ! -d $program ]] || program=$program/gbose
top=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3} # the distribution's: its packages belong to it
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "python: $*" >&2
    exit 1
}

# install ENVIRONMENT WHAT: as docs/python.md says, with no package index at hand. A build leaves files beside its
# sources, so these are copies.
install() {
    "$python" -m venv --system-site-packages "$work/$1"
    "$work/$1/bin/pip" install --quiet --no-index --disable-pip-version-check "$2" \
        >"$work/log" 2>&1 || fail "pip install failed: $(tail -40 "$work/log")"
}

mkdir "$work/tree" "$work/dist"
cp -r "$top"/{CMakeLists.txt,LICENSE,cmake,include,src,python} "$work/tree"
rm -rf "$work/tree/python/build" "$work/tree/python"/*.egg-info
install env "$work/tree/python"
(
    cd "$work/tree/python"
    "$work/env/bin/python" -c 'import sys, backend; backend.build_sdist(sys.argv[1])' "$work/dist"
) >"$work/log" 2>&1 || fail "no source distribution: $(tail -40 "$work/log")"
rm -rf "$work/tree"

cd "$work"
GBOSE=$program "$work/env/bin/python" -m pytest -q -rs "$top/python/tests" | tee "$work/output"
! grep -q skipped "$work/output" || fail "tests were skipped"
mypy --config-file "$top/python/pyproject.toml" --python-executable "$work/env/bin/python" --cache-dir /dev/null -p gbose

install other "$work"/dist/gbose-*.tar.gz
"$work/other/bin/python" -c 'import gbose; print(gbose.simulate("paper", "gbose", rounds=200, reps=2))'
