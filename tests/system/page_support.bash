# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests share that play a page of the documentation: sourced, not run. It goes to the root of the repository, makes
# a work folder that is gone in the end, points ykctl at a socket in there, and keeps what was said, to compare it with what
# the page shows.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
bin=${YK_BIN:-$PWD/build/bin}
work=$(mktemp -d /tmp/yk-page.XXXXXX)
export YKCTL_SOCKET=ipc://$work/ykd.sock NO_COLOR=1 LC_ALL=C.UTF-8 # the pages show a terminal that has lines to draw with
daemon=
step=0

clean_up() {
    local status=$?
    if [[ -n $daemon ]]; then kill -TERM "$daemon" 2>/dev/null || true; fi
    if [[ $status -ne 0 && -s $work/ykd.log ]]; then sed 's/^/ykd: /' "$work/ykd.log" >&2; fi
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT

ykctl() { "$bin/ykctl" "$@"; }

fail() {
    echo "step $step: $*" >&2
    exit 1
}

# played SAID COMMAND...: as a terminal would show it
played() { printf '$ %s\n%s\n' "${*:2}" "$1" >>"$work/played"; }

# wants STATUS TEXT COMMAND...: the command ends so and says TEXT (an extended regular expression).
wants() {
    local wanted=$1 text=$2 said status=0
    shift 2
    step=$((step + 1))
    said=$("$@" 2>&1) || status=$?
    [[ $status -eq $wanted ]] || fail "$* should end with $wanted and ended with $status: $said"
    grep -qE -- "$text" <<<"$said" || fail "$* should say '$text' and says: $said"
    played "$said" "$@"
}

# eventually TEXT COMMAND...: success and TEXT within ten seconds; the scheduler works on its own.
eventually() {
    local text=$1 deadline=$((SECONDS + 10)) said=
    shift
    step=$((step + 1))
    while ((SECONDS < deadline)); do
        if said=$("$@" 2>&1) && grep -qE -- "$text" <<<"$said"; then
            played "$said" "$@"
            return
        fi
        sleep 0.05
    done
    fail "$* should come to say '$text' and says: $said"
}

# counts NUMBER COMMAND...: a list comes to have so many elements.
counts() {
    local number=$1
    shift
    eventually "^$number\$" count_of "$@"
}
count_of() { "$@" -o name | grep -c . || true; }

stop_daemon() {
    step=$((step + 1))
    kill -TERM "$daemon"
    wait "$daemon" || fail "ykd ended with $? on SIGTERM"
    daemon=
    [[ ! -e $work/ykd.sock ]] || fail "ykd left its socket behind"
}

# What differs from run to run: times, the user who plays it, the address, the work folder, and which asks are placed so
# soon that they are never called "added"; --wait tells of all in the end.
without_chance() {
    awk '/^\$ / { waits = / --wait/ } !(waits && /^ask .* added$/)' |
        sed -E "s|$work|DIR|g"'; s/[0-9-]+T[0-9:.]+Z/WHEN/g; s/\b([0-9]+m)?[0-9.]+(us|ms|s)\b|\b[0-9]+m\b/TIME/g; s/boot [0-9]+/boot N/; s/^sessions: .*/sessions: N/; s/user [^ )]+/user U/
            s/uid [0-9]+/uid U/; s|ipc://[^ ,]+|URL|; s/^(ask (report|day)-[0-9]) .*/\1/; s/ +/ /g'
}

# compare_with_page PAGE FROM TO: what the page shows of ykctl between two headings is what was just said, in this order.
compare_with_page() {
    local unlike
    step=$((step + 1))
    # shellcheck disable=SC2016 # the backquotes are those of the page
    sed -n "/^## $2/,/^## $3/p" "$1" | sed -n '/^```console$/,/^```$/p' | grep -v '^```' |
        sed -E '/^\$ (\.\/dev|export|ykd|systemctl) |^\$ .* &$/d' | without_chance >"$work/shown"
    unlike=$(diff <(without_chance <"$work/played") "$work/shown" | grep '^>' || true)
    [[ -z $unlike ]] || fail "$1 shows what is no longer done or said here:"$'\n'"$unlike"
}
