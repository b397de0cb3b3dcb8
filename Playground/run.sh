#!/usr/bin/env bash
# Installs missing dependencies, builds the tour and runs it. Passes its arguments to the tour; see --help.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
install_missing

log=$(mktemp)
[ -d .build ] || echo "Building. The first build takes several minutes." >&2
# The inspector is optional, as in other packages.
traits=()
if [ "${1:-}" = --inspect ] && [ -z "${ALL_TRAITS:-}" ]; then traits=(--traits Inspector); fi
if ! swift build --product Playground ${traits[@]+"${traits[@]}"} >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
rm -f "$log"
exec "$(swift build --show-bin-path)/Playground" "$@"
