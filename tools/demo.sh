#!/bin/sh
# usage: demo.sh SENSE: the main job in a folder of its own, with real files. It
# fails when the answer does not hold what is in the folder, or a process is left.
set -eu
bin=$(cd "$(dirname "$1")" && pwd)
repo=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/examples"
cp -r "$repo/examples/files.sns" "$repo/examples/sample" "$dir/examples"
cd "$dir"
echo "today: $(date +%F)" >"examples/sample/made-by-the-demo.txt"

echo "\$ sense run examples/files.sns"
out=$(PATH="$bin:$PATH" sense run examples/files.sns)
echo "$out"
for want in notes.txt todo.md reports made-by-the-demo.txt "filesystem.list_directory"; do
	case "$out" in
	*"$want"*) ;;
	*) echo "demo: the output lacks $want" >&2; exit 1 ;;
	esac
done
for p in /proc/[0-9]*; do
	[ "$p" != "/proc/$$" ] || continue
	if [ "$(readlink "$p/exe" 2>/dev/null)" = "$bin/sense" ] && [ "$(readlink "$p/cwd" 2>/dev/null)" = "$(pwd -P)" ]; then
		echo "demo: process ${p#/proc/} is left: $(tr '\0' ' ' <"$p/cmdline")" >&2
		exit 1
	fi
done
echo "--- no process is left ---"
