#!/usr/bin/env bash
# usage: fuzz.sh TIME: runs every fuzz target of the module for TIME each
set -eu
go=${GO:-go}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
cache=$($go env GOCACHE)/fuzz/sense
n=0
last=
while IFS=: read -r file name; do
	dir=$(dirname "$file")
	# A package with several targets is built once.
	[ "$dir" = "$last" ] || $go test -c -fuzz . -o "$bin/fuzz.test" "./$dir"
	last=$dir
	echo "fuzz ./$dir $name for $1"
	(cd "$dir" && "$bin/fuzz.test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$1" -test.fuzzcachedir "$cache/$dir")
	n=$((n + 1))
done < <(git ls-files '*_test.go' | sort | xargs grep -oE '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //')
echo "$n fuzz target(s) ran"
