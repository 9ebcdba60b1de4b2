#!/usr/bin/env bash
# Runs the tour of README.md, exactly as it is printed there, twice: a reader may repeat it.
# Every `sh` block runs in this shell; the `text` block below it is what its answer must contain,
# piece by piece in this order, with anything in place of each `…`.
#
#   tests/tour.sh http://127.0.0.1:8787
set -euo pipefail
readme=$(cd "$(dirname "$0")/.." && pwd)/README.md
BASE=${1:?usage: tests/tour.sh BASE_URL}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Keeps the answer in `answer` and the variables that the commands set in this shell.
run_commands() {
    eval "$1" </dev/null >answer.txt || {
        printf 'tour: this failed with exit code %s:\n%s' "$?" "$1" >&2
        exit 1
    }
    answer=$(<answer.txt)
}

# Everything but `…` is compared literally.
check_answer() {
    local rest=$answer expected=${1%$'\n'} piece
    while [[ -n $expected ]]; do
        piece=${expected%%…*}
        if [[ $rest != *"$piece"* ]]; then
            printf 'tour: after\n%s\nthe answer was\n%s\nwithout the part\n%s\n' "$commands" "$answer" "$piece" >&2
            exit 1
        fi
        rest=${rest#*"$piece"}
        [[ $expected == *…* ]] && expected=${expected#*…} || expected=
    done
}

# The README names what it makes by the second in which it begins.
date() { echo "$began"; }

tour() {
    local inside='' block='' line
    commands='' answer='' ran=0 checked=0
    while IFS= read -r line; do
        case $inside:$line in
        :'<!-- tour:'*) inside=tour ;;
        tour:'<!-- end of tour -->') break ;;
        tour:'```sh') inside=sh block='' ;;
        tour:'```text') inside=text block='' ;;
        sh:'```')
            commands=$block inside=tour ran=$((ran + 1))
            run_commands "$commands"
            ;;
        text:'```')
            inside=tour checked=$((checked + 1))
            check_answer "$block"
            ;;
        sh:* | text:*) block+=$line$'\n' ;;
        esac
    done <"$readme"
    if [[ $line != '<!-- end of tour -->' ]] || ((ran < 10 || ran != checked)); then
        echo "tour: README.md has $ran commands and $checked answers; one of its blocks or marks is missing" >&2
        exit 1
    fi
}

began=$(command date +%s)
tour
began=$((began + 1))
tour
echo "tour: all $ran steps answered as the README says, twice"
