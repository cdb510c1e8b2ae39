#!/usr/bin/env bash
# Folders of src/ may include only what is on their left (see CONTRIBUTING.md):
#     core <- learners <- worlds, logs, store <- study, serve <- cli
set -euo pipefail
cd "$(dirname "$0")/../src"

declare -A may=(
    [core]="core"
    [learners]="core learners"
    [worlds]="core learners worlds"
    [logs]="core learners logs"
    [store]="core learners store"
    [study]="core learners worlds logs store study"
    [serve]="core learners worlds logs store serve"
    [cli]="core learners worlds logs store study serve cli"
)
bad=0
while IFS=: read -r file line include; do
    from=${file%%/*}
    to=$(sed 's/.*"\([^/"]*\)\/.*/\1/' <<<"$include")
    if [[ " ${may[$from]-} " != *" $to "* ]]; then
        echo "src/$file:$line: $from must not include $to"
        bad=1
    fi
done < <(grep -rnE --include='*.[ch]' '^ *# *include +"[^"]*/' . | sed 's|^\./||')
exit $bad
