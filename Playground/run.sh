#!/usr/bin/env bash
# Runs the tour, after installing and building what it needs. Its arguments are those of the tour; see --help.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
install_missing

log=$(mktemp)
[ -d .build ] || echo "Building; the first time takes some minutes." >&2
if ! swift build --product Playground >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
rm -f "$log"
exec "$(swift build --show-bin-path)/Playground" "$@"
