#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files that cannot be used, with every option of ykctl that takes one: exit status 2, the path, and what is wrong.
set -euo pipefail
ykctl=$YK_BIN/ykctl
folder=$(mktemp -d /tmp/yk.XXXXXX)
trap 'rm -rf "$folder"' EXIT
export YKCTL_SOCKET=ipc://$folder/none.sock
cd "$folder"
fail() { echo "FAILED: $*" >&2; exit 1; }

refused() { # TEXT ARGUMENTS...: ykctl ends with 2 and says TEXT
    local text=$1 said code=0
    shift
    said=$(timeout 20 "$ykctl" "$@" 2>&1 </dev/null) || code=$?
    [[ $code -eq 2 ]] || fail "ykctl $*: exit status $code, wanted 2: $said"
    [[ $said == *"$text"* ]] || fail "ykctl $*: wanted '$text' in: $said"
}
without() { # ARGUMENTS...: the same for a file that is missing and a folder in its place; they stand last
    refused "$folder/missing: cannot be opened: No such file" "$@" "$folder/missing"
    refused "$folder: cannot be read" "$@" "$folder"
}

# Before any connection is tried
without status --token-file
touch empty
refused "empty: holds no token" --token-file empty status
refused "cannot read the certificates of missing.pem: No such file" --tls-ca missing.pem status
echo "not PEM" >text
refused "cannot use the certificates of text" --tls-ca text status
refused "cannot use the certificates of text" --tls-ca text -s tls+tcp://127.0.0.1:1 status
YKCTL_TLS_CA=text refused "cannot use the certificates of text" -s tls+tcp://127.0.0.1:1 status
mkdir -p home/ykctl
printf 'output: json\nsockt: x\n' >home/ykctl/config.yaml
XDG_CONFIG_HOME=$folder/home refused "$folder/home/ykctl/config.yaml:2:1: unknown key 'sockt'; did you mean 'socket'?" status

# What is read
without config check
without config diff
without config reload -f
without rm register rm --config
without rm serve rm --config
for noun in node app ask; do
    refused "$folder/missing: cannot be opened: No such file" $noun add -f "$folder/missing"
    refused "$folder/home: holds no *.yaml, *.yml, *.json or *.jsonl" $noun add -f "$folder/home"
done
mkdir nodes
echo 'nodeID: a' >nodes/1.yaml
echo '{"node": "b"}' >nodes/2.jsonl
echo 'nothing' >nodes/README
refused "nodes/2.jsonl:1:" node add -f nodes
echo '{}' >dump.json
without dump diff dump.json
without explain placement --user u -f
refused "$folder/missing" scenario run "$folder/missing"
printf 'sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,0,\n' >nodes.csv
refused "$folder/missing" replay --nodes "$folder/missing" --pods nodes.csv
refused "$folder/missing" replay --nodes nodes.csv --pods "$folder/missing"

# What is written
refused "text/sub: cannot be made" replay gen text/sub
