#!/usr/bin/env bash
# The documentation agrees with the program: option tables, code, pages and links. Usage: docs.sh PROGRAM, or the
# build directory that holds it.
set -euo pipefail
program=$(realpath -m "$1")
[[ ! -d $program ]] || program=$program/gbose
cd "$(dirname "$0")/.."
bad=0

wrong() {
    echo "docs: $*" >&2
    bad=1
}

# The lines of a file's ```c blocks, all of them or number $2; nothing if there is none.
c_block() {
    awk -v want="${2-}" '
        /^```c$/ { inside = 1; n++; next }
        /^```$/ { inside = 0 }
        inside && (want == "" || n == want)' "$1"
}

# The block after the line <!-- file: $2 --> of page $1.
file_block() {
    awk -v mark="<!-- file: $2 -->" '
        $0 == mark { found = 1; next }
        found && /^```c$/ { inside = 1; next }
        /^```$/ { if (inside) exit; inside = 0 }
        inside' "$1"
}

# Text without the indentation of its lines.
flat() {
    sed 's/^[ \t]*//'
}

scripts/docs.sh --check "$program" || bad=1

# The README's program is the example.
diff <(c_block README.md) examples/minimal.c >&2 || wrong "README.md and examples/minimal.c differ"

# What other pages quote stands in an example.
for page in docs/tickets-and-state.md docs/learners/uniform.md; do
    blocks=$(grep -c '^```c$' "$page")
    for ((k = 1; k <= blocks; k++)); do
        block=$(c_block "$page" "$k" | flat)
        found=false
        for example in examples/*.c; do
            [[ $(flat <"$example") != *"$block"* ]] || found=true
        done
        $found || wrong "$page: its C block $k is in no example:"$'\n'"$block"
    done
done

# The files of the walk-through compile.
page=docs/adding-a-learner.md
while IFS= read -r file; do
    if [[ -z $(file_block "$page" "$file") ]]; then
        wrong "$page: there is no block for $file"
    elif ! file_block "$page" "$file" |
        "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -D_POSIX_C_SOURCE=200809L \
            -fsyntax-only -Iinclude -Isrc -Itests -x c -; then
        wrong "$page: $file does not compile"
    fi
done < <(sed -n 's/^<!-- file: \(.*\) -->$/\1/p' "$page")

# Every learner has its page, and the README and the page name it.
learners=$("$program" learners | sed -n 's/^\([a-z][a-z-]*\) .*/\1/p')
(($(wc -w <<<"$learners") >= 5)) || wrong "only these learners were found in 'gbose learners': $learners"
for learner in $learners; do
    page=docs/learners/$learner.md
    if [[ ! -f $page ]]; then
        wrong "the learner $learner has no page $page"
        continue
    fi
    grep -qx "<!-- options: $learner -->" "$page" || wrong "$page does not list the options of $learner"
    grep -qF "($page)" README.md || wrong "README.md has no link to $page"
done

# The index names every page.
for page in docs/*.md; do
    [[ $page == docs/README.md ]] || grep -qF "(${page#docs/}" docs/README.md || wrong "docs/README.md does not name $page"
done

# The figures are those of the tables.
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
python3 scripts/figures.py auto docs/learners/gbose-auto.md "$drawn/auto.svg"
python3 scripts/figures.py rounds bench/results "$drawn/bench-rounds.svg"
python3 scripts/figures.py roofline bench/results "$drawn/bench-roofline.svg"
for figure in "$drawn"/*.svg; do
    cmp -s "$figure" "docs/figures/${figure##*/}" ||
        wrong "docs/figures/${figure##*/} is not what scripts/figures.py draws from the table beside it; draw it again"
done

# Links within the tree lead somewhere.
while IFS=: read -r page link; do
    [[ $link == http* || $link == '#'* ]] || [[ -e $(dirname "$page")/${link%%#*} ]] ||
        wrong "$page: the link $link leads nowhere"
done < <(find README.md CONTRIBUTING.md CHANGELOG.md docs -name '*.md' -exec grep -oHE '\]\([^)[:space:]]+\)' {} + |
    sed 's/:\](\(.*\))$/:\1/')

exit $bad
