#!/usr/bin/env bash
# Runs the client under simulated faults, with many seeds a scenario; see "Exploration" in Docs/Testing.md.
#
#   Tests/explore.sh [count, default 10000] [scenario…]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_library sqlite3 libsqlite3-dev sqlite
install_missing

swift build -c release --traits Fleet,Outbox --product explore >&2
# Simulations that pile up must not take all memory of the machine.
ulimit -v $((16 << 20))
exec "$(swift build -c release --traits Fleet,Outbox --show-bin-path)/explore" "$@"
