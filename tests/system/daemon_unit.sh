#!/usr/bin/env bash
# The shipped systemd unit is understood and hardened, and the shipped configuration is good.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
"$YK_BIN/ykd" --check-config ykd/packaging/queues.yaml
"$YK_BIN/ykd" --check-config --settings ykd/packaging/ykd.conf --config ykd/packaging/queues.yaml
sh -n ykd/packaging/postinst
if ! command -v systemd-analyze >/dev/null; then
    echo "no systemd-analyze here: the unit itself is not checked"
    exit 0
fi
folder=$(mktemp -d /tmp/yk.XXXXXX)
trap 'rm -rf "$folder"' EXIT
# The programs are not installed here, so their paths are; and what it has to say comes with exit status 0.
sed "s|/usr/bin/|$YK_BIN/|" ykd/packaging/ykd.service >"$folder/ykd.service"
said=$(systemd-analyze verify "$folder/ykd.service" 2>&1 | grep -v 'man .* not found\|Command .man' || true)
[[ -z $said ]] || { echo "systemd-analyze verify: $said"; exit 1; }
systemd-analyze security --offline=true --threshold=15 "$folder/ykd.service" >/dev/null
