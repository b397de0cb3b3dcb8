#!/usr/bin/env bash
# Runs the client under simulated faults, with many seeds a scenario; see "Exploration" in Docs/Testing.md.
#
#   Tests/explore.sh [count, default 10000] [scenario…]
set -euo pipefail
cd "$(dirname "$0")/.."

swift build -c release --product explore
exec .build/release/explore "$@"
