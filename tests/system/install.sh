#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is installed fits its prefix, and keeps what the administrator changed (B6, B7). The unit of each prefix is
# understood by systemd and hardened.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${YK_BIN:-$PWD/build/bin}
folder=$(mktemp -d /tmp/yk.XXXXXX)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }
install_into() { # DESTDIR PREFIX: the part of `cmake --install` that depends on the prefix
    DESTDIR=$1 cmake -DCMAKE_INSTALL_PREFIX="$2" -DYK_SOURCE="$PWD" -P ykd/packaging/install_host_files.cmake 2>&1
}
is_there() { [[ -f $1 ]] || fail "$1 is not installed"; }
says() { grep -qxF -- "$2" "$1" || fail "$1 does not say '$2': $(cat "$1")"; } # FILE LINE

# B6: an upgrade keeps the administrator's configuration.
install_into "$folder/usr" /usr >/dev/null
etc=$folder/usr/etc/ykd
cmp ykd/packaging/queues.yaml "$etc/queues.yaml"
echo '# mine' >>"$etc/queues.yaml"
cp "$etc/queues.yaml" "$folder/mine"
said=$(install_into "$folder/usr" /usr)
cmp "$folder/mine" "$etc/queues.yaml" || fail 'the second install changed queues.yaml'
cmp ykd/packaging/queues.yaml "$etc/queues.yaml.new"
grep -q "Kept: $etc/queues.yaml .*queues.yaml.new" <<<"$said" || fail "it is not said: $said"
[[ ! -e $etc/ykd.conf.new ]] || fail 'what nobody changed has a .new'

# B7: each prefix gets a unit with its own paths, and a completion where Debian's zsh looks.
says "$folder/usr/usr/lib/systemd/system/ykd.service" 'ExecReload=/usr/bin/ykctl -s ipc:///run/ykd/ykd.sock config reload'
says "$folder/usr/usr/lib/systemd/system/ykd.service" 'ConfigurationDirectory=ykd'
says "$folder/usr/usr/lib/systemd/system/ykd.service" 'SystemCallFilter=~@privileged @resources'
is_there "$folder/usr/usr/share/zsh/vendor-completions/_ykctl"
is_there "$folder/usr/usr/share/zsh/vendor-completions/_ykd"
install_into "$folder/local" /usr/local >/dev/null
says "$folder/local/usr/local/lib/systemd/system/ykd.service" \
    'ExecStartPre=/usr/local/bin/ykd --check-config --config /usr/local/etc/ykd/queues.yaml'
is_there "$folder/local/usr/local/etc/ykd/queues.yaml"
is_there "$folder/local/usr/local/share/zsh/site-functions/_ykctl"
install_into "$folder/opt" /opt/yk >/dev/null
is_there "$folder/opt/etc/opt/yk/ykd/ykd.conf"
says "$folder/opt/opt/yk/lib/systemd/system/ykd.service" \
    'ExecStart=/opt/yk/bin/ykd --config /etc/opt/yk/ykd/queues.yaml --listen ipc:///run/ykd/ykd.sock --socket-mode 0660'

# The lines of the unit work: what a prefix names is there.
install_into '' "$folder/prefix" >/dev/null
mkdir "$folder/prefix/bin"
ln -s "$bin/ykd" "$bin/ykctl" "$folder/prefix/bin/"
unit=$folder/prefix/lib/systemd/system/ykd.service
check=$(sed -n 's/^ExecStartPre=//p' "$unit")
$check >/dev/null || fail "ExecStartPre refuses the shipped configuration: $check"
"$bin/ykd" --check-config --settings ykd/packaging/ykd.conf --config ykd/packaging/queues.yaml >/dev/null
sh -n ykd/packaging/debian/ykd.postrm
if ! command -v systemd-analyze >/dev/null; then
    echo "no systemd-analyze here: the unit itself is not checked"
    exit 0
fi
said=$(systemd-analyze verify "$unit" 2>&1 | grep -v 'man .* not found\|Command .man' || true)
[[ -z $said ]] || fail "systemd-analyze verify: $said"
systemd-analyze security --offline=true --threshold=15 "$unit" >/dev/null
