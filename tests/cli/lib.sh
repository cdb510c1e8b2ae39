# What the tests of the command share. Usage of a test: TEST.sh PROGRAM
set -euo pipefail

# The program and what it writes are in a folder with a space in its name: quotation marks that are missing show.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/some place" "$work/some place/bin"
gbose="$work/some place/bin/gbose"
ln -s "$(realpath "$1")" "$gbose"
cd "$work/some place"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect_error CODE TEXT COMMAND...: the command ends with the code, says one line on standard error that
# contains the text, and nothing on standard output.
expect_error() {
    local code=$1 text=$2 got=0
    shift 2
    "$@" >out 2>err </dev/null || got=$?
    [[ $got == "$code" ]] || fail "$*: exit code $got instead of $code: $(cat err)"
    [[ $(wc -l <err) == 1 ]] || fail "$*: $(wc -l <err) lines instead of one: $(cat err)"
    [[ $(<err) == *"$text"* ]] || fail "$*: '$(cat err)' does not say '$text'"
    [[ ! -s out ]] || fail "$*: printed $(head -c 200 out)"
}

# begin COMMAND...: start it, in the background, as one that Ctrl-C stops; its process is $started.
begin() {
    env --default-signal=INT "$@" &
    started=$!
}

# under_way DIR: wait until a study has begun to write there.
under_way() {
    local i
    for ((i = 0; i < 6000; i++)); do
        [[ ! -s $1/journal.bin ]] || return 0
        sleep 0.01
    done
    fail "no study has begun in $1"
}

# same DIR DIR: two studies have the same bytes in everything that is an output.
same() {
    diff -r --exclude=journal.bin "$1" "$2" >differences || fail "$1 and $2 differ: $(head -5 differences)"
}
