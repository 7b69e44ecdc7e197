# SPDX-License-Identifier: Apache-2.0
# The options of ykd, as its --help has them, and files.
# shellcheck shell=bash disable=SC2207
_ykd() {
    local cur=${COMP_WORDS[COMP_CWORD]}
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)" -- "$cur"))
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -o filenames -F _ykd ykd
