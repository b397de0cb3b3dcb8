#!/usr/bin/env bash
# Kills a program with an outbox many times, and measures how fast entries become durable.
#
#   Tests/outbox.sh [KILLS, default 10000]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
install_missing

export ALL_TRAITS=1 # read by Package.swift
export TEST_TARGETS=RxOutboxTests
OUTBOX_KILLS=${1:-10000} swift test --filter RxOutboxTests.CrashTests

# In an optimized build, with the disk's own waits (PRAGMA synchronous = FULL).
swift build -c release --product outbox-probe
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=20000
"$(swift build -c release --show-bin-path)/outbox-probe" count "$folder/outbox" "$count" |
    awk -v count="$count" '{ printf "%d durable entries a second\n", count / $2 }'
