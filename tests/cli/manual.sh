#!/usr/bin/env bash
# Man pages and completions, as they are installed.
source "$(dirname "$0")/lib.sh"

"$gbose" manual made
commands=$("$gbose" --help | sed -n '/^Usage/,/^Examples/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)
[[ $(wc -w <<<"$commands") -ge 10 ]] || fail "commands: $commands"

# options COMMAND [VERB]: what it parses, by its own word
options() {
    "$gbose" "$@" --zzzzzzzzzz 2>&1 | sed 's/.*it knows //; s/, /\n/g' | grep -- '^--' | sort
}

[[ $(ls made/man1 | wc -l) == $(($(wc -w <<<"$commands") + 1)) ]] || fail "pages: $(ls made/man1)"
for command in $commands; do
    page=made/man1/gbose-$command.1
    grep -q '^\.SH SYNOPSIS' "$page" || fail "$page has no synopsis"
    grep -q "gbose\\\\-$command" made/man1/gbose.1 || fail "gbose.1 does not name $command"
    verbs=$("$gbose" help "$command" | sed -n "s/^\(Usage:\|      \) gbose $command \([a-z]\+\) .*/\2/p")
    for option in $(for verb in ${verbs:-''}; do options "$command" ${verb:+"$verb"}; done | sort -u); do
        grep -q -- "${option//-/\\\\-}" "$page" || fail "$page does not name $option"
        grep -q -- "'__fish_seen_subcommand_from $command' -l ${option#--}\( \|$\)" made/completions/gbose.fish ||
            fail "fish: $command $option"
    done
done

# A page is what man makes of it without a warning.
if command -v groff >/dev/null; then
    for page in made/man1/*; do
        [[ -z $(groff -man -Tascii -ww -z "$page" 2>&1) ]] || fail "$page: $(groff -man -Tascii -ww -z "$page" 2>&1)"
    done
    text=$(groff -man -Tascii -P-cbou made/man1/gbose-simulate.1)
    grep -q -- "--plan FILE" <<<"$text" || fail "gbose-simulate.1: $text"
    grep -q -- "--sweep gamma=0.02,0.05,0.1,0.2 --reps 30" <<<"$text" || fail "examples of gbose-simulate.1"
fi

# complete WORD...: what bash proposes for the last word
complete_words() (
    source made/completions/gbose
    COMP_WORDS=(gbose "$@")
    COMP_CWORD=$#
    _gbose
    echo "${COMPREPLY[*]-}"
)
propose() {
    local want=$1
    shift
    [[ $(complete_words "$@") == "$want" ]] || fail "bash: '$*' is completed to '$(complete_words "$@")', not '$want'"
}
mkdir results
touch resume.json
propose simulate sim
propose "--version" --ver
propose "--learner --log" simulate --l
propose "gbose-auto gbose" simulate --learner lin-ts gb
propose paper simulate --world pa
propose "results" simulate --out res
propose "resume.json" simulate --plan resum
propose "check convert" log ""
propose "gallery" worlds gall
propose "" simulate --reps res
propose "evaluate" help ev

# The other shells read theirs, where they are there.
if command -v zsh >/dev/null; then
    zsh -n made/completions/_gbose || fail "zsh does not read its completion"
fi
if command -v fish >/dev/null; then
    fish --no-execute made/completions/gbose.fish || fail "fish does not read its completion"
    [[ $(HOME=$work fish -c "source made/completions/gbose.fish; complete -C 'gbose simulate --sw'" | cut -f1) == --sweep ]] ||
        fail "fish completes --sw to $(HOME=$work fish -c "source made/completions/gbose.fish; complete -C 'gbose simulate --sw'")"
fi

expect_error 2 "needs the directory" "$gbose" manual
expect_error 1 "cannot make directory" "$gbose" manual /dev/null/there
