#!/usr/bin/env bash
# Fill the option tables of docs/ from the program's own tables. A region of a page looks like this:
#
#     <!-- options: NAME -->
#     <!-- /options -->
#
# and gets what `gbose learners --markdown NAME` prints, or `gbose worlds --markdown NAME` in docs/worlds.md. Code
# blocks are left alone. With --check: change nothing, and fail if a page is not up to date.
# Usage: scripts/docs.sh [--check] [PROGRAM]     (build/release/gbose unless named)
set -euo pipefail

check=false
program=
for argument; do
    case $argument in
    --check) check=true ;;
    -*)
        echo "docs: unknown option '$argument'; it takes --check and the path of the program" >&2
        exit 2
        ;;
    *) program=$(realpath -m "$argument") ;;
    esac
done
cd "$(dirname "$0")/.."
program=${program:-$PWD/build/release/gbose}
if [[ ! -x $program || -d $program ]]; then
    echo "docs: there is no program '$program'; build it, or name it" >&2
    exit 2
fi

# The page with its regions filled.
fill() {
    local page=$1 command=learners name='' fenced=false line
    [[ $page != docs/worlds.md ]] || command=worlds
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ $line == '```'* ]]; then
            if $fenced; then fenced=false; else fenced=true; fi
        fi
        if $fenced; then
            printf '%s\n' "$line"
        elif [[ $line =~ ^'<!-- options: '([^ ]+)' -->'$ ]]; then
            if [[ -n $name ]]; then
                echo "docs: $page: '$line' begins inside the region of '$name'" >&2
                return 1
            fi
            name=${BASH_REMATCH[1]}
            printf '%s\n\n' "$line"
            "$program" "$command" --markdown "$name" || return 1
            printf '\n'
        elif [[ $line == '<!-- /options -->' ]]; then
            if [[ -z $name ]]; then
                echo "docs: $page: '$line' ends no region" >&2
                return 1
            fi
            name=
            printf '%s\n' "$line"
        elif [[ -z $name ]]; then
            printf '%s\n' "$line"
        fi
    done <"$page"
    if [[ -n $name ]]; then
        echo "docs: $page: the region of '$name' has no end" >&2
        return 1
    fi
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
bad=0
while IFS= read -r page; do
    fill "$page" >"$new"
    cmp -s "$new" "$page" && continue
    if $check; then
        echo "docs: $page is not up to date; run scripts/docs.sh" >&2
        diff "$page" "$new" >&2 || true
        bad=1
    else
        cat "$new" >"$page"
        echo "$page"
    fi
done < <(find docs -name '*.md' -exec grep -lE '^<!-- /?options' {} + | sort)
exit $bad
