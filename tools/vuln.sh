#!/usr/bin/env bash
# usage: vuln.sh GOVULNCHECK: checks the module against the public database of
# vulnerabilities, or, where that cannot be reached, says so. A finding fails.
set -u
out=$("$1" ./... 2>&1)
code=$?
if echo "$out" | grep -qE 'dial tcp|no such host|fetching vulnerabilities|connection refused|i/o timeout|HTTP GET|proxyconnect'; then
	echo "vuln: skipped, the vulnerability database cannot be reached"
	exit 0
fi
echo "$out"
exit $code
