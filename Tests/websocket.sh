#!/usr/bin/env bash
# Plays the Autobahn test suite's cases for clients, as Tests/TestServers/WebSocket restates them, and prints a table by
# section: how many cases are OK, not strict and failed. Ends with 1 if any is worse than OK. Built for speed.
#
#   Tests/websocket.sh [full|short] [arguments of websocket-cases, such as --cases 6.4,7 --client 'python3 echo.py']
#
# full, the default, sends 1,000 messages in each case of 9.7, 9.8, 12 and 13, as the suite does, short 20.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
install_missing

extent=full
case "${1-}" in full | short)
    extent=$1
    shift
    ;;
esac
[ "$extent" = full ] || set -- --messages 20 "$@"

swift build -c release --product websocket-cases >&2
exec "$(swift build -c release --show-bin-path)/websocket-cases" "$@"
