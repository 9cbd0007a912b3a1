#!/usr/bin/env bash
# usage: browser.sh GO: drives the page of `sense inspect` in Debian's chromium. The
# tests are a module of their own, so that the browser's driver is no part of
# the product. SENSE_SCREENSHOTS names a folder for pictures of every section.
set -eu
go=$1
if ! command -v chromium >/dev/null 2>&1 && [ "${CI:-}" = true ] && command -v apt-get >/dev/null 2>&1; then
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null || true
fi
if ! command -v chromium >/dev/null 2>&1; then
	echo "browser: SKIPPED, there is no chromium (apt-get install chromium)"
	exit 0
fi
cd "$(dirname "$0")/../inspect/browsertest"
$go vet .
$go test -count=1 -timeout 10m .
