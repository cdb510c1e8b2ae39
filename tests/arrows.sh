#!/usr/bin/env bash
# Folders of src/ include only what is on their left, and public headers likewise (see CONTRIBUTING.md):
#     core <- learners <- encode, worlds, logs <- store, study <- report, serve <- cli
# io stands on core alone and is used from store and study rightward; what is in libgbose has no files.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A may=(
    [core]="core"
    [io]="core io"
    [learners]="core learners"
    [encode]="core learners encode"
    [worlds]="core learners encode logs worlds"
    [logs]="core learners encode logs"
    [store]="core io learners encode logs store"
    [study]="core io learners encode logs worlds study"
    [report]="core io learners encode logs worlds store study report"
    [serve]="core io learners encode logs worlds store study serve"
    [cli]="core io learners encode logs worlds store study report serve cli"
)
# The folder that a public header belongs to: who may include it may include the folder.
declare -A owner=(
    [gbose.h]="core"
    [gbose_schema.h]="core" # its structs are what io makes of JSON
    [gbose_world.h]="worlds"
    [gbose_study.h]="study"
    [gbose_log.h]="logs"
)
bad=0
seen=0

wrong() {
    echo "$*"
    bad=1
}

check() { # FILE LINE FOLDER OTHER
    seen=$((seen + 1))
    [[ " ${may[$3]-} " == *" $4 "* ]] || wrong "$1:$2: $3 must not include $4"
}

for folder in src/*/; do
    folder=$(basename "$folder")
    [[ -n ${may[$folder]-} ]] || wrong "src/$folder: a folder without arrows; give it some in tests/arrows.sh"
done
for header in include/*.h; do
    [[ -n ${owner[${header##*/}]-} ]] || wrong "$header: which folder does it belong to? Say so in tests/arrows.sh"
done

while IFS=: read -r file line include; do
    [[ $include =~ [\"\<]([^\"\>]*)[\"\>] ]] && name=${BASH_REMATCH[1]}
    if [[ $file == include/* ]]; then
        from=${owner[${file##*/}]-}
    else
        from=${file#src/}
        from=${from%%/*}
    fi
    if [[ -n ${owner[$name]-} ]]; then
        check "$file" "$line" "$from" "${owner[$name]}"
    elif [[ $name == */* && $include == *\"* ]]; then
        check "$file" "$line" "$from" "${name%%/*}"
    elif [[ $include == *\"* ]]; then
        wrong "$file:$line: \"$name\": a header of src/ is included by its folder's name too"
    fi
done < <(grep -rnE --include='*.[ch]' '^ *# *include +["<]' include src)

# What libgbose is made of must not do what its promise excludes.
while IFS=: read -r file line include; do
    wrong "$file:$line: libgbose needs libc and libm only: $include"
done < <(grep -rnE --include='*.[ch]' \
    '^ *# *include +<(pthread|threads|jansson|zlib|unistd|fcntl|dirent|time|mpi|sys/.*|netinet/.*)(\.h)?>' \
    $(ls -d src/core src/learners src/encode src/logs 2>/dev/null))

# File names are unique in src/, whatever their folder.
while read -r name; do
    wrong "$name: there are several files of that name in src/"
done < <(find src -name '*.[ch]' -printf '%f\n' | sort | uniq -d)

if ((seen < 100)); then
    wrong "only $seen includes were seen: the test does not look where the code is"
fi
exit $bad
