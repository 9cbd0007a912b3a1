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
# A copy of go.mod follows what the product requires meanwhile.
mod=$(mktemp -d)
trap 'rm -rf "$mod"' EXIT
cp go.mod go.sum "$mod"
export GOWORK=off # which a copy of go.mod needs
$go vet -mod=mod -modfile="$mod/go.mod" .
$go test -mod=mod -modfile="$mod/go.mod" -count=1 -timeout 10m .
