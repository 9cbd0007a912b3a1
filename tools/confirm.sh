#!/usr/bin/env bash
# usage: confirm.sh GO: installs the Python original into .venv/ (ignored by git) and
# runs every script through both. The agreed differences are printed by name.
set -eu
go=$1
venv=.venv/confirm
want='sense-lang[mcp,openai,anthropic]==0.20.0'
if [ ! -x "$venv/bin/sense" ]; then
	command -v python3 >/dev/null || { echo "confirm: needs python3 for the original" >&2; exit 1; }
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet "$want"
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
code=0
SENSE_CONFIRM="$PWD/$venv/bin/sense" $go test . -run 'TestConfirm$' -count=1 -timeout 30m -v >"$out" 2>&1 || code=$?
grep -o 'agreed: .*' "$out" | sort || true
grep -vE '^ *(=== |--- PASS|.*agreed: )' "$out" || true
exit $code
