#!/usr/bin/env bash
# A million requests with faults mixed in by seed, built for speed: what was sent, what became of it, and that memory
# and descriptors stay flat. Ends with 1 if anything else happened than should.
#
#   Tests/soak.sh [count, default 1000000] [seed, default 1] [recorded: keep an HTTP Archive meanwhile]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
install_missing

swift build -c release --product soak >&2
exec "$(swift build -c release --show-bin-path)/soak" "${1:-1000000}" "${2:-1}" "${@:3}"
