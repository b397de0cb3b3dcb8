#!/usr/bin/env bash
# Installs missing dependencies, builds the tour and runs it. Passes its arguments to the tour; see --help.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_library sqlite3 libsqlite3-dev sqlite
install_missing

log=$(mktemp)
[ -d .build ] || echo "Building. The first build takes several minutes." >&2
# A login, a fleet, an outbox and the inspector are optional parts, as in other packages. ALL_TRAITS, which Package.swift reads, has
# all of them.
traits=()
if [ -z "${ALL_TRAITS:-}" ]; then
    if [ "${1:-}" = --inspect ]; then traits=(--traits Auth,Fleet,Inspector,Outbox); else traits=(--traits Auth,Fleet,Outbox); fi
fi
if ! swift build --product Playground ${traits[@]+"${traits[@]}"} >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
rm -f "$log"
exec "$(swift build --show-bin-path)/Playground" "$@"
