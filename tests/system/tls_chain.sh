#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ykctl over tls+tcp with a certificate that an intermediate CA signed: it trusts the chain, no other CA, and no other
# name (I-302, I-341).
set -euo pipefail
# shellcheck source=tests/system/cli_support.bash
source "$(dirname "${BASH_SOURCE[0]}")/cli_support.bash"

request() { # NAME
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" 2>/dev/null
}
sign() { # NAME ISSUER EXTENSION
    openssl x509 -req -in "$work/$1.csr" -CA "$work/$2.pem" -CAkey "$work/$2.key" -CAcreateserial -days 2 \
        -extfile <(echo "$3") -out "$work/$1.pem" 2>/dev/null
}
authority() { # NAME
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE \
        -keyout "$work/$1.key" -out "$work/$1.pem" 2>/dev/null
}

authority root
authority stranger
request middle
sign middle root basicConstraints=critical,CA:TRUE
request server
sign server middle subjectAltName=DNS:localhost
request elsewhere
sign elsewhere middle subjectAltName=DNS:elsewhere.example
for name in server elsewhere; do cat "$work/$name.pem" "$work/middle.pem" >"$work/$name.chain"; done
echo hush >"$work/token"
echo "admin * $(printf hush | sha256sum | cut -d' ' -f1)" >"$work/tokens"
chmod 600 "$work/tokens"
read -r port other < <(/usr/bin/python3 -c '
import socket
probes = [socket.socket() for _ in range(2)]
for probe in probes: probe.bind(("127.0.0.1", 0))
print(*(probe.getsockname()[1] for probe in probes))')

over_tls() { # STATUS TEXT ADDRESS CA
    expect "$1" "$2" -s "tls+tcp://$3" --tls-ca "$work/$4.pem" --token-file "$work/token" --timeout 5s status
}

start_ykd --listen "tls+tcp://127.0.0.1:$port" --tls-cert "$work/server.chain" --tls-key "$work/server.key" \
    --tokens "$work/tokens"
over_tls 0 "at tls.tcp://localhost:$port" "localhost:$port" root
over_tls 0 "at tls.tcp://127.0.0.1:$port" "127.0.0.1:$port" root
over_tls 3 'certificate is not one of the CA' "localhost:$port" stranger
expect 5 'E_AUTH' -s "tls+tcp://localhost:$port" --tls-ca "$work/root.pem" --timeout 5s status
kill -TERM "$daemon"
wait "$daemon"
start_ykd --listen "tls+tcp://127.0.0.1:$other" --tls-cert "$work/elsewhere.chain" --tls-key "$work/elsewhere.key" \
    --tokens "$work/tokens"
over_tls 3 'certificate is not one of the CA' "localhost:$other" root
echo "$checks checks"
