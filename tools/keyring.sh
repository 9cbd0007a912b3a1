#!/usr/bin/env bash
# usage: keyring.sh GO: the store of logins on a real keyring, GNOME's, on a D-Bus
# session and in a home folder of its own. Debian: gnome-keyring dbus-daemon
set -eu
cd "$(dirname "$0")/.."
for need in dbus-run-session gnome-keyring-daemon; do
	command -v $need >/dev/null || { echo "keyring: skipped, there is no $need"; exit 0; }
done
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
"$1" test -c -o "$home/keyring.test" ./mcp/keyring
HOME=$home XDG_DATA_HOME=$home XDG_RUNTIME_DIR=$home SENSE_REAL_KEYRING=1 dbus-run-session -- bash -c '
	echo password | gnome-keyring-daemon --unlock --components=secrets >/dev/null
	exec "$HOME/keyring.test" -test.run TestRealKeyring -test.v'
