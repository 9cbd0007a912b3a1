#!/usr/bin/env bash
# usage: fuzz.sh TIME: runs every fuzz target of the module for TIME each
set -eu
go=${GO:-go}
n=0
while IFS=: read -r file name; do
	dir=./$(dirname "$file")
	echo "fuzz $dir $name for $1"
	$go test "$dir" -run '^$' -fuzz "^$name\$" -fuzztime "$1"
	n=$((n + 1))
done < <(git ls-files '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //')
echo "$n fuzz target(s) ran"
