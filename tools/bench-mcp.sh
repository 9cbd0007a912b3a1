#!/usr/bin/env bash
# usage: bench-mcp.sh GO [FLAGS]: what a call of an MCP tool costs, through sense and
# through other clients by turns. The server from npm and the SDK from PyPI are
# installed into .cache; where npm or python3 is missing they are left out.
set -eu
cd "$(dirname "$0")/.."
go=$1
shift
dir=$PWD/.cache/bench-mcp
everything=@modelcontextprotocol/server-everything
flags=()
mkdir -p "$dir"
if command -v npm >/dev/null; then
	main=$dir/node_modules/$everything/dist/index.js
	[ -e "$main" ] || npm install --prefix "$dir" --no-audit --no-fund --silent "$everything@2026.8.31"
	flags+=(-everything "$main")
fi
if python3 -c 'import venv' 2>/dev/null; then
	[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
	"$dir/venv/bin/python" -I -c 'import mcp' 2>/dev/null || "$dir/venv/bin/python" -m pip install -q mcp==2.3.0
	flags+=(-python "$dir/venv/bin/python")
fi
cd bench
"$go" build -o bin/mcp ./mcp
exec bin/mcp -sense ../bin/sense "${flags[@]}" "$@"
